"""Scoring a log again."""

from pathlib import Path

import pytest

from graphwalk.analysis.rescore import rescore_run
from graphwalk.errors import GraphwalkError
from graphwalk.runs.folder import RunFolder
from tests.files.test_writing import largest_file
from tests.runs.runs import experiment, records, rewrite, start, without_time


async def test_rescoring_repairs_a_wrong_score_and_changes_nothing_else(tmp_path: Path) -> None:
    await start(tmp_path / "run", experiment(models=["scripted/expert"], limit=2))
    folder, before = RunFolder.open(tmp_path / "run"), records(tmp_path / "run")
    assert rescore_run(folder) == (0, 2)
    rewrite(folder.path, lambda log: log[0]["score"].update(correct=False))
    assert rescore_run(folder) == (1, 2)
    assert list(map(without_time, records(folder.path))) == list(map(without_time, before))
    assert {path.name for path in folder.path.glob("*results.jsonl*")} == {"results.jsonl", "old-results.jsonl"}


async def test_a_full_disk_leaves_the_log_and_no_part_of_its_copy(tmp_path: Path) -> None:
    await start(tmp_path / "run", experiment(models=["scripted/expert"], limit=2))
    log = tmp_path / "run" / "results.jsonl"
    before, half = log.read_bytes(), log.stat().st_size // 2
    with largest_file(half), pytest.raises(GraphwalkError, match=r"old-results\.jsonl cannot be written") as raised:
        rescore_run(RunFolder.open(tmp_path / "run"))
    assert (raised.value.exit_code, "free some space" in raised.value.hint) == (3, True)
    assert {path.name for path in log.parent.glob("*results.jsonl*")} == {"results.jsonl"}
    assert log.read_bytes() == before
