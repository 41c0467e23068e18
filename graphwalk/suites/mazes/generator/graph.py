"""A maze as a property graph (docs/mazes.md).

Every cell is a node `Cell`, walls too. Cells that share an edge are joined by one ADJACENT relationship, from the lower
number to the higher one; it has no direction to speak of, and queries match it without one. No tool writes `marked` and
`mark_order`: marks belong to an episode and travel as parameters, so that all episodes share one stored maze.
"""

from collections.abc import Iterator
from math import dist

from graphwalk.suites.mazes.generator.layouts import neighbours
from graphwalk.suites.mazes.generator.maze import Maze
from graphwalk.types.check_type import check_type
from graphwalk.types.graph import Node, PropertyGraph, Relationship

CELL = "Cell"
ADJACENT = "ADJACENT"
WALL_DISTANCE = -1_000_000.0
"""What walls have for a distance to the goal; no tool shows it."""


def maze_graph(maze: Maze) -> PropertyGraph:
    """The graph of a maze; keys are cell numbers as text."""
    check_type("maze", maze, Maze)
    spec = {"size": maze.size, "index": maze.index, "generator": maze.generator}
    return PropertyGraph.from_rows(_nodes(maze), _relationships(maze.size), seed=maze.seed, spec=spec)


def euclidean_distance(maze: Maze, cell: int) -> float:
    """Straight-line distance from the cell to the goal, in cells, with four decimals."""
    return round(dist(divmod(cell, maze.size), divmod(maze.goal, maze.size)), 4)


def _nodes(maze: Maze) -> Iterator[Node]:
    for cell in range(maze.size**2):
        distance = WALL_DISTANCE if cell in maze.wall_set else euclidean_distance(maze, cell)
        yield Node(str(cell), (CELL,), {"euclidean_distance": distance, "marked": False, "mark_order": -1})


def _relationships(size: int) -> Iterator[Relationship]:
    for cell in range(size * size):
        for other in neighbours(cell, size):
            if cell < other:
                yield Relationship(ADJACENT, str(cell), str(other), {})
