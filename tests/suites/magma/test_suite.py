"""Scripted models through the real agent loop: the expert is right everywhere."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from graphwalk.models.trajectory import ExitStatus, Trajectory
from graphwalk.runs.experiment import AnyExperiment, load_experiment
from graphwalk.suites.loaded_graph import GraphInstance, LoadedGraph
from graphwalk.suites.magma.answers import MagmaScore
from graphwalk.suites.magma.prompts import STRATEGIES
from graphwalk.suites.magma.suite import MagmaSuite, MagmaTask
from graphwalk.training.stage import Stage
from tests.suites.players import played as played_by
from tests.suites.players import policy_of

ALL = ["bfs", "dfs", "dijkstra", "floyd_warshall", "mst_prim"]
SUITE = MagmaSuite()


def experiment(**suite: Any) -> AnyExperiment:
    traces = [{"algorithm": ALL, "nodes": [5, 7], "count": 2}]
    return load_experiment({"name": "t", "suite": {"name": "magma", "traces": traces, **suite}, "seed": 3})


def tasks(config: AnyExperiment) -> list[tuple[MagmaTask, GraphInstance]]:
    return [
        (task, instance)
        for instance in SUITE.graphs(config.suite, config.seed)
        for task in asyncio.run(SUITE.tasks(LoadedGraph(instance), config.suite, config.seed, config.agent)).asked
    ]


def played(agent: str, setting: str, config: AnyExperiment) -> Iterator[tuple[MagmaTask, Trajectory, MagmaScore]]:
    for task, instance in tasks(config):
        if SUITE.asks(task, setting, config.suite):
            policy = policy_of(SUITE, agent, task, setting, None, 1)
            score, trajectory = asyncio.run(played_by(policy, task, LoadedGraph(instance), setting))
            yield task, trajectory, score


@pytest.mark.parametrize("setting", STRATEGIES)
def test_the_expert_is_right_everywhere(setting: str) -> None:
    for _, trajectory, score in played("expert", setting, experiment(io_steps=True)):
        assert trajectory.exit_status is ExitStatus.ANSWERED
        assert (score.correct, score.f1, score.extraction_stage) == (True, 1, "strict")


def test_input_output_is_asked_for_every_state() -> None:
    """A prompt per step; the last one is what it is without `io_steps`."""
    final = {task.task_id: trajectory.prompt for task, trajectory, _ in played("expert", "io", experiment())}
    every = {
        task.task_id: (task, trajectory.prompt)
        for task, trajectory, _ in played("expert", "io", experiment(io_steps=True))
    }
    assert len(final) == 20
    assert len(every) == sum(task.total_steps for task, _ in every.values() if task.step == 1)
    assert all(every[task_id][1] == prompt for task_id, prompt in final.items())


def walking(**suite: object) -> dict[str, object]:
    return {
        "name": "walking",
        "suite": {"name": "magma", "traces": [{"algorithm": ALL, "nodes": 6, "count": 1}], **suite},
        "settings": ["tools"],
    }


async def test_the_tools_suffice_for_every_algorithm() -> None:
    stage = await Stage.open(walking(in_store=True))
    assert {planned.task.template for planned in stage.planned} == set(ALL)
    for number in range(len(stage)):
        earned = await stage.expert(number)
        assert (earned.exact, earned.f1) == (1, 1), stage.planned[number].task.task_id
    await stage.close()


async def test_no_edge_is_shown_but_by_a_tool() -> None:
    stage = await Stage.open(walking(in_store=True))
    for number, planned in enumerate(stage.planned):
        episode = await stage.begin(number)
        assert "\nEdges: [" in planned.task.question
        assert "\nEdges: [" not in (episode.prompt[1].content or "")
    await stage.close()
