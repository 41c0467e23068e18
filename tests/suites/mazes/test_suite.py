"""Mazes as a suite: graphs, tasks, and the scripted walkers through the loop that models go through."""

from typing import Any

import pytest

from graphwalk.config.agent import AgentConfig
from graphwalk.errors import OracleError
from graphwalk.models.trajectory import ExitStatus
from graphwalk.runs.experiment import AnyExperiment, load_experiment
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.loaded_graph import GraphInstance, LoadedGraph
from graphwalk.suites.mazes.generate import Maze, check_path, maze_graph
from graphwalk.suites.mazes.suite import EXPERT, MazesSuite, MazeTask
from graphwalk.suites.reference import expert_walk
from tests.suites.mazes.stage import random_stage, stage


def config(*mazes: dict[str, Any], **more: Any) -> AnyExperiment:
    return load_experiment({"name": "t", "suite": {"name": "mazes", "mazes": mazes, **more}, "seed": 3})


async def tasks_of(experiment: AnyExperiment) -> list[MazeTask]:
    suite, database = MazesSuite(), EmbeddedDatabase()
    tasks = []
    for instance in suite.graphs(experiment.suite, experiment.seed):
        assert instance.graph is not None
        about = LoadedGraph(instance, await database.load(instance.graph))
        tasks += (await suite.tasks(about, experiment.suite, experiment.seed, experiment.agent)).asked
    return tasks


async def test_one_task_per_maze_with_the_calls_of_the_expert() -> None:
    experiment = config({"count": 3}, {"size": 8, "min_path": 9}, {"count": 1})
    tasks = await tasks_of(experiment)
    assert await tasks_of(experiment) == tasks
    assert len({task.task_id for task in tasks}) == 5
    assert [task.index for task in tasks] == [0, 1, 2, 0, 0]
    assert tasks[0].maze == tasks[4].maze
    for task in tasks:
        graph = maze_graph(task.maze)
        assert task.graph_digest == graph.digest
        about = LoadedGraph(GraphInstance.of(graph), await EmbeddedDatabase().load(graph))
        walk = await expert_walk(EXPERT, task, about)
        # every step of the way is a visit, then come the call for the path, and the answer
        assert walk.turns == walk.calls + 1 >= task.shortest_path_length + 3


@pytest.mark.parametrize("path", [["0", "1", "9"], ["0", "5"], ["0", "1", "0", "1", "2", "5", "8"]], ids=" ".join)
def test_networkx_refuses_a_wrong_target(path: list[str]) -> None:
    with pytest.raises(OracleError, match="networkx does not confirm"):
        check_path(maze_graph(Maze(3, (), 0, 8, 4)), "0", "8", path)


@pytest.mark.parametrize("walker", ["expert", "depth_first"])
async def test_explorers_are_always_right_within_the_turns_they_need(walker: str) -> None:
    for seed in range(2):
        here = await random_stage(seed)
        score, trajectory = await here.play(walker)
        assert score.correct
        calls = [result.call.arguments for result in trajectory.results]
        assert len({*calls}) == len(calls)
        assert {result.error for result in trajectory.results} == {None}
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
