"""Mazes as a suite: graphs, tasks, episodes."""

from typing import Any

import pytest

from graphwalk.errors import OracleError
from graphwalk.runs.experiment import AnyExperiment, experiment_from
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.loaded_graph import GraphInstance, LoadedGraph
from graphwalk.suites.mazes.generate import Maze, check_path, maze_graph
from graphwalk.suites.mazes.suite import EXPERT, MazesSuite
from graphwalk.suites.mazes.task import MazeTask
from graphwalk.suites.reference import expert_walk


def config(*mazes: dict[str, Any], **more: Any) -> AnyExperiment:
    return experiment_from({"name": "t", "suite": {"name": "mazes", "mazes": mazes, **more}, "seed": 3}, "test")


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
    assert MazesSuite.players["expert"].settings == ("tools",)
    for task in tasks:
        graph = maze_graph(task.maze)
        assert task.graph_digest == graph.digest
        about = LoadedGraph(GraphInstance.of(graph), await EmbeddedDatabase().load(graph))
        walk = await expert_walk(EXPERT, task, about)
        assert walk.input_tokens > walk.output_tokens > walk.calls
        # every step of the way is a visit, then come the call for the path, and the answer
        assert walk.turns == walk.calls + 1 >= task.shortest_path_length + 3
        assert MazeTask.model_validate_json(task.model_dump_json()) == task


@pytest.mark.parametrize("path", [["0", "1", "9"], ["0", "5"], ["0", "1", "0", "1", "2", "5", "8"]], ids=" ".join)
def test_networkx_refuses_a_wrong_target(path: list[str]) -> None:
    with pytest.raises(OracleError, match="networkx does not confirm"):
        check_path(maze_graph(Maze(3, (), 0, 8, 4)), "0", "8", path)
