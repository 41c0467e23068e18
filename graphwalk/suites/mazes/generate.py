"""Mazes: their specification, generation, graph, and the check of a path."""

import hashlib
import json
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import dist, floor
from random import Random
from typing import Any, Self, TypeVar

import networkx as nx
import numpy as np
from numpy.typing import NDArray
from pydantic import Field, PositiveInt, model_validator

from graphwalk.config.strict import Spec
from graphwalk.errors import ConfigError, OracleError
from graphwalk.graphs.conversion import to_networkx
from graphwalk.graphs.graph import Node, PropertyGraph, Relationship
from graphwalk.seeds import stdlib_random

CELL = "Cell"
ADJACENT = "ADJACENT"
WALL_DISTANCE = -1_000_000.0
"""Distance to the goal of a wall; no tool shows it."""
Cell = TypeVar("Cell", int, str)
_SIDES = ((-1, 0), (0, -1), (0, 1), (1, 0))
_CELLS_DRAWN = 1_000_000
"""Total cells of the grids tried in a search."""


class MazeSpec(Spec):
    """A grid maze: exactly floor(walls · size²) cells are walls, start and goal at least `min_path` steps apart."""

    size: int = Field(default=10, ge=2, le=50)
    """Cells per side."""
    walls: float = Field(default=0.5, ge=0, lt=1)
    """Share of cells that are walls."""
    min_path: PositiveInt = 15
    """Minimum steps from start to goal."""

    @property
    def wall_count(self) -> int:
        """Return the number of walls. The decimal ratio counts: 0.29 of 100 cells are 29, not 28 as in binary."""
        return floor(Fraction(repr(self.walls)) * self.size**2)

    @model_validator(mode="after")
    def _check_possible(self) -> Self:
        open_cells = self.size**2 - self.wall_count
        if self.min_path >= open_cells:
            raise ValueError(
                f"min_path {self.min_path} is impossible with {open_cells} open cells; "
                "choose a larger size, fewer walls or a lower min_path"
            )
        return self


def distances_from(start: Cell, neighbours: Callable[[Cell], list[Cell]]) -> dict[Cell, int]:
    """Return the steps from a cell to each cell that can be reached."""
    distances = {start: 0}
    queue = deque([start])
    while queue:
        cell = queue.popleft()
        for neighbour in neighbours(cell):
            if neighbour not in distances:
                distances[neighbour] = distances[cell] + 1
                queue.append(neighbour)
    return distances


def shortest_path(start: Cell, goal: Cell, neighbours: Callable[[Cell], list[Cell]]) -> list[Cell]:
    """Return a shortest path, of several the one with the lowest numbers, first cells first; [] if there is none."""
    distances = distances_from(goal, neighbours)
    if start not in distances:
        return []
    path = [start]
    while path[-1] != goal:
        nearer = distances[path[-1]] - 1
        next_cells = [cell for cell in neighbours(path[-1]) if distances.get(cell) == nearer]
        path.append(min(next_cells, key=int))
    return path


def neighbours(cell: int, size: int) -> list[int]:
    """Return the cells that share an edge with this one in ascending order."""
    row, column = divmod(cell, size)
    cells = []
    for down, right in _SIDES:
        if 0 <= row + down < size and 0 <= column + right < size:
            cells.append(cell + down * size + right)
    return cells


@lru_cache(maxsize=16)
def _neighbour_pairs(size: int) -> NDArray[np.intp]:
    """Return all (cell, neighbour) pairs of a grid as two rows, in ascending order."""
    pairs: list[tuple[int, int]] = []
    for cell in range(size * size):
        pairs.extend((cell, neighbour) for neighbour in neighbours(cell, size))
    return np.array(pairs).T


