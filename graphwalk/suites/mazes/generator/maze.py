"""Mazes: square grids of open cells and walls with a start and a goal (docs/mazes.md, Mazes)."""

import hashlib
import json
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from graphwalk.errors import ConfigError
from graphwalk.seeds import stdlib_random
from graphwalk.suites.mazes.config import MazeSpec
from graphwalk.suites.mazes.generator.bits import grid_of
from graphwalk.suites.mazes.generator.layouts import LAYOUTS, neighbours
from graphwalk.suites.mazes.generator.pairs import draw_pair

_CELLS_DRAWN = 1_000_000
"""A search ends after grids with so many cells in all, but not before `_FEWEST_GRIDS`."""
_FEWEST_GRIDS = 25


@dataclass(frozen=True)
class Maze:
    """A maze; cells are numbered row by row from 0 at the top left, `walls` are in ascending order.

    `shortest_path_length` is in steps from start to goal. `seed`, `index` and `generator` tell how it was made.
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
        """True for a cell of the grid that is not a wall."""
        return 0 <= cell < self.size**2 and cell not in self.wall_set

    def open_neighbours(self, cell: int) -> list[int]:
        """Cells to step to, in ascending order."""
        return [n for n in neighbours(cell, self.size) if n not in self.wall_set]

    def adjacent(self, one: int, other: int) -> bool:
        """True where both cells are of the grid and share an edge."""
        return 0 <= one < self.size**2 and other in neighbours(one, self.size)

    def shortest_path(self) -> list[int]:
        """Start, …, goal; of several shortest paths the one whose cells have the lowest numbers, first ones first."""
        left = self._steps_to_goal()
        path = [self.start]
        while path[-1] != self.goal:
            path.append(next(n for n in self.open_neighbours(path[-1]) if left.get(n, -1) == left[path[-1]] - 1))
        return path

    def _steps_to_goal(self) -> dict[int, int]:
        left, queue = {self.goal: 0}, deque([self.goal])
        while queue:
            cell = queue.popleft()
            new = [n for n in self.open_neighbours(cell) if n not in left]
            left.update(dict.fromkeys(new, left[cell] + 1))
            queue += new
        return left

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hex) of the maze itself; how it was made has no part in it."""
        return hashlib.sha256(json.dumps([self.size, self.walls, self.start, self.goal]).encode()).hexdigest()

    def as_json(self) -> dict[str, Any]:
        """The record of a file, in its order; cells are numbers."""
        return {
            "size": self.size,
            "walls": list(self.walls),
            "start": self.start,
            "goal": self.goal,
            "shortest_path_length": self.shortest_path_length,
            "seed": self.seed,
            "index": self.index,
            "generator": self.generator,
            "digest": self.digest,
        }


def generate_mazes(spec: MazeSpec, seed: int) -> Iterator[Maze]:
    """`spec.count` mazes, one by one. ConfigError where none like these can be found."""
    for index in range(spec.offset, spec.offset + spec.count):
        yield generate_maze(spec, seed, index)


def generate_maze(spec: MazeSpec, seed: int, index: int = 0) -> Maze:
    """Maze number `index` of a seed, the same in every process.

    A grid is drawn first, then the pair of start and goal; where the grid has no such pair, another grid. ConfigError
    after a bounded search.
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
        f"no maze of {size} × {size} cells with {walls} walls ({spec.generator}) was found that has a start and a goal "
        f"{min_path} steps apart: {tries} grids were tried",
        hint="give a lower min_path, another share of walls, a larger size or another generator",
    )
