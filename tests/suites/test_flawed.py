"""The simulated weak model: every flaw has the effect of its name, and about half of the answers are right."""

from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

import graphwalk
from graphwalk.models.trajectory import ExitStatus
from graphwalk.suites.flawed import FLAWS
from tests.suites.questions.episodes import Stage, stage


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def here() -> Stage:
    return await stage(seed=2)


@pytest.mark.parametrize("flaw", FLAWS)
async def test_every_flaw_does_what_it_says(here: Stage, flaw: str) -> None:
    for task in here.tasks[::3]:
        score, trajectory = await here.play_flaw(flaw, task)
        assert not score.correct, (task.template, trajectory.reply)
        assert not any(result.error for result in trajectory.results)
        assert trajectory.exit_status is ExitStatus.ANSWERED
        if flaw == "unreadable":
            assert score.extraction_stage is None
        if flaw == "missing":
            assert score.recall < 1
        if flaw == "wrong":
            assert score.false_positives > 0


@pytest.mark.parametrize(
    "experiment",
    [
        {"suite": {"name": "questions", "graphs": [{"nodes": 40}]}},
        {"suite": {"name": "mazes", "mazes": [{"size": 6, "min_path": 5, "count": 12}]}},
        {"suite": {"name": "graphwalks", "problems": [{"nodes": 12, "count": 8}]}},
        {"suite": {"name": "magma", "traces": [{"count": 12}], "in_store": True}, "settings": ["tools"]},
    ],
    ids=str,
)
async def test_the_mixture_is_between_the_expert_and_nothing_in_every_suite(
    experiment: dict[str, Any], tmp_path: Path
) -> None:
    run = await graphwalk.arun({"name": "t", "models": ["scripted/flawed"], **experiment}, out=tmp_path / "run")
    (row,) = run.report()["rows"]
    assert row["infrastructure_failures"] == 0
    assert 0 < row["correct"] < row["scored"] >= 12
