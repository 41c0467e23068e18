"""Suite of mazes, the paper's first experiment, and the scripted agents that walk them."""

import json
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import fields
from random import Random
from typing import Any

from graphwalk.config.agent import AgentConfig
from graphwalk.graphs.schema import Schema
from graphwalk.graphs.values import Row
from graphwalk.models.scripted import AnswerNow, Ask, Policy
from graphwalk.suites.flawed import flawed
from graphwalk.suites.loaded_graph import GraphInstance, LoadedGraph
from graphwalk.suites.mazes.generate import Maze, check_path, generate_maze, maze_graph
from graphwalk.suites.mazes.task import MazesConfig, MazeScore, MazeTask
from graphwalk.suites.mazes.toolbox import CONNECTED_PATH, MAZE_TOOLS, NEXT_CELLS
from graphwalk.suites.suite import Player, Suite, Tasks
from graphwalk.tools.encodings import read_rows


def depth_first(start: str, goal: str, order: Callable[[Row], Any]) -> Policy:
    """Explore depth-first to the goal, then answer with the path that the tool returns.

    `order` is the sort key that decides which adjacent cell to try first. If the goal is unreachable or the turns end,
    answer with the path to the current cell.
    """
    trail = [start]
    untried: dict[str, list[str]] = {}
    try:
        while trail and goal not in untried:
            here = trail[-1]
            if here not in untried:
                rows = yield from _visit(here)
                untried[here] = [str(row["key"]) for row in sorted(rows, key=order)]
            fresh = [key for key in untried[here] if key not in untried]
            untried[here] = fresh[1:]
            if here != goal:
                trail[-1:] = [here, fresh[0]] if fresh else []
        if goal in untried:
            return (yield from _connected_path(trail))
    except AnswerNow:
        pass
    return _answer([key for key in trail if key in untried])


def random_walk(task: MazeTask, setting: str, schema: Schema | None, random: Random) -> Policy:
    """Walk randomly to the goal or the end of the turns, and answer with the path without loops."""
    trail = [str(task.start)]
    try:
        while True:
            rows = yield from _visit(trail[-1])
            if trail[-1] == str(task.goal):
                return (yield from _connected_path(trail))
            if not rows:
                return _answer(trail)
            step = str(random.choice(rows)["key"])
            trail = trail[: trail.index(step) + 1] if step in trail else [*trail, step]
    except AnswerNow:
        return _answer(trail)


def _visit(key: str) -> Generator[list[Ask], list[str], list[Row]]:
    """Return the adjacent open cells, or an empty list if the call was refused."""
    (text,) = yield [Ask(NEXT_CELLS, {"node_id": key})]
    return [{**row, "key": str(row["key"])} for row in read_rows(text) or [] if "key" in row]


def _connected_path(trail: Sequence[str]) -> Policy:
    """Answer with the tool's path from the first to the last visited cell, or with the trail."""
    (text,) = yield [Ask(CONNECTED_PATH, {})]
    try:
        return _answer(json.loads(text) or trail)
    except ValueError:
        return _answer(trail)


def _answer(path: Sequence[str]) -> str:
    return json.dumps({"path": list(path)})


def expert(task: MazeTask, setting: str, schema: Schema | None, random: Random) -> Policy:
    """Explore depth-first, the cell nearest to the goal first."""
    return depth_first(str(task.start), str(task.goal), lambda row: (row["euclidean_distance"], int(row["key"])))


def lowest_first(task: MazeTask, setting: str, schema: Schema | None, random: Random) -> Policy:
    """Explore depth-first, the cell with the lowest number first."""
    return depth_first(str(task.start), str(task.goal), lambda row: int(row["key"]))


EXPERT = Player(expert, default=True)
PLAYERS: Mapping[str, Player[MazeTask]] = {
    "expert": EXPERT,
    "depth_first": Player(lowest_first, default=True),
    "random": Player(random_walk, default=True),
    "flawed": EXPERT.changed(flawed),
}


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
