"""Scripted agents for mazes."""

import json
from collections.abc import Callable, Generator, Mapping, Sequence
from random import Random
from typing import Any

from graphwalk.models.scripted import AnswerNow, Ask, Policy
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


def nearest_first(row: Row) -> tuple[float, int]:
    """Sort by straight-line distance to the goal."""
    return row["euclidean_distance"], int(row["key"])


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
    return depth_first(start, goal, nearest_first)


def visit(key: str) -> Visit:
    """Return the adjacent open cells, or an empty list if the call was refused."""
    (text,) = yield [Ask(NEXT_CELLS, {"node_id": key})]
    return read_cells(text) or []


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


def read_cells(text: str) -> list[Row] | None:
    """Return the rows of a result in any encoding, or None for a message."""
    rows = read_rows(text)
    if rows is None or not all("key" in row for row in rows):
        return None
    return [{**row, "key": str(row["key"])} for row in rows]


MISTAKES = 0.1
"""Share of visits preceded by a malformed call."""
_SWAY = 1.5
"""Largest random addition to a distance, in cells."""


def varied(start: str, goal: str, draw: Random) -> Policy:
    """Explore like the expert in a slightly random order, with mistakes that are corrected at once."""

    def nearly_nearest(row: Row) -> float:
        return float(row["euclidean_distance"]) + draw.uniform(0, _SWAY)

    walk = depth_first(start, goal, nearly_nearest)
    asks = next(walk)
    while True:
        assert not isinstance(asks, str)  # explorers call tools until they answer
        (ask,) = asks
        if ask.tool == NEXT_CELLS and not isinstance(ask.arguments, str) and draw.random() < MISTAKES:
            yield [Ask(NEXT_CELLS, {"node_id": f"cell {ask.arguments['node_id']}"})]
        results = yield asks
        try:
            asks = walk.send(results)
        except StopIteration as end:
            answer: str = end.value
            return answer


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


_FEW_STEPS = 4


def flawed(start: str, goal: str, draw: Random) -> Policy:
    """Play a random one of the flaws."""
    return (yield from FLAWS[draw.choice(list(FLAWS))](start, goal, draw))


def jump(start: str, goal: str, draw: Random) -> Policy:
    """Visit only start and goal, and answer with them (not_adjacent)."""
    yield from visit(start)
    yield from visit(goal)
    return answer([start, goal])


def early_stop(start: str, goal: str, draw: Random) -> Policy:
    """Take a few steps towards the goal and answer with them (wrong_goal)."""
    way = [start]
    for _ in range(_FEW_STEPS):
        rows = yield from visit(way[-1])
        fresh = [row for row in rows if row["key"] not in (*way, goal)]
        if not fresh:
            break
        way.append(str(min(fresh, key=nearest_first)["key"]))
    return answer(way)


def through_wall(start: str, goal: str, draw: Random) -> Policy:
    """Call cells near the start and answer with a refused one (through_wall or out_of_grid)."""
    yield from visit(start)
    here, refused = int(start), "-1"
    for key in (str(here + offset) for offset in range(-here, here + 2)):
        (text,) = yield [Ask(NEXT_CELLS, {"node_id": key})]
        if read_cells(text) is None:
            refused = key
            break
    return answer([start, refused, goal])


def wall(start: str, goal: str, draw: Random) -> Policy:
    """Call cells with lower numbers, including walls, then continue correctly (correct)."""
    yield from visit(start)
    for offset in range(1, _FEW_STEPS + 1):
        if (key := str(abs(int(start) - offset))) != goal:
            yield from visit(key)
    return (yield from expert(start, goal, draw))


def bad_id(start: str, goal: str, draw: Random) -> Policy:
    """Call the start with malformed keys, then continue correctly (correct)."""
    for node_id in (int(start), f"cell {start}", f"{start}.0", None):
        yield [Ask(NEXT_CELLS, {"node_id": node_id})]
    return (yield from expert(start, goal, draw))


def prose(start: str, goal: str, draw: Random) -> Policy:
    """Wrap the answer in prose (correct)."""
    text = yield from expert(start, goal, draw)
    return f"I walked from {start} until I stood at {goal}. This is the way:\n\n{text}\n\nThank you for the maze!"


def empty(start: str, goal: str, draw: Random) -> Policy:
    """Explore and reply with an empty text (no_answer)."""
    yield from expert(start, goal, draw)
    return ""


def _altered(alter: Callable[[list[str], Random], list[str]]) -> MakePolicy:
    """Return an agent that finds the path like the expert, and answers with an altered one."""

    def policy(start: str, goal: str, draw: Random) -> Policy:
        text = yield from expert(start, goal, draw)
        return answer(alter(json.loads(text)["path"], draw))

    return policy


FLAWS: dict[str, MakePolicy] = {
    "jump": jump,
    "early_stop": early_stop,
    "other_start": _altered(lambda path, draw: path[1:]),  # wrong_start
    "invented_cell": _altered(lambda path, draw: [path[0], f"x{draw.randint(1, 9)}", *path[1:]]),  # out_of_grid
    "through_wall": through_wall,
    "wall": wall,
    "bad_id": bad_id,
    "detour": _altered(lambda path, draw: [*path[:2], *path]),  # correct, not optimal
    "prose": prose,
    "empty": empty,
}


def _player(make: MakePolicy, *, default: bool = True) -> Player[MazeTask]:
    """Return the player of an agent; without tools, agents see no maze."""

    def policy(task: MazeTask, setting: str, schema: Schema | None, random: Random) -> Policy:
        return make(str(task.start), str(task.goal), random)

    return Player(policy, default=default)


PLAYERS: Mapping[str, Player[MazeTask]] = {
    "expert": _player(expert),
    "depth_first": _player(lambda start, goal, draw: depth_first(start, goal, lambda row: int(row["key"]))),
    "varied": _player(varied, default=False),
    "random": _player(random_walk),
    "flawed": _player(flawed),
}
