"""The explorer with variety, for training data: not always the nearest cell first, and now and then a wrong call."""

import random

from graphwalk.models.policy import Ask, Policy
from graphwalk.suites.mazes.players.explorer import depth_first
from graphwalk.suites.mazes.toolbox import NEXT_CELLS
from graphwalk.types.values import Row

MISTAKES = 0.1
"""Share of the visits before which a cell is named in a form that is refused."""
_SWAY = 1.5
"""Cells: by so much the drawn order may differ from that of distances."""


def varied(start: str, goal: str, draw: random.Random) -> Policy:
    """Explores as the expert does, finds a path as surely, and corrects its mistakes at once."""

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
