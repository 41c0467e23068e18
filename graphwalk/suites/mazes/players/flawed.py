"""The simulated weak model: walkers with the mistakes that language models make in mazes.

What each does to the score is certain (on mazes whose goal is not next to the start): the SPOILING ones are never
right, each with an error class of its own, and the others are right in spite of errors or detours.
"""

import json
import random
from collections.abc import Callable

from graphwalk.models.policy import Ask, Policy
from graphwalk.suites.mazes.players.explorer import answer, depth_first, nearest_first, try_cell, visit
from graphwalk.suites.mazes.toolbox import NEXT_CELLS

Flaw = Callable[[str, str, random.Random], Policy]

_FEW_STEPS = 4


def flawed(start: str, goal: str, draw: random.Random) -> Policy:
    """One of the flaws, drawn at random."""
    return (yield from FLAWS[draw.choice(list(FLAWS))](start, goal, draw))


def jump(start: str, goal: str, draw: random.Random) -> Policy:
    """Visits start and goal, nothing between them, and answers just these: not_adjacent."""
    yield from visit(start)
    yield from visit(goal)
    return answer([start, goal])


def early_stop(start: str, goal: str, draw: random.Random) -> Policy:
    """Takes a few steps towards the goal and answers the way so far: wrong_goal."""
    way = [start]
    for _ in range(_FEW_STEPS):
        rows = yield from visit(way[-1])
        fresh = [row for row in rows if row["key"] not in (*way, goal)]
        if not fresh:
            break
        way.append(str(min(fresh, key=nearest_first)["key"]))
    return answer(way)


def other_start(start: str, goal: str, draw: random.Random) -> Policy:
    """Finds the path, and leaves out its first cell: wrong_start."""
    text = yield from _expert(start, goal)
    return answer(json.loads(text)["path"][1:])


def invented_cell(start: str, goal: str, draw: random.Random) -> Policy:
    """Puts a cell into the path that does not exist: out_of_grid."""
    text = yield from _expert(start, goal)
    first, *others = json.loads(text)["path"]
    return answer([first, f"x{draw.randint(1, 9)}", *others])


def through_wall(start: str, goal: str, draw: random.Random) -> Policy:
    """Tries the numbers around the start and answers a step to one that is refused: through_wall, or out_of_grid."""
    yield from visit(start)
    here, refused = int(start), "-1"
    for key in (str(here + offset) for offset in range(-here, here + 2)):
        if (yield from try_cell(key)) is None:
            refused = key
            break
    return answer([start, refused, goal])


def wall(start: str, goal: str, draw: random.Random) -> Policy:
    """Asks for the cells with the next lower numbers, walls or not, and then goes on as it should: right."""
    yield from visit(start)
    for offset in range(1, _FEW_STEPS + 1):
        if (key := str(abs(int(start) - offset))) != goal:
            yield from visit(key)
    return (yield from _expert(start, goal))


def bad_id(start: str, goal: str, draw: random.Random) -> Policy:
    """Names the start in ways that no key is written in, and then goes on as it should: right."""
    for node_id in (int(start), f"cell {start}", f"{start}.0", None):
        yield [Ask(NEXT_CELLS, {"node_id": node_id})]
    return (yield from _expert(start, goal))


def detour(start: str, goal: str, draw: random.Random) -> Policy:
    """Finds the path, and goes its first step back and forth: right, and longer than it need be."""
    text = yield from _expert(start, goal)
    path = json.loads(text)["path"]
    return answer([*path[:2], *path])


def prose(start: str, goal: str, draw: random.Random) -> Policy:
    """Wraps the answer in talk: right."""
    text = yield from _expert(start, goal)
    return f"I walked from {start} until I stood at {goal}. This is the way:\n\n{text}\n\nThank you for the maze!"


def empty(start: str, goal: str, draw: random.Random) -> Policy:
    """Explores, and says nothing: no_answer."""
    yield from _expert(start, goal)
    return ""


def _expert(start: str, goal: str) -> Policy:
    return depth_first(start, goal, nearest_first)


FLAWS: dict[str, Flaw] = {
    f.__name__: f
    for f in (jump, early_stop, other_start, invented_cell, through_wall, wall, bad_id, detour, prose, empty)
}
SPOILING = frozenset({"jump", "early_stop", "other_start", "invented_cell", "through_wall", "empty"})
