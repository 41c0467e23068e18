"""Mazes with their stores, and episodes in them through the agent's loop."""

import json
from dataclasses import dataclass
from typing import Any

from graphwalk.config.agent import AgentConfig
from graphwalk.models.chat import ToolCall
from graphwalk.models.trajectory import ToolResult, Trajectory
from graphwalk.stores.base import Database, GraphStore
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.loaded_graph import GraphInstance, LoadedGraph
from graphwalk.suites.mazes.generate import Maze, MazeSpec, generate_maze, maze_graph
from graphwalk.suites.mazes.suite import Layout, MazesConfig, MazeScore, MazesSuite, MazeTask
from graphwalk.suites.mazes.toolbox import NEXT_CELLS, MazeToolbox
from tests.suites.players import played, policy_of

#   0  1  2  3        S . . .
#   4  5  6  7        # # # .
#   8  9 10 11        G . # .
#  12 13 14 15        # . . .
SMALL = Maze(4, (4, 5, 6, 10, 12), 0, 8, 10)
"""One way, without a choice."""
WIDE = AgentConfig(turn_limit=400)


@dataclass
class Stage:
    """A maze in a store."""

    task: MazeTask
    instance: GraphInstance
    store: GraphStore

    def toolbox(self, **options: Any) -> MazeToolbox:
        return MazeToolbox(self.store, self.task.size, **options)

    async def play(
        self, name: str, seed: int = 0, agent: AgentConfig = WIDE, setting: str = "tools"
    ) -> tuple[MazeScore, Trajectory]:
        policy = policy_of(MazesSuite(), name, self.task, setting, None, seed)
        return await played(policy, self.task, LoadedGraph(self.instance, self.store), setting, agent)


async def stage(
    maze: Maze = SMALL,
    database: Database | None = None,
    layout: Layout = "standard",
    agent: AgentConfig = AgentConfig(),
) -> Stage:
    graph = maze_graph(maze)
    instance = GraphInstance(graph.digest, graph, maze, {"entry": 0})
    store = await (database or EmbeddedDatabase()).load(graph)
    (task,) = (await MazesSuite().tasks(LoadedGraph(instance, store), MazesConfig(layout=layout), 0, agent)).asked
    return Stage(task, instance, store)


async def random_stage(seed: int, database: Database | None = None, **spec: Any) -> Stage:
    return await stage(generate_maze(MazeSpec(**spec), seed), database)


async def ask(toolbox: MazeToolbox, node_id: Any, tool: str = NEXT_CELLS) -> ToolResult:
    return await toolbox.call(ToolCall("1", tool, json.dumps({"node_id": node_id})))


async def join(toolbox: MazeToolbox) -> ToolResult:
    return await toolbox.call(ToolCall("1", "get_connected_path", "{}"))
