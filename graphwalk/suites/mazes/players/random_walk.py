"""A walk that goes to any cell next to it, and notices the goal only when it stands on it."""

import random

from graphwalk.models.policy import Policy
from graphwalk.models.scripted import AnswerNow
from graphwalk.suites.mazes.players.explorer import answer, connected_path, visit


def random_walk(start: str, goal: str, draw: random.Random) -> Policy:
    """Until it meets the goal or its turns are used up; then the answer is its way with all loops cut out."""
    way = [start]
    try:
        while True:
            rows = yield from visit(way[-1])
            if way[-1] == goal:
                path = yield from connected_path()
                return answer(path or way)
            if not rows:
                return answer(way)
            step = str(draw.choice(rows)["key"])
            way = way[: way.index(step) + 1] if step in way else [*way, step]
    except AnswerNow:
        return answer(way)
