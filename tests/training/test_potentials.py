"""Potentials of states and rewards of steps, on episodes of scripted agents of every suite."""

import asyncio
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from graphwalk.agent.loop import Episode, run_episode
from graphwalk.runs.play import RunModels
from graphwalk.suites.task import Task
from graphwalk.training.reward import potentials, step_rewards
from graphwalk.training.stage import Stage
from graphwalk.types.episode import Trajectory

GRAPH = {"nodes": 20, "labels": 3, "relationship_types": 2, "properties": 2, "mean_degree": 2}
SUITES: dict[str, dict[str, Any]] = {
    "questions": {"suite": {"name": "questions", "graphs": [GRAPH]}, "settings": ["tools"]},
    "mazes": {"suite": {"name": "mazes", "mazes": [{"size": 6, "min_path": 5, "count": 4}]}, "settings": ["tools"]},
    "graphwalks": {
        "suite": {
            "name": "graphwalks",
            "problems": [{"nodes": 30, "depth": 3, "count": 2}, {"nodes": 30, "operations": ["parents"], "count": 2}],
        },
        "settings": ["tools"],
    },
}
Played = list[tuple[Task, Trajectory]]


def play(suite: str, model: str) -> Played:
    """Play all tasks of a suite with a scripted agent."""

    async def played() -> Played:
        stage = await Stage.open({"name": "steps", **SUITES[suite]}, models=[model])
        episodes = []
        async with RunModels(stage.experiment) as players:
            for planned in stage.planned:
                async with players.for_episode(planned) as (player, _):
                    start = await planned.prompt(stage.experiment)
                    agent = stage.experiment.agent
                    episodes.append(
                        (planned.task, await run_episode(Episode(start, player, agent, stage.experiment.options)))
                    )
        await stage.close()
        return episodes

    return asyncio.run(played())


@pytest.fixture(scope="module", params=SUITES)
def expert(request: pytest.FixtureRequest) -> Played:
    return play(request.param, "scripted/expert")


def test_the_expert_begins_at_zero_never_steps_back_and_ends_at_one(expert: Played) -> None:
    assert len(expert) >= 4
    for task, trajectory in expert:
        values = potentials(task, trajectory)
        assert values is not None, task.template
        assert len(values) == len(trajectory.turns) + 1
        assert values[0] == 0, task.template
        assert all(after >= before for before, after in pairwise(values)), (task.template, values)
        assert values[-1] == pytest.approx(1), (task.template, values)
        assert sum(step_rewards(values)) == pytest.approx(1)


def test_a_loop_of_two_calls_earns_nothing(expert: Played) -> None:
    for task, trajectory in expert:
        if not trajectory.results:
            continue
        loop = replace(trajectory, turns=trajectory.turns[:-1] * 3)
        values = potentials(task, loop)
        assert values is not None
        once = len(trajectory.turns) - 1
        assert sum(step_rewards(values)[once:]) == pytest.approx(0)