def draw_pair(size: int, walls: Iterable[int], min_path: int, random: Random) -> tuple[int, int, int] | None:
    """Return a uniformly random (start, goal, steps) with at least `min_path` steps from start to goal, or None."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    cells = size * size
    is_open = np.ones(cells, dtype=bool)
    is_open[list(walls)] = False
    pairs = _neighbour_pairs(size)
    are_open = is_open[pairs].all(axis=0)
    sources, targets = np.compress(are_open, pairs, axis=1)
    adjacency = csr_array((np.ones(targets.size), (sources, targets)), shape=(cells, cells))
    # Steps from each cell to each other one, infinite where no way leads.
    steps = dijkstra(adjacency, unweighted=True)
    far_pairs = np.flatnonzero((steps >= min_path) & np.isfinite(steps))
    if not far_pairs.size:
        return None
    start, goal = divmod(int(far_pairs[random.randrange(far_pairs.size)]), cells)
    return start, goal, int(steps[start, goal])


@dataclass(frozen=True)
class Maze:
    """A grid maze. Cells are numbered row by row from 0 at the top left; `walls` are in ascending order.

    `shortest_path_length` is in steps. `seed` and `index` reproduce the maze.
    """

    size: int
    walls: tuple[int, ...]
    start: int
    goal: int
    shortest_path_length: int
    seed: int = 0
    index: int = 0

    @cached_property
    def cells(self) -> dict[str, int]:
        """Return the key of each cell → its number."""
        return {str(cell): cell for cell in range(self.size**2)}

    @cached_property
    def wall_set(self) -> frozenset[int]:
        return frozenset(self.walls)

    def is_open(self, cell: int) -> bool:
        """Return True for a cell of the grid that is not a wall."""
        return 0 <= cell < self.size**2 and cell not in self.wall_set

    def open_neighbours(self, cell: int) -> list[int]:
        """Return the adjacent open cells in ascending order."""
        return [neighbour for neighbour in neighbours(cell, self.size) if neighbour not in self.wall_set]

    def adjacent(self, one: int, other: int) -> bool:
        """Return True if both cells are in the grid and share an edge."""
        return 0 <= one < self.size**2 and other in neighbours(one, self.size)

    @cached_property
    def distances_to_goal(self) -> dict[int, int]:
        """Return the steps to the goal from each cell that can reach it."""
        return distances_from(self.goal, self.open_neighbours)

    def shortest_path(self) -> list[int]:
        """Return the lexicographically first shortest path from start to goal, or [] if there is none."""
        return shortest_path(self.start, self.goal, self.open_neighbours)

    @cached_property
    def digest(self) -> str:
        """Return the SHA-256 (hex) of size, walls, start and goal."""
        content = json.dumps([self.size, self.walls, self.start, self.goal])
        return hashlib.sha256(content.encode()).hexdigest()

    def as_json(self) -> dict[str, Any]:
        """Return the record of a file, with its fields in order."""
        return {**asdict(self), "walls": list(self.walls), "digest": self.digest}


def generate_maze(spec: MazeSpec, seed: int, index: int = 0) -> Maze:
    """Return maze number `index` of a seed, the same in every process.

    Grids are drawn until one has a suitable pair of start and goal. Raise ConfigError after a bounded search.
    """
    size = spec.size
    walls = spec.wall_count
    min_path = spec.min_path
    random = stdlib_random(seed, "maze", "random", size, walls, min_path, index)
    tries = _CELLS_DRAWN // size**2
    for _ in range(tries):
        drawn = random.sample(range(size * size), walls)
        pair = draw_pair(size, drawn, min_path, random)
        if pair is not None:
            return Maze(size, tuple(sorted(drawn)), *pair, seed, index)
    raise ConfigError(
        f"no maze found in {tries} grids of {size} × {size} cells with {walls} walls: "
        f"no start and goal are {min_path} steps apart",
        hint="choose a lower min_path, another share of walls or a larger size",
    )


def maze_graph(maze: Maze) -> PropertyGraph:
    """Return the graph of a maze; keys are cell numbers as text.

    The distance is the length of the straight line to the goal in cells, with four decimals.
    """
    size = maze.size
    nodes = []
    relationships = []
    for cell in range(size**2):
        distance = WALL_DISTANCE
        if cell not in maze.wall_set:
            distance = round(dist(divmod(cell, size), divmod(maze.goal, size)), 4)
        nodes.append(Node(str(cell), (CELL,), {"euclidean_distance": distance, "marked": False, "mark_order": -1}))
        for other in neighbours(cell, size):
            if cell < other:
                relationships.append(Relationship(ADJACENT, str(cell), str(other), {}))
    spec = {"size": size, "index": maze.index}
    return PropertyGraph.from_rows(nodes, relationships, seed=maze.seed, spec=spec)


def check_path(graph: PropertyGraph, start: str, goal: str, path: list[str]) -> None:
    """Raise OracleError if networkx finds that the path is invalid or that a shorter one exists."""
    cells: nx.Graph[Any] = nx.Graph(to_networkx(graph))
    cells.remove_nodes_from([key for key, data in cells.nodes(data=True) if data["euclidean_distance"] < 0])
    valid = path[:1] == [start] and path[-1:] == [goal] and nx.is_path(cells, path)
    if not valid or len(path) - 1 != nx.shortest_path_length(cells, start, goal):
        raise OracleError(f"networkx does not confirm the path from {start} to {goal}: {path}")
