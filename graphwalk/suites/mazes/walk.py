"""What an episode did in its maze, read from the trajectory alone."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from graphwalk.scoring.values import parse_json
from graphwalk.suites.mazes.generator.maze import Maze
from graphwalk.suites.mazes.toolbox import ALIASES, CONNECTED_PATH, NEXT_CELLS
from graphwalk.toolbox.encodings import read_rows
from graphwalk.types.chat import ToolCall
from graphwalk.types.episode import ToolResult

StepKind = Literal["visit", "jump", "revisit", "wall", "refused", "path", "other"]
"""other: a call of a tool that is none of the maze's own."""


@dataclass(frozen=True, slots=True)
class WalkStep:
    """One tool call. `cell` is None where the call names no cell of the grid, or asks for the path ("path")."""

    kind: StepKind
    cell: int | None


@dataclass(frozen=True)
class MazeWalk:
    """All tool calls of an episode in order, and what they made known of the maze."""

    steps: tuple[WalkStep, ...]
    visited: tuple[int, ...]
    """In the order of first visits."""
    seen: frozenset[int]
    """Cells that were visited, or listed as next to a visited one."""

    def count(self, kind: StepKind) -> int:
        return sum(step.kind == kind for step in self.steps)


def walk_of(maze: Maze, results: Iterable[ToolResult]) -> MazeWalk:
    """The walk that the tool results of an episode record."""
    visited: dict[int, None] = {}
    seen: set[int] = set()
    steps = tuple(_steps(maze, results, visited, seen))
    return MazeWalk(steps, tuple(visited), frozenset(seen))


def shown_neighbours(results: Iterable[ToolResult]) -> dict[str, frozenset[str]]:
    """Key of every visited cell → keys of the cells that its result lists; as the results say it, not the maze."""
    shown: dict[str, frozenset[str]] = {}
    for result in results:
        if ALIASES.get(result.call.name, result.call.name) == NEXT_CELLS and result.error is None:
            rows = read_rows(result.content) or []
            key = _key(result.call)
            if key is not None:
                shown[key] = frozenset(row["key"] for row in rows if isinstance(row.get("key"), str))
    return shown


def _steps(maze: Maze, results: Iterable[ToolResult], visited: dict[int, None], seen: set[int]) -> Iterator[WalkStep]:
    for result in results:
        name = ALIASES.get(result.call.name, result.call.name)
        cell = _cell(result.call, maze.size) if name == NEXT_CELLS else None
        if name == CONNECTED_PATH and result.error is None:
            yield WalkStep("path", None)
        elif name != NEXT_CELLS and result.error is None:
            yield WalkStep("other", None)
        elif result.error is not None or cell is None:
            yield WalkStep("wall" if result.error == "wall" else "refused", cell)
        else:
            yield WalkStep(_visit(maze, cell, visited, seen), cell)
            visited[cell] = None
            seen.update([cell, *maze.open_neighbours(cell)])


def _visit(maze: Maze, cell: int, visited: dict[int, None], seen: set[int]) -> StepKind:
    if cell in visited:
        return "revisit"
    return "visit" if cell in seen or (not visited and cell == maze.start) else "jump"


def _key(call: ToolCall) -> str | None:
    """The key that a call names, None where there is none."""
    arguments = parse_json(call.arguments)
    key = arguments.get("node_id") if isinstance(arguments, dict) else None
    return key if isinstance(key, str) else None


def _cell(call: ToolCall, size: int) -> int | None:
    """The cell that a call names, None where that cannot be told."""
    try:
        key = json.loads(call.arguments)["node_id"]
        number = int(key)
    except (ValueError, KeyError, TypeError, RecursionError, OverflowError):
        return None
    return number if 0 <= number < size * size else None
