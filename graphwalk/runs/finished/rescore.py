"""Score a run again with the current scorer; no model calls."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress

from graphwalk.config.scoring import Scoring
from graphwalk.errors import GraphwalkError, RunLogError
from graphwalk.files.json_lines import encode_line
from graphwalk.files.writing import write_whole
from graphwalk.runs.episodes.episode import judge, potentials_of
from graphwalk.runs.episodes.fingerprint import code_version
from graphwalk.runs.episodes.resolve import kept_experiment
from graphwalk.runs.folder.result import Result
from graphwalk.runs.folder.run_folder import RunFolder
from graphwalk.suites.loaded_graph import LoadedGraph
from graphwalk.suites.task import Task
from graphwalk.variables import read_variables

EXPLANATION = ("failure", "failure_detail", "ignored_condition")
"""Fields of a score that need the graph."""


def rescore_run(folder: RunFolder, done: Callable[[], object] = lambda: None) -> tuple[int, int]:
    """Score all results again and rewrite the log. Return the number of changed scores and of results.

    The old log is kept as `old-results.jsonl`. `done` is called after each result. Wrong answers
    are explained if their graph can be made again without a database; otherwise an earlier explanation of an unchanged
    score is kept. Raise RunLogError if the log is damaged or the new one cannot be written; the log is unchanged then.
    """
    changed = total = 0
    graphs: dict[str, LoadedGraph] = {}

    def lines() -> Iterator[bytes]:
        nonlocal changed, total
        for record in folder.records():
            result = Result.from_dict(record)
            task = suite.task_type.model_validate(result.task)
            reply, about = result.extractor_reply, graphs.get(task.graph_digest)
            answer, score = judge(task, result.key.setting, result.trajectory, reply, scoring, about)
            if about is None and score is not None:
                explained = score | {name: (result.score or {})[name] for name in EXPLANATION if name in score}
                score = explained if explained == result.score else score
            potentials = potentials_of(task, result.trajectory, scoring, score)
            scored = {**record, "answer": answer, "score": score, "potentials": potentials}
            changed += scored["score"] != record["score"]
            total += 1
            done()
            yield encode_line(scored)
        if total == 0:
            raise RunLogError(f"{folder.path} has no results yet", hint=folder.resume_command)

    with folder.lock():
        manifest = folder.read_manifest()
        suite, log = folder.suite, folder.results_path
        scoring = Scoring.model_validate(manifest["config"]["scoring"])
        if suite.task_type.with_cause is not Task.with_cause:
            with suppress(GraphwalkError):  # graphs that cannot be made without a database
                config = kept_experiment(folder, read_variables()).config
                for instance in suite.graphs(config.suite, config.seed):
                    graphs[instance.digest] = LoadedGraph(instance)
        if log.exists():
            shutil.copyfile(log, log.with_name(f"old-{log.name}"))
        write_whole(log, lines(), error=RunLogError)
        if manifest["fingerprint"] is not None:
            manifest["fingerprint"]["scorer"] = code_version()
            folder.write_manifest(manifest)
    return changed, total
