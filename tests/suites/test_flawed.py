"""The simulated weak model: every flaw has the effect of its name, and the mixture is well below the expert."""

from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

import graphwalk
from graphwalk.models.trajectory import ExitStatus
from graphwalk.suites.flawed import ANSWER_FLAWS, WALK_FLAWS
from tests.suites.questions.episodes import Stage, stage

SPOILING = {"early_stop", "bad_json", "invented_items", "dropped_items", "empty"}
"""Flaws that make the answer wrong."""
TOOL_ERRORS = {
    "unknown_name": "unknown_name",
    "missing_argument": "bad_arguments",
    "malformed_arguments": "bad_json",
    "unknown_tool": "unknown_tool",
}
STAGES = {"prose": "embedded", "fenced": "fenced", "bad_json": None, "empty": None}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def here() -> Stage:
    return await stage(seed=2)


@pytest.mark.parametrize("flaw", [*WALK_FLAWS, *ANSWER_FLAWS])
async def test_every_flaw_does_what_it_says(here: Stage, flaw: str) -> None:
    for task in here.tasks[::3]:
        score, trajectory = await here.play_flaw(flaw, task)
        assert score.correct == (flaw not in SPOILING), (task.template, trajectory.reply)
        assert {result.error for result in trajectory.results if result.error} == (
            {TOOL_ERRORS[flaw]} if flaw in TOOL_ERRORS else set()
        )
        assert (score.repeated_calls > 0) == (flaw == "repeated_calls")
        if flaw in STAGES:
            assert score.extraction_stage == STAGES[flaw]
        assert trajectory.exit_status == (ExitStatus.NO_ANSWER if flaw == "empty" else ExitStatus.ANSWERED)


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
