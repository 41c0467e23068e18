"""Suite of mazes, the paper's first experiment."""

from collections.abc import Iterator
from dataclasses import fields

from graphwalk.config.agent import AgentConfig
from graphwalk.suites.loaded_graph import GraphInstance, LoadedGraph
from graphwalk.suites.mazes.config import MazesConfig
from graphwalk.suites.mazes.generate import Maze, check_path, generate_maze, maze_graph
from graphwalk.suites.mazes.players import PLAYERS
from graphwalk.suites.mazes.score import MazeScore
from graphwalk.suites.mazes.task import MazeTask
from graphwalk.suites.mazes.toolbox import MAZE_TOOLS
from graphwalk.suites.suite import Suite
from graphwalk.suites.task import Tasks


class MazesSuite(Suite[MazesConfig, MazeTask]):
    """Path finding in mazes that a model cannot see (docs/method.md, Mazes)."""

    name = "mazes"
    settings = ("tools", "no_tools")
    config_type = MazesConfig
    task_type = MazeTask
    score_type = MazeScore
    tools = MAZE_TOOLS
    turn_limit = 60
    players = PLAYERS

    def graphs(self, config: MazesConfig, seed: int) -> Iterator[GraphInstance]:
        for entry, spec in enumerate(config.mazes):
            for index in range(spec.count):
                maze = generate_maze(spec, seed, index)
                facts = {
                    "entry": entry,
                    "index": index,
                    "size": maze.size,
                    "wall_ratio": spec.walls,
                    "walls": len(maze.walls),
                    "min_path": spec.min_path,
                    "shortest_path_length": maze.shortest_path_length,
                }
                yield GraphInstance.of(maze_graph(maze), maze, facts)

    async def tasks(self, about: LoadedGraph, config: MazesConfig, seed: int, agent: AgentConfig) -> Tasks[MazeTask]:
        """Return one task. Raise OracleError if networkx contradicts the target."""
        instance = about.instance
        task = make_task(instance.source, instance.digest, config, entry=instance.facts["entry"], agent=agent)
        check_path(about.graph, str(task.start), str(task.goal), task.target)
        return Tasks([task])


def make_task(
    maze: Maze,
    graph_digest: str,
    config: MazesConfig = MazesConfig(),
    *,
    entry: int = 0,
    agent: AgentConfig = AgentConfig(),
) -> MazeTask:
    """Return the task of a maze."""
    path = maze.shortest_path()
    return MazeTask(
        task_id=f"{maze.digest[:12]}-maze-{entry}-{maze.index}",
        suite="mazes",
        template="maze",
        question=agent.render("maze_question.j2", start=maze.start, goal=maze.goal).strip(),
        parameters={"size": maze.size, "start": str(maze.start), "goal": str(maze.goal)},
        target=[str(cell) for cell in path],
        target_size=len(path),
        graph_digest=graph_digest,
        layout=config.layout,
        **{field.name: getattr(maze, field.name) for field in fields(maze)},
    )
