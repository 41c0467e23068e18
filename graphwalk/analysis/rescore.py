"""Score a run again with the current scorer; no model calls."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from graphwalk.config.agent import Scoring
from graphwalk.errors import RunLogError
from graphwalk.files.json_lines import encode_line
from graphwalk.files.writing import write_whole
from graphwalk.runs.folder import RunFolder
from graphwalk.runs.manifest import code_version
from graphwalk.runs.record import Result, judge

_BLOCK = 1 << 20
"""Bytes that are copied at once."""


def rescore_run(folder: RunFolder, done: Callable[[], object] = lambda: None) -> tuple[int, int]:
    """Score all results again and rewrite the log. Return the number of changed scores and of results.

    The old log is kept as `old-results.jsonl`. `done` is called after each result. Raise RunLogError if the log is
    damaged or the new one cannot be written; the log is unchanged then.
    """
    changed = total = 0

    def lines() -> Iterator[bytes]:
        nonlocal changed, total
        for record in folder.records():
            result = Result.from_dict(record)
            task = suite.task_type.model_validate(result.task)
            answer, score = judge(task, result.trajectory, result.extractor_reply, scoring)
            scored = {**record, "answer": answer, "score": score}
            changed += scored["score"] != record["score"]
            total += 1
            done()
            yield encode_line(scored)
        if total == 0:
            raise RunLogError(f"{folder.path} has no results yet", hint=folder.resume_command)
        folder.check_lock()

    with folder.lock():
        manifest = folder.read_manifest()
        suite, log = folder.suite, folder.results_path
        scoring = Scoring.model_validate(manifest["config"]["scoring"])
        if log.exists():
            write_whole(log.with_name(f"old-{log.name}"), _blocks(log), error=RunLogError)
        write_whole(log, lines(), error=RunLogError)
        manifest["fingerprint"]["scorer"] = code_version()
        folder.write_manifest(manifest)
    return changed, total


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        yield from iter(partial(file.read, _BLOCK), b"")
