"""Scoring a run again from its log, without calling anything."""

from collections.abc import Callable, Iterator
from typing import Any

from graphwalk.errors import RunLogError
from graphwalk.files import write_whole
from graphwalk.jsonlines import compressed, encode_line
from graphwalk.runs.episode import judge
from graphwalk.runs.fingerprint import code_version
from graphwalk.runs.result import Result
from graphwalk.runs.run_folder import RunFolder
from graphwalk.suites.registry import suite_named
from graphwalk.suites.suite import Suite


def rescore_run(folder: RunFolder, told: Callable[[], object] = lambda: None) -> tuple[int, int]:
    """(scores that changed, results): every result is read, scored with the current scorer and written again.

    The old log is kept beside the new one, as `old-results.jsonl` (`.gz` where it was compressed): `results.jsonl*` is
    the new one alone. RunLogError where the log is damaged or the new one cannot be written; nothing is lost then.
    `told` is called after each result.
    """
    changed = total = 0

    def lines() -> Iterator[bytes]:
        nonlocal changed, total
        for record in folder.records():
            scored = {**record, **_scored(suite, Result.from_dict(record))}
            changed += scored["score"] != record["score"]
            total += 1
            told()
            yield encode_line(scored)
        if total == 0:
            raise RunLogError(f"{folder.path} holds no results yet", hint=folder.resume_command)

    with folder.lock():
        manifest = folder.read_manifest()
        suite = suite_named(manifest["config"]["suite"]["name"])
        log = folder.results_file
        written = lines() if log == folder.results_path else compressed(lines())
        write_whole(log, written, keep=log.with_name(f"old-{log.name}"), error=RunLogError)
        if manifest["fingerprint"] is not None:
            manifest["fingerprint"]["scorer"] = code_version()
            folder.write_manifest(manifest)
    return changed, total


def _scored(suite: Suite[Any, Any], result: Result) -> dict[str, Any]:
    """Answer and score of a result by the current scorer."""
    task = suite.task_type.model_validate(result.task)
    answer, score = judge(suite, task, result.key.setting, result.trajectory, result.extractor_reply)
    return {"answer": answer, "score": score}
