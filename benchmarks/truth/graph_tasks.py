"""reasoning-gym's graph tasks solved by our algorithms and engine, our mazes by its solver; scored by the other."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import reasoning_gym

from graphwalk.api.graphs import open_store
from graphwalk.suites.magma.generate import Instance, run_algorithm
from graphwalk.suites.mazes.config import MazeSpec
from graphwalk.suites.mazes.generate import Maze, generate_mazes
from graphwalk.suites.mazes.score import path_error
from graphwalk.suites.questions.graph_index import GraphIndex
from graphwalk.types.graph import Node, PropertyGraph, Relationship

SEED = 20260401
_STEPS = {"right": (0, 1), "down": (1, 0), "left": (0, -1), "up": (-1, 0)}
_LABEL, _TYPE = "Place", "LEADS_TO"


@dataclass(frozen=True)
class Count:
    """How many of `number` came out right; `what` solves, `judge` scores."""

    what: str
    judge: str
    number: int
    right: int


def graph_tasks(number: int = 200) -> Iterator[Count]:
    """`number` tasks of each kind."""
    ways: dict[str, tuple[str, Callable[[Any], str]]] = {
        "shortest_path": ("shortest path of a maze", _shortest_path),
        "largest_island": ("components by depth-first search of MAGMA", _largest_island),
        "course_schedule": ("reachability of the evaluators", _course_schedule),
        "path_star": ("variable-length path of the embedded engine", _path_star),
    }
    for name, (what, solve) in ways.items():
        data = reasoning_gym.create_dataset(name, seed=SEED, size=number)
        right = sum(data.score_answer(solve(entry), entry) == 1.0 for entry in data)
        yield Count(what, f"reasoning-gym, {name}", number, right)
    yield _their_solver(number)


def _shortest_path(entry: Any) -> str:
    maze = _maze_of(entry["metadata"]["matrix"])
    path = maze.shortest_path()
    if not path:
        return "infeasible"
    moves = {step: name for name, step in _STEPS.items()}
    cells = [divmod(cell, maze.size) for cell in path]
    return " ".join(moves[b[0] - a[0], b[1] - a[1]] for a, b in pairwise(cells))


def _maze_of(matrix: list[list[str]]) -> Maze:
    """Their oblong as a square maze; what is added is wall."""
    size = max(len(matrix), len(matrix[0]))
    cells = {(r, c): cell for r, row in enumerate(matrix) for c, cell in enumerate(row)}
    place = {cell: r * size + c for (r, c), cell in cells.items() if cell in "*#"}
    walls = [r * size + c for r in range(size) for c in range(size) if cells.get((r, c), "X") == "X"]
    return Maze(size, tuple(walls), place["*"], place["#"], 0)


def _largest_island(entry: Any) -> str:
    grid = entry["metadata"]["grid"]
    land = {(r, c): None for r, row in enumerate(grid) for c, cell in enumerate(row) if cell}
    if not land:
        return "0"
    number = {cell: i for i, cell in enumerate(land)}
    edges = {
        (i, number[r + dr, c + dc])
        for (r, c), i in number.items()
        for dr, dc in ((0, 1), (1, 0))
        if (r + dr, c + dc) in land
    }
    instance = Instance(len(land), tuple(sorted((min(e), max(e)) for e in edges)), None, None)
    return str(max(map(len, run_algorithm("dfs", instance)[-1].answer)))


def _course_schedule(entry: Any) -> str:
    facts = entry["metadata"]
    index = GraphIndex(_graph(facts["courses"], facts["prerequisites"]))
    circles = [key for key in index.nodes if key in index.distances(key, len(index.nodes))]
    return str(not circles)


def _path_star(entry: Any) -> str:
    edges_text, _, ends = entry["question"].rpartition("Solve the following task:")[2].strip().partition("/")
    edges = [tuple(edge.split()) for edge in edges_text.strip("|").split("|")]
    start, goal = ends.split()[:2]
    nodes = {key for edge in edges for key in edge}
    query = (
        f"MATCH p = (a:{_LABEL} {{key: $start}})-[*1..{len(edges)}]->(b:{_LABEL} {{key: $goal}}) "
        "RETURN [n IN nodes(p) | n.key] AS keys"
    )
    with open_store(_graph(nodes, edges)) as store:
        (row,) = store.run(query, {"start": start, "goal": goal})
    return " ".join(row["keys"])


def _graph(nodes: Any, edges: Any) -> PropertyGraph:
    made = [Node(str(key), (_LABEL,), {}) for key in sorted(nodes, key=str)]
    return PropertyGraph.from_rows(made, [Relationship(_TYPE, str(a), str(b), {}) for a, b in edges])


def _their_solver(number: int) -> Count:
    """Their breadth-first search on our mazes: its way must be valid for our scorer, and as long as our target."""
    data: Any = reasoning_gym.create_dataset("shortest_path", seed=SEED, size=1)
    right = 0
    for maze in generate_mazes(MazeSpec(count=number), SEED):
        matrix = [
            ["X" if maze.size * r + c in maze.wall_set else "O" for c in range(maze.size)] for r in range(maze.size)
        ]
        for cell, sign in ((maze.start, "*"), (maze.goal, "#")):
            matrix[cell // maze.size][cell % maze.size] = sign
        path = [maze.start]
        for move in data._get_answer(matrix):
            down, right_ = _STEPS[move]
            path.append(path[-1] + down * maze.size + right_)
        right += path_error(maze, path) is None and len(path) - 1 == maze.shortest_path_length
    return Count("reasoning-gym's breadth-first search on our mazes", "the scorer of mazes", number, right)
