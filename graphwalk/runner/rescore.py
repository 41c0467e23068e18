"""Scoring a run again from its log, without calling anything."""

import os
from pathlib import Path
from typing import Any

from graphwalk.errors import RunLogError
from graphwalk.jsonlines import LineWriter
from graphwalk.runlog.result import Result
from graphwalk.runlog.run_folder import RunFolder
from graphwalk.runner.episode import judge
from graphwalk.runner.fingerprint import FORMAT, scorer_digests
from graphwalk.suites.registry import suite_named
from graphwalk.suites.suite import Suite


def rescore_run(folder: RunFolder) -> tuple[int, int]:
    """(scores that changed, results): every result is read, scored with today's scorer and written anew.

    The old log is kept as `results.jsonl.old`. RunLogError where the log is damaged; nothing is lost then.
    """
    with folder.lock():
        manifest = folder.read_manifest()
        suite = suite_named(manifest["config"]["suite"]["name"])
        scratch = folder.path / "results.jsonl.new"
        scratch.unlink(missing_ok=True)
        writer, changed, total = LineWriter(scratch), 0, 0
        try:
            for record in folder.records():
                scored = {**record, **_scored(suite, Result.from_dict(record))}
                changed += scored["score"] != record["score"]
                total += 1
                writer.append(scored)
        finally:
            writer.close()
        if total == 0:
            scratch.unlink()
            raise RunLogError(f"{folder.path} holds no results yet", hint=folder.resume_command)
        _replace(folder.results_path, scratch)
        fingerprint = manifest.get("fingerprint")
        if fingerprint and fingerprint.get("format") == FORMAT:
            fingerprint["scorer"] = scorer_digests(suite)
            folder.write_manifest(manifest)
    return changed, total


def _scored(suite: Suite[Any, Any], result: Result) -> dict[str, Any]:
    """Answer and score of a result as today's scorer sees them."""
    task = suite.task_type.model_validate(result.task)
    answer, score = judge(suite, task, result.key.setting, result.trajectory, result.extractor_reply)
    return {"answer": answer, "score": score}


def _replace(current: Path, new: Path) -> None:
    """Put the new log in place; at every moment there is a whole one under the old name."""
    kept = current.with_name(current.name + ".old")
    kept.unlink(missing_ok=True)
    os.link(current, kept)
    new.replace(current)
