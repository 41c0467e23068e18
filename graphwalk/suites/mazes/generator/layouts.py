"""Ways of laying out the walls of a maze.

"random" draws the walls one by one, as the paper does. The others start from a classical maze and then open walls, or
close dead ends, until exactly as many walls are left as asked for: the spanning trees of `maze_trees`, whose places are
the cells with even row and even column and whose edges are the cells between, and "rooms", open rectangles joined by
corridors.
"""

from collections.abc import Callable, Iterator
from itertools import pairwise
from random import Random

from graphwalk.suites.mazes.generator.trees import TREES, Edges, Place, places_beside

Layout = Callable[[int, int, Random], list[int]]
"""(size, number of walls, random) → the cells that are walls."""

_ROOM_SHARE = 0.7
"""Of the open cells, in rooms; the others are corridors."""


def random_walls(size: int, walls: int, random: Random) -> list[int]:
    """Every set of walls is equally likely."""
    return random.sample(range(size * size), walls)


def neighbours(cell: int, size: int) -> list[int]:
    """Cells that share an edge with this one, in ascending order."""
    return [row * size + column for row, column in places_beside(divmod(cell, size), size)]


def _from_tree(tree: Callable[[int, Random], Edges]) -> Layout:
    def layout(size: int, walls: int, random: Random) -> list[int]:
        edges = list(tree((size + 1) // 2, random)) or [((0, 0), (0, 0))]
        opened = {(a + c) * size + b + d for (a, b), (c, d) in edges}
        opened |= {2 * row * size + 2 * column for edge in edges for row, column in edge}
        return _with_walls(opened, size, walls, random)

    return layout


def rooms(size: int, walls: int, random: Random) -> list[int]:
    """Open rectangles that do not touch, each joined to the next by a corridor with at most one bend."""
    opened: set[int] = set()
    taken: set[int] = set()
    centres: list[Place] = []
    for _ in range(size * size):
        if len(opened) >= _ROOM_SHARE * (size * size - walls):
            break
        room = _room(size, random)
        if taken.isdisjoint(room):
            opened.update(room)
            taken.update(cell for inner in room for cell in (inner, *neighbours(inner, size)))
            centres.append(divmod(room[len(room) // 2], size))
    for one, other in pairwise(centres):
        opened.update(_corridor(one, other, size))
    return _with_walls(opened, size, walls, random)


def _room(size: int, random: Random) -> list[int]:
    longest = max(2, size // 3)
    height, width = (min(size, random.randint(2, longest)) for _ in range(2))
    top, left = random.randint(0, size - height), random.randint(0, size - width)
    return [row * size + column for row in range(top, top + height) for column in range(left, left + width)]


def _corridor(one: Place, other: Place, size: int) -> Iterator[int]:
    """Along the row of the first place, then along the column of the second."""
    (row, column), (last_row, last_column) = one, other
    for c in range(min(column, last_column), max(column, last_column) + 1):
        yield row * size + c
    for r in range(min(row, last_row), max(row, last_row) + 1):
        yield r * size + last_column


def _with_walls(opened: set[int], size: int, walls: int, random: Random) -> list[int]:
    """Exactly so many walls: what is open stays connected, and grows or shrinks at its edges."""
    count = size * size - walls
    if len(opened) < count:
        _open_walls(opened, size, count, random)
    elif len(opened) > count:
        _close_dead_ends(opened, size, count, random)
    return [cell for cell in range(size * size) if cell not in opened]


def _open_walls(opened: set[int], size: int, count: int, random: Random) -> None:
    opened.update([random.randrange(size * size)] if not opened else [])
    border = sorted({wall for cell in opened for wall in neighbours(cell, size)} - opened)
    known = {*border, *opened}
    while len(opened) < count:
        number = random.randrange(len(border))
        border[number], border[-1] = border[-1], border[number]
        cell = border.pop()
        opened.add(cell)
        new = [wall for wall in neighbours(cell, size) if wall not in known]
        border += new
        known.update(new)


def _close_dead_ends(opened: set[int], size: int, count: int, random: Random) -> None:
    """Leaves of a spanning tree are closed one by one: in a maze without loops these are its dead ends."""
    parent = _search_tree(opened, size, random)
    children = dict.fromkeys(opened, 0)
    for above in parent.values():
        children[above] += 1
    leaves = [cell for cell in sorted(opened) if not children[cell]]
    while len(opened) > count:
        number = random.randrange(len(leaves))
        leaves[number], leaves[-1] = leaves[-1], leaves[number]
        leaf = leaves.pop()
        opened.remove(leaf)
        if (above := parent.get(leaf, leaf)) != leaf:
            children[above] -= 1
            if not children[above]:
                leaves.append(above)


def _search_tree(opened: set[int], size: int, random: Random) -> dict[int, int]:
    """Cell → the cell it was found from; the first one has none."""
    root = random.choice(sorted(opened))
    parent: dict[int, int] = {}
    stack = [root]
    while stack:
        cell = stack.pop()
        beside = [n for n in neighbours(cell, size) if n in opened and n not in parent and n != root]
        random.shuffle(beside)
        parent.update(dict.fromkeys(beside, cell))
        stack += beside
    return parent


LAYOUTS: dict[str, Layout] = {
    "random": random_walls,
    **{name: _from_tree(tree) for name, tree in TREES.items()},
    "rooms": rooms,
}
