"""Scoring a log again."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from graphwalk.analysis.rescore import rescore_run
from graphwalk.files.json_lines import LineWriter
from graphwalk.runs.folder import RunFolder
from tests.runs.runs import experiment, records, start, without_time


def rewritten(folder: RunFolder, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    changed = [change(record) for record in folder.records()]
    folder.results_path.unlink()
    writer = LineWriter(folder.results_path)
    for record in changed:
        writer.append({name: value for name, value in record.items() if name != "crc32"})
    writer.close()


async def test_rescoring_changes_nothing_where_nothing_changed(tmp_path: Path) -> None:
    await start(tmp_path / "run", experiment())
    before = list(map(without_time, records(tmp_path / "run")))
    assert rescore_run(RunFolder.open(tmp_path / "run")) == (0, 36)
    assert list(map(without_time, records(tmp_path / "run"))) == before


async def test_rescoring_repairs_a_score(tmp_path: Path) -> None:
    await start(tmp_path / "run", experiment(models=["scripted/expert"], limit=2))
    folder = RunFolder.open(tmp_path / "run")
    rewritten(
        folder, lambda record: {**record, "score": {**record["score"], "correct": False, "error_class": "misread"}}
    )
    assert rescore_run(folder) == (2, 2)
    assert all(r["score"]["correct"] for r in folder.records())
    assert {path.name for path in folder.path.glob("*results.jsonl*")} == {"results.jsonl", "old-results.jsonl"}
