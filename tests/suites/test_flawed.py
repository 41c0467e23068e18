"""The simulated weak model: every flaw has the effect of its name, and the mixture is well below the expert."""

import pytest
import pytest_asyncio

from graphwalk.suites.flawed import ANSWER_FLAWS, WALK_FLAWS
from graphwalk.types.episode import ExitStatus
from tests.suites.questions.episodes import Stage, stage

SPOILING = {"early_stop", "bad_json", "invented_rows", "dropped_rows", "empty"}
"""Flaws that make the answer wrong."""
TOOL_ERRORS = {
    "unknown_label": "unknown_name",
    "missing_argument": "bad_arguments",
    "malformed_arguments": "bad_json",
    "unknown_tool": "unknown_tool",
}
STAGES = {"prose": "embedded", "fenced": "fenced", "bad_json": None, "empty": None}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def here() -> Stage:
    return await stage(seed=2)


@pytest.mark.parametrize("flaw", [*WALK_FLAWS, *ANSWER_FLAWS])
async def test_every_flaw_does_what_it_says_on_every_question(here: Stage, flaw: str) -> None:
    for task in here.tasks:
        score, trajectory = await here.play_flaw(flaw, task)
        assert score.correct == (flaw not in SPOILING), (task.template, trajectory.reply)
        assert {result.error for result in trajectory.results if result.error} == (
            {TOOL_ERRORS[flaw]} if flaw in TOOL_ERRORS else set()
        )
        assert (score.repeated_calls > 0) == (flaw == "repeated_calls")
        if flaw in STAGES:
            assert score.extraction_stage == STAGES[flaw]
        assert trajectory.exit_status == (ExitStatus.NO_ANSWER if flaw == "empty" else ExitStatus.ANSWERED)


async def test_invented_rows_are_false_positives_and_dropped_rows_cost_recall(here: Stage) -> None:
    for task in here.tasks:
        invented, _ = await here.play_flaw("invented_rows", task)
        dropped, _ = await here.play_flaw("dropped_rows", task)
        assert invented.recall == 1.0
        assert 1 <= invented.false_positives <= 3
        assert dropped.false_positives == 0
        assert dropped.recall <= 0.5


async def test_the_mixture_is_well_below_the_expert_and_above_nothing(here: Stage) -> None:
    scores = [(await here.play("flawed", task, seed))[0].correct for task in here.tasks for seed in range(6)]
    assert 0.2 <= sum(scores) / len(scores) <= 0.6


async def test_the_same_seed_makes_the_same_mistakes(here: Stage) -> None:
    replies = [(await here.play("flawed", here.tasks[3], seed))[1].reply for seed in range(8)]
    assert replies == [(await here.play("flawed", here.tasks[3], seed))[1].reply for seed in range(8)]
    assert len(set(replies)) > 3
