"""Score a run again with the current scorer; no model calls."""

from collections.abc import Callable, Iterator

from graphwalk.errors import RunLogError
from graphwalk.experiments.config import Scoring
from graphwalk.files import write_whole
from graphwalk.jsonlines import compressed, encode_line
from graphwalk.runs.episode import judge
from graphwalk.runs.fingerprint import code_version
from graphwalk.runs.result import Result
from graphwalk.runs.run_folder import RunFolder


def rescore_run(folder: RunFolder, done: Callable[[], object] = lambda: None) -> tuple[int, int]:
    """Score all results again and rewrite the log. Return the number of changed scores and of results.

    The old log is kept as `old-results.jsonl` (`.gz` if compressed). `done` is called after each result. Raise
    RunLogError if the log is damaged or the new one cannot be written; the log is unchanged then.
    """
    changed = total = 0

    def lines() -> Iterator[bytes]:
        nonlocal changed, total
        for record in folder.records():
            result = Result.from_dict(record)
            task = suite.task_type.model_validate(result.task)
            answer, score = judge(suite, task, result.key.setting, result.trajectory, result.extractor_reply, scoring)
            scored = {**record, "answer": answer, "score": score}
            changed += scored["score"] != record["score"]
            total += 1
            done()
            yield encode_line(scored)
        if total == 0:
            raise RunLogError(f"{folder.path} has no results yet", hint=folder.resume_command)

    with folder.lock():
        manifest = folder.read_manifest()
        suite, log = folder.suite, folder.results_file
        scoring = Scoring.model_validate(manifest["config"].get("scoring", {}))
        written = lines() if log == folder.results_path else compressed(lines())
        write_whole(log, written, keep=log.with_name(f"old-{log.name}"), error=RunLogError)
        if manifest["fingerprint"] is not None:
            manifest["fingerprint"]["scorer"] = code_version()
            folder.write_manifest(manifest)
    return changed, total
