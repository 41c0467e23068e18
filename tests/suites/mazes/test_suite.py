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
from tests.suites.mazes.stage import stage


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


async def test_explorer_answers_with_its_path_at_the_turn_limit() -> None:
    score, trajectory = await (await stage()).play("expert", agent=AgentConfig(turn_limit=4))
    assert trajectory.exit_status is ExitStatus.TURN_LIMIT
    assert score.error_class == "wrong_goal"
