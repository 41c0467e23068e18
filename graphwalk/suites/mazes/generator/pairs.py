"""A start and a goal, drawn uniformly among all ordered pairs of open cells that are far enough apart."""

from itertools import accumulate
from random import Random

from graphwalk.suites.mazes.generator.bits import Grid, nth_bit

_LARGEST_LISTED = 24
"""Grids up to this size have all pairs listed; in larger ones pairs are drawn until one is far enough apart."""
_DRAWS = 100
"""Pairs tried in one large grid before another is drawn."""


def draw_pair(grid: Grid, inside: int, min_path: int, random: Random) -> tuple[int, int] | None:
    """(start, goal) as cell numbers, at least `min_path` steps apart within `inside`; None where none was found.

    Both ways of drawing are uniform. That of large grids may miss the last few pairs of a grid that has hardly any.
    """
    draw = _draw_listed if grid.size <= _LARGEST_LISTED else _draw_tried
    return draw(grid, inside, min_path, random)


def _draw_listed(grid: Grid, inside: int, min_path: int, random: Random) -> tuple[int, int] | None:
    """Breadth-first search from all cells at once: lane i of one long integer holds what cell i reaches."""
    inside_each = grid.lane_starts * inside
    nearer = reached = 0
    for steps, reached in enumerate(grid.reached(grid.one_cell_each & inside_each, inside_each)):
        if steps == min_path - 1:
            nearer = reached
    if not nearer:
        return None
    far = reached ^ nearer
    if not far:
        return None
    start, bit = divmod(nth_bit(far, random.randrange(far.bit_count())), grid.lane)
    return start, grid.cell(bit)


def _draw_tried(grid: Grid, inside: int, min_path: int, random: Random) -> tuple[int, int] | None:
    """Both cells of a pair lie in one connected part, which is drawn by the number of its pairs."""
    parts = [part for part in grid.components(inside) if part.bit_count() > min_path and _reaches(grid, part, min_path)]
    if not parts:
        return None
    weights = list(accumulate(part.bit_count() ** 2 for part in parts))
    for _ in range(_DRAWS):
        part = random.choices(parts, cum_weights=weights)[0]
        start, goal = (nth_bit(part, random.randrange(part.bit_count())) for _ in range(2))
        if (grid.distance(1 << start, 1 << goal, part) or 0) >= min_path:
            return grid.cell(start), grid.cell(goal)
    return None


def _reaches(grid: Grid, part: int, min_path: int) -> bool:
    """False where no two cells can be `min_path` apart: none is further than twice what one of them reaches."""
    return 2 * (sum(1 for _ in grid.reached(part & -part, part)) - 1) >= min_path
