"""The scripted walkers, through the loop that models go through."""

from typing import Any

import pytest

from graphwalk.config.agent import AgentConfig
from graphwalk.suites.loaded_graph import LoadedGraph
from graphwalk.suites.mazes.suite import EXPERT
from graphwalk.suites.reference import expert_walk
from graphwalk.types.episode import ExitStatus
from tests.suites.mazes.stage import random_stage, stage


@pytest.mark.parametrize(
    "spec",
    [{}, {"size": 20, "walls": 0.4, "min_path": 40}],
    ids=str,
)
@pytest.mark.parametrize("walker", ["expert", "depth_first"])
async def test_explorers_are_always_right_within_the_turns_they_need(walker: str, spec: dict[str, Any]) -> None:
    for seed in range(2):
        here = await random_stage(seed, **spec)
        score, trajectory = await here.play(walker)
        assert score.correct
        calls = [(result.call.arguments, result.error) for result in trajectory.results]
        assert len({*calls}) == len(calls)
        assert {error for _, error in calls} == {None}
        if walker == "expert":
            played = await expert_walk(EXPERT, here.task, LoadedGraph(here.instance, here.store))
            assert (len(trajectory.turns), len(calls)) == (played.turns, played.calls)
            again, _ = await here.play(walker, agent=AgentConfig(turn_limit=played.turns))
            assert again.strict_correct


async def test_explorer_answers_with_its_path_at_the_turn_limit() -> None:
    score, trajectory = await (await stage()).play("expert", agent=AgentConfig(turn_limit=4))
    assert trajectory.exit_status is ExitStatus.TURN_LIMIT
    assert score.error_class == "wrong_goal"


async def test_the_random_walk_is_sometimes_lucky_and_never_leaves_the_open_cells() -> None:
    scores = [(await (await random_stage(s, size=4, walls=0.2, min_path=2)).play("random"))[0] for s in range(8)]
    assert any(score.correct for score in scores)
    assert {score.error_class for score in scores} <= {None, "wrong_goal"}
    assert all(score.false_positives == 0 for score in scores)
