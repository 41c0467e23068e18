"""Scripted agents for mazes."""

import json
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from graphwalk.models.scripted import AnswerNow, Ask, Policy
from graphwalk.suites.flawed import flawed, player_with, varied
from graphwalk.suites.mazes.task import MazeTask
from graphwalk.suites.mazes.toolbox import CONNECTED_PATH, NEXT_CELLS
from graphwalk.suites.suite import Player
from graphwalk.types.encodings import read_rows
from graphwalk.types.schema import Schema
from graphwalk.types.values import Row

Order = Callable[[Row], Any]
"""Sort key that decides which adjacent cell to try first."""
MakePolicy = Callable[[str, str, Random], Policy]
"""(key of the start, key of the goal, random) → a scripted agent for one episode."""
Visit = Generator[list[Ask], list[str], list[Row]]


def depth_first(start: str, goal: str, order: Order) -> Policy:
    """Explore depth-first to the goal, then answer with the path that the tool returns.

    If the goal is unreachable or the turns end, answer with the path to the current cell.
    """
    trail = [start]
    untried: dict[str, list[str]] = {}
    try:
        while trail and goal not in untried:
            here = trail[-1]
            if here not in untried:
                rows = yield from visit(here)
                untried[here] = [str(row["key"]) for row in sorted(rows, key=order)]
            fresh = [key for key in untried[here] if key not in untried]
            untried[here] = fresh[1:]
            if here != goal:
                trail[-1:] = [here, fresh[0]] if fresh else []
        if goal in untried:
            path = yield from connected_path()
            return answer(path or trail)
    except AnswerNow:
        pass
    return answer([key for key in trail if key in untried])


def expert(start: str, goal: str, draw: Random) -> Policy:
    """Explore depth-first, the cell nearest to the goal first."""
    return depth_first(start, goal, lambda row: (row["euclidean_distance"], int(row["key"])))


def visit(key: str) -> Visit:
    """Return the adjacent open cells, or an empty list if the call was refused."""
    (text,) = yield [Ask(NEXT_CELLS, {"node_id": key})]
    return [{**row, "key": str(row["key"])} for row in read_rows(text) or [] if "key" in row]


def connected_path() -> Generator[list[Ask], list[str], list[str] | None]:
    """Return the tool's path from the first to the last visited cell, or None."""
    (text,) = yield [Ask(CONNECTED_PATH, {})]
    try:
        path: list[str] = json.loads(text)
    except ValueError:
        return None
    return path


def answer(path: Sequence[str]) -> str:
    return json.dumps({"path": list(path)})


_SWAY = 1.5
"""Largest random addition to a distance, in cells."""


def nearly_nearest(start: str, goal: str, draw: Random) -> Policy:
    """Explore like the expert in a slightly random order."""
    return depth_first(start, goal, lambda row: float(row["euclidean_distance"]) + draw.uniform(0, _SWAY))


def random_walk(start: str, goal: str, draw: Random) -> Policy:
    """Walk randomly to the goal or the end of the turns, and answer with the path without loops."""
    trail = [start]
    try:
        while True:
            rows = yield from visit(trail[-1])
            if trail[-1] == goal:
                path = yield from connected_path()
                return answer(path or trail)
            if not rows:
                return answer(trail)
            step = str(draw.choice(rows)["key"])
            trail = trail[: trail.index(step) + 1] if step in trail else [*trail, step]
    except AnswerNow:
        return answer(trail)


def _player(make: MakePolicy) -> Player[MazeTask]:
    """Return the player of an agent; without tools, agents see no maze."""

    def policy(task: MazeTask, setting: str, schema: Schema | None, random: Random) -> Policy:
        return make(str(task.start), str(task.goal), random)

    return Player(policy, default=True)


PLAYERS: Mapping[str, Player[MazeTask]] = {
    "expert": _player(expert),
    "depth_first": _player(lambda start, goal, draw: depth_first(start, goal, lambda row: int(row["key"]))),
    "varied": replace(player_with(_player(nearly_nearest), varied), default=False),
    "random": _player(random_walk),
    "flawed": player_with(_player(expert), flawed),
}
