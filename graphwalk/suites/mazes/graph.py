"""A maze as a property graph."""

from collections.abc import Iterator
from math import dist
from typing import Any

import networkx as nx

from graphwalk.errors import OracleError
from graphwalk.graphs.conversion import to_networkx
from graphwalk.suites.mazes.generate import Maze, neighbours
from graphwalk.types.check_type import check_type
from graphwalk.types.graph import Node, PropertyGraph, Relationship

CELL = "Cell"
ADJACENT = "ADJACENT"
WALL_DISTANCE = -1_000_000.0
"""Distance to the goal of a wall; no tool shows it."""


def maze_graph(maze: Maze) -> PropertyGraph:
    """Return the graph of a maze; keys are cell numbers as text."""
    check_type("maze", maze, Maze)
    spec = {"size": maze.size, "index": maze.index, "generator": maze.generator}
    return PropertyGraph.from_rows(_nodes(maze), _relationships(maze.size), seed=maze.seed, spec=spec)


def euclidean_distance(maze: Maze, cell: int) -> float:
    """Return the straight-line distance to the goal in cells, with four decimals."""
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


def check_path(graph: PropertyGraph, start: str, goal: str, path: list[str]) -> None:
    """Raise OracleError if networkx finds that the path is invalid or that a shorter one exists."""
    cells: nx.Graph[Any] = nx.Graph(to_networkx(graph))
    cells.remove_nodes_from([key for key, data in cells.nodes(data=True) if data["euclidean_distance"] < 0])
    valid = path[:1] == [start] and path[-1:] == [goal] and nx.is_path(cells, path)
    if not valid or len(path) - 1 != nx.shortest_path_length(cells, start, goal):
        raise OracleError(f"networkx does not confirm the path from {start} to {goal}: {path}")
