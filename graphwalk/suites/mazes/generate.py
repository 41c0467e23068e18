"""Maze generation: layouts, walls, and pairs of start and goal."""

import hashlib
import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from itertools import accumulate, pairwise
from random import Random
from typing import Any

from graphwalk.errors import ConfigError
from graphwalk.seeds import stdlib_random
from graphwalk.suites.mazes.config import MazeSpec

_SMALL = 50
"""Cells per side; larger grids do not store an integer per cell."""


class Grid:
    """A square grid whose sets of cells are integers with one bit per cell. Get it from `grid_of`."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.width = size + 1
        self.full = self.together(range(size * size))

    @cached_property
    def bits(self) -> tuple[int, ...]:
        """Return the integer of each cell; 4 GB for a grid of 500 × 500."""
        return tuple(map(self.bit, range(self.size**2)))

    def bit(self, cell: int) -> int:
        """Return the integer of one cell."""
        return 1 << self._position(cell)

    def together(self, cells: Iterable[int]) -> int:
        """Return the integer of several cells."""
        packed = bytearray((self.width * self.size + 7) // 8)
        for cell in cells:
            position = self._position(cell)
            packed[position // 8] |= 1 << (position % 8)
        return int.from_bytes(packed, "little")

    def _position(self, cell: int) -> int:
        row, column = divmod(cell, self.size)
        return row * self.width + column

    @cached_property
    def lane(self) -> int:
        """Return the number of bits of one grid, including unused ones."""
        return self.width * self.width

    @cached_property
    def lane_starts(self) -> int:
        """Return an integer with the lowest bit of each of size² concatenated grids."""
        return ((1 << (len(self.bits) * self.lane)) - 1) // ((1 << self.lane) - 1)

    @cached_property
    def one_cell_each(self) -> int:
        """Return size² concatenated grids; grid i contains cell i."""
        packed = bytearray((len(self.bits) * self.lane + 7) // 8)
        for number, bit in enumerate(self.bits):
            position = number * self.lane + bit.bit_length() - 1
            packed[position // 8] |= 1 << (position % 8)
        return int.from_bytes(packed, "little")

    def without(self, walls: Sequence[int]) -> int:
        """Return all cells except the walls."""
        if self.size > _SMALL:
            return self.full ^ self.together(walls)
        bits = self.bits
        return self.full ^ sum([bits[wall] for wall in walls])

    def cell(self, bit: int) -> int:
        """Return the number of the cell at a bit position."""
        row, column = divmod(bit, self.width)
        return row * self.size + column

    def reached(self, start: int, inside: int) -> Iterator[int]:
        """Yield the cells within 0, 1, 2, … steps of `start` until the set stops growing."""
        width, seen, grown = self.width, -1, start
        while grown != seen:
            yield grown
            seen = grown
            grown = (seen | seen << 1 | seen >> 1 | seen << width | seen >> width) & inside

    def distance(self, start: int, goal: int, inside: int) -> int | None:
        """Return the steps of a shortest path between two sets of cells, or None."""
        return next((steps for steps, cells in enumerate(self.reached(start, inside)) if cells & goal), None)

    def components(self, inside: int) -> Iterator[int]:
        """Yield the connected components of a set of cells, ordered by their lowest cell."""
        while inside:
            part = inside & -inside
            for part in self.reached(part, inside):  # noqa: B007, B020 - the last one is meant
                pass
            yield part
            inside ^= part


@lru_cache(maxsize=16)
def grid_of(size: int) -> Grid:
    """Return the cached grid of size × size cells."""
    return Grid(size)


def nth_bit(bits: int, n: int) -> int:
    """Return the position of set bit number n (from 0, lowest first)."""
    position, width = 0, bits.bit_length()
    while width > 1:
        half = width // 2
        lower = bits & ((1 << half) - 1)
        count = lower.bit_count()
        if n < count:
            bits, width = lower, half
        else:
            bits, n, position, width = bits >> half, n - count, position + half, width - half
    return position


Place = tuple[int, int]
"""Row and column in the lattice."""
Edges = Iterable[tuple[Place, Place]]

_SIDES = ((-1, 0), (0, -1), (0, 1), (1, 0))


def places_beside(place: Place, side: int) -> list[Place]:
    """Return the places that share an edge with this one."""
    row, column = place
    return [(row + r, column + c) for r, c in _SIDES if 0 <= row + r < side and 0 <= column + c < side]


def depth_first_tree(side: int, random: Random) -> Edges:
    """Return the edges of a depth-first search that visits neighbours in random order."""
    import networkx as nx

    def shuffled(places: Iterable[Place]) -> list[Place]:
        listed = list(places)
        random.shuffle(listed)
        return listed

    start = (random.randrange(side), random.randrange(side))
    edges: Edges = nx.dfs_edges(nx.grid_2d_graph(side, side), start, sort_neighbors=shuffled)
    return edges


def kruskal_tree(side: int, random: Random) -> Edges:
    """Return the edges of a minimum spanning tree for random weights."""
    import networkx as nx

    lattice = nx.grid_2d_graph(side, side)
    for _, _, attributes in lattice.edges(data=True):
        attributes["weight"] = random.random()
    edges: Edges = nx.minimum_spanning_edges(lattice, algorithm="kruskal", data=False)
    return edges


def prim_tree(side: int, random: Random) -> Edges:
    """Yield the edges of a tree that grows by a random one of its outgoing edges.

    networkx's Prim on random weights would draw the same trees as Kruskal.
    """
    start = (random.randrange(side), random.randrange(side))
    inside, border = {start}, [(start, place) for place in places_beside(start, side)]
    while border:
        number = random.randrange(len(border))
        border[number], border[-1] = border[-1], border[number]
        source, target = border.pop()
        if target not in inside:
            inside.add(target)
            border += [(target, place) for place in places_beside(target, side)]
            yield source, target


def wilson_tree(side: int, random: Random) -> Edges:
    """Yield the edges of a uniform spanning tree made of loop-erased random walks (Wilson 1996).

    networkx draws uniform trees with determinants, which takes hours for a large maze.
    """
    places = [(row, column) for row in range(side) for column in range(side)]
    random.shuffle(places)
    inside = {places.pop()}
    for first in places:
        left_by: dict[Place, Place] = {}
        place = first
        while place not in inside:
            left_by[place] = place = random.choice(places_beside(place, side))
        place = first
        while place not in inside:
            inside.add(place)
            yield place, left_by[place]
            place = left_by[place]


TREES: dict[str, Callable[[int, Random], Edges]] = {
    "depth_first": depth_first_tree,
    "kruskal": kruskal_tree,
    "prim": prim_tree,
    "wilson": wilson_tree,
}
"""Generator name → function of (side of the lattice, random) that returns the edges of a tree."""


Layout = Callable[[int, int, Random], list[int]]
"""(size, number of walls, random) → the cells that are walls."""

_ROOM_SHARE = 0.7
"""Share of open cells in rooms; the rest are corridors."""


def random_walls(size: int, walls: int, random: Random) -> list[int]:
    """Return uniformly random walls."""
    return random.sample(range(size * size), walls)


def neighbours(cell: int, size: int) -> list[int]:
    """Return the cells that share an edge with this one in ascending order."""
    return [row * size + column for row, column in places_beside(divmod(cell, size), size)]


def _from_tree(tree: Callable[[int, Random], Edges]) -> Layout:
    def layout(size: int, walls: int, random: Random) -> list[int]:
        edges = list(tree((size + 1) // 2, random)) or [((0, 0), (0, 0))]
        opened = {(a + c) * size + b + d for (a, b), (c, d) in edges}
        opened |= {2 * row * size + 2 * column for edge in edges for row, column in edge}
        return _with_walls(opened, size, walls, random)

    return layout


def rooms(size: int, walls: int, random: Random) -> list[int]:
    """Return walls around separate rectangles joined by corridors with at most one bend."""
    opened: set[int] = set()
    taken: set[int] = set()
    centres: list[Place] = []
    for _ in range(size * size):
        if len(opened) >= _ROOM_SHARE * (size * size - walls):
            break
        longest = max(2, size // 3)
        height, width = (min(size, random.randint(2, longest)) for _ in range(2))
        top, left = random.randint(0, size - height), random.randint(0, size - width)
        room = [row * size + column for row in range(top, top + height) for column in range(left, left + width)]
        if taken.isdisjoint(room):
            opened.update(room)
            taken.update(cell for inner in room for cell in (inner, *neighbours(inner, size)))
            centres.append(divmod(room[len(room) // 2], size))
    for one, other in pairwise(centres):
        opened.update(_corridor(one, other, size))
    return _with_walls(opened, size, walls, random)


def _corridor(one: Place, other: Place, size: int) -> Iterator[int]:
    """Yield cells along the row of the first place, then along the column of the second."""
    (row, column), (last_row, last_column) = one, other
    for c in range(min(column, last_column), max(column, last_column) + 1):
        yield row * size + c
    for r in range(min(row, last_row), max(row, last_row) + 1):
        yield r * size + last_column


def _with_walls(opened: set[int], size: int, walls: int, random: Random) -> list[int]:
    """Return exactly `walls` walls: open or close cells at the edges of a connected set of open cells."""
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
    """Close random leaves of a spanning tree; in a maze without loops these are its dead ends."""
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
    """Return the parent of each cell except the root."""
    root = random.choice(sorted(opened))
    parent: dict[int, int] = {}
    stack = [root]
    while stack:
        cell = stack.pop()
        children = [n for n in neighbours(cell, size) if n in opened and n not in parent and n != root]
        random.shuffle(children)
        parent.update(dict.fromkeys(children, cell))
        stack += children
    return parent


LAYOUTS: dict[str, Layout] = {
    "random": random_walls,
    **{name: _from_tree(tree) for name, tree in TREES.items()},
    "rooms": rooms,
}


_LARGEST_LISTED = 24
"""Up to this size all pairs are listed; in larger grids pairs are drawn until one is far enough apart."""
_DRAWS = 100
"""Pairs tried per large grid."""


def draw_pair(grid: Grid, inside: int, min_path: int, random: Random) -> tuple[int, int] | None:
    """Return a uniformly random (start, goal) at least `min_path` steps apart within `inside`, or None.

    In large grids with very few such pairs, None may be returned although one exists.
    """
    draw = _draw_listed if grid.size <= _LARGEST_LISTED else _draw_tried
    return draw(grid, inside, min_path, random)


def _draw_listed(grid: Grid, inside: int, min_path: int, random: Random) -> tuple[int, int] | None:
    """Run breadth-first search from all cells at once: lane i of a long integer contains the cells reached from i."""
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
    """Draw a component by its number of pairs, then two of its cells, until they are far enough apart."""
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
    """Return False if twice the eccentricity of one cell is below `min_path`: no pair can be so far apart."""
    return 2 * (sum(1 for _ in grid.reached(part & -part, part)) - 1) >= min_path


_CELLS_DRAWN = 1_000_000
"""Total cells of the grids tried in a search, which tries at least `_FEWEST_GRIDS` grids."""
_FEWEST_GRIDS = 25


@dataclass(frozen=True)
class Maze:
    """A grid maze. Cells are numbered row by row from 0 at the top left; `walls` are in ascending order.

    `shortest_path_length` is in steps. `seed`, `index` and `generator` reproduce the maze.
    """

    size: int
    walls: tuple[int, ...]
    start: int
    goal: int
    shortest_path_length: int
    seed: int = 0
    index: int = 0
    generator: str = "random"

    @cached_property
    def wall_set(self) -> frozenset[int]:
        return frozenset(self.walls)

    def is_open(self, cell: int) -> bool:
        """Return True for a cell of the grid that is not a wall."""
        return 0 <= cell < self.size**2 and cell not in self.wall_set

    def open_neighbours(self, cell: int) -> list[int]:
        """Return the adjacent open cells in ascending order."""
        return [n for n in neighbours(cell, self.size) if n not in self.wall_set]

    def adjacent(self, one: int, other: int) -> bool:
        """Return True if both cells are in the grid and share an edge."""
        return 0 <= one < self.size**2 and other in neighbours(one, self.size)

    def shortest_path(self) -> list[int]:
        """Return the lexicographically first shortest path from start to goal."""
        distance, queue = {self.goal: 0}, deque([self.goal])
        while queue:
            cell = queue.popleft()
            new = [n for n in self.open_neighbours(cell) if n not in distance]
            distance.update(dict.fromkeys(new, distance[cell] + 1))
            queue += new
        path = [self.start]
        while (cell := path[-1]) != self.goal:
            path.append(next(n for n in self.open_neighbours(cell) if distance.get(n, -1) == distance[cell] - 1))
        return path

    @cached_property
    def digest(self) -> str:
        """Return the SHA-256 (hex) of size, walls, start and goal."""
        return hashlib.sha256(json.dumps([self.size, self.walls, self.start, self.goal]).encode()).hexdigest()

    def as_json(self) -> dict[str, Any]:
        """Return the record of a file, with its fields in order."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {**values, "walls": list(self.walls), "digest": self.digest}


