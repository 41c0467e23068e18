"""Replays of earlier runs."""

from pathlib import Path
from typing import Any

import pytest

from graphwalk.errors import ConfigError
from graphwalk.runs.experiment import resolve
from tests.runs.runs import NOTHING_SET, experiment, records, start


async def test_replay_repeats_messages_and_scores(tmp_path: Path) -> None:
    await start(tmp_path / "first", experiment(models=["scripted/flawed"]))
    await start(tmp_path / "again", experiment(models=[f"replay/{tmp_path / 'first'}"]))

    assert scores(tmp_path / "first") == scores(tmp_path / "again")


async def test_a_replay_of_a_run_with_several_models_names_one(tmp_path: Path) -> None:
    run = tmp_path / "with: colon"
    await start(run, experiment(models=["scripted/flawed", "scripted/expert"], limit=3))
    await start(tmp_path / "again", experiment(models=[f"replay/{run}:scripted/flawed"], limit=3))
    assert scores(tmp_path / "again") == scores(run, "scripted/flawed") != scores(run, "scripted/expert")
    for wrong, message in ((f"replay/{run}", "names none of the 2"), (f"replay/{run}:gpt-4", "has no model gpt-4")):
        with pytest.raises(ConfigError, match=message) as caught:
            resolve(experiment(models=[wrong]), NOTHING_SET)
        assert f"replay/{run}:scripted/flawed" in caught.value.hint


def scores(folder: Path, model: str | None = None) -> dict[str, Any]:
    return {
        r["task_id"]: (r["score"], r["exit_status"], r["tool_calls"])
        for r in records(folder)
        if model in (None, r["model"])
    }
