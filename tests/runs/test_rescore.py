"""Scoring a log again."""

from pathlib import Path

from graphwalk.runs.rescore import rescore_run
from graphwalk.runs.run_folder import RunFolder
from tests.runs.runs import experiment, records, start, without_time


async def test_rescoring_changes_nothing_where_nothing_changed(tmp_path: Path) -> None:
    await start(tmp_path / "run", experiment())
    before = list(map(without_time, records(tmp_path / "run")))
    assert rescore_run(RunFolder.open(tmp_path / "run")) == (0, 36)
    assert list(map(without_time, records(tmp_path / "run"))) == before


async def test_rescoring_repairs_a_score(tmp_path: Path) -> None:
    await start(tmp_path / "run", experiment(models=["scripted/expert"], limit=2))
    folder = RunFolder.open(tmp_path / "run")
    wrong = [{**r, "score": {**r["score"], "correct": False}} for r in folder.records()]
    folder.results_file.unlink()
    writer = folder.results_writer()
    for record in wrong:
        writer.append({k: v for k, v in record.items() if k != "crc32"})
    writer.close()
    assert rescore_run(folder) == (2, 2)
    assert all(r["score"]["correct"] for r in folder.records())