def generate_mazes(spec: MazeSpec, seed: int) -> Iterator[Maze]:
    """Yield `spec.count` mazes. Raise ConfigError if none is found."""
    for index in range(spec.offset, spec.offset + spec.count):
        yield generate_maze(spec, seed, index)


def generate_maze(spec: MazeSpec, seed: int, index: int = 0) -> Maze:
    """Return maze number `index` of a seed, the same in every process.

    Grids are drawn until one has a suitable pair of start and goal. Raise ConfigError after a bounded search.
    """
    size, walls, min_path = spec.size, spec.wall_count, spec.min_path
    random = stdlib_random(seed, "maze", spec.generator, size, walls, min_path, index)
    grid, layout = grid_of(size), LAYOUTS[spec.generator]
    tries = max(_FEWEST_GRIDS, _CELLS_DRAWN // size**2)
    for _ in range(tries):
        drawn = layout(size, walls, random)
        inside = grid.without(drawn)
        pair = draw_pair(grid, inside, min_path, random)
        if pair is not None:
            start, goal = pair
            length = grid.distance(grid.bit(start), grid.bit(goal), inside)
            assert length is not None
            return Maze(size, tuple(sorted(drawn)), start, goal, length, seed, index, spec.generator)
    raise ConfigError(
        f"no maze found in {tries} grids of {size} × {size} cells with {walls} walls ({spec.generator}): "
        f"no start and goal are {min_path} steps apart",
        hint="choose a lower min_path, another share of walls, a larger size or another generator",
    )
