"""Scoring a run again from its log, without calling anything."""

import os
from pathlib import Path
from typing import Any

from graphwalk.errors import RunLogError
from graphwalk.jsonlines import LineWriter
from graphwalk.runlog.result import Result
from graphwalk.runlog.run_folder import RunFolder
from graphwalk.runner.manifest import scorer_digest
from graphwalk.suites.registry import suite_named
from graphwalk.suites.suite import Extraction, Suite


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
        if manifest.get("fingerprint"):
            manifest["fingerprint"]["scorer"] = scorer_digest()
            folder.write_manifest(manifest)
    return changed, total


def _scored(suite: Suite[Any], result: Result) -> dict[str, Any]:
    """Answer and score of a result as today's scorer sees them."""
    if result.exit_status.infrastructure:
        return {"answer": None, "score": None}
    task: Any = suite.task_type.model_validate(result.task)
    extraction = suite.extract(task, result.trajectory.reply)
    if extraction.answer is None and result.extractor_reply is not None:
        read = suite.extract(task, result.extractor_reply)
        extraction = Extraction(read.answer, "model") if read.answer is not None else Extraction()
    score = suite.score(task, result.key.setting, result.trajectory, extraction)
    return {"answer": extraction.answer, "score": score.model_dump(mode="json")}


def _replace(current: Path, new: Path) -> None:
    """Put the new log in place; at every moment there is a whole one under the old name."""
    kept = current.with_name(current.name + ".old")
    kept.unlink(missing_ok=True)
    os.link(current, kept)
    new.replace(current)
