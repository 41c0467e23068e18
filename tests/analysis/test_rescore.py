"""Scoring a log again."""

from pathlib import Path

from graphwalk.analysis.rescore import rescore_run
from graphwalk.runs.folder import RunFolder
from tests.runs.runs import experiment, records, rewrite, start, without_time


async def test_rescoring_repairs_a_wrong_score_and_changes_nothing_else(tmp_path: Path) -> None:
    await start(tmp_path / "run", experiment(models=["scripted/expert"], limit=2))
    folder, before = RunFolder.open(tmp_path / "run"), records(tmp_path / "run")
    assert rescore_run(folder) == (0, 2)
    rewrite(folder.path, lambda log: log[0]["score"].update(correct=False))
    assert rescore_run(folder) == (1, 2)
    assert list(map(without_time, records(folder.path))) == list(map(without_time, before))
    assert {path.name for path in folder.path.glob("*results.jsonl*")} == {"results.jsonl", "old-results.jsonl"}
