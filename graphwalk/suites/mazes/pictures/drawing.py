"""Mazes as text: for models every open cell with its key, for people small, with the walk in it."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from graphwalk.suites.mazes.generator.maze import Maze

if TYPE_CHECKING:
    from rich.text import Text

_SIGNS = {
    "wall": ("██", "bright_black"),
    "hit": ("▒▒", "red"),
    "open": ("  ", ""),
    "visited": ("· ", "cyan"),
    "path": ("● ", "bold green"),
    "start": ("S ", "bold yellow"),
    "goal": ("G ", "bold magenta"),
    "unknown": ("░░", "bright_black"),
}
"""Signs tell everything; colours only help."""


def draw_with_keys(maze: Maze) -> str:
    """The maze in a border, one line per row: keys in open cells, `#` for walls, S and G before start and goal."""
    width = len(str(maze.size**2 - 1)) + 1
    border = "+" + "-" * (maze.size * (width + 1) + 1) + "+"
    return "\n".join([border, *(_row(maze, row, width) for row in range(maze.size)), border])


def _row(maze: Maze, row: int, width: int) -> str:
    cells = range(row * maze.size, (row + 1) * maze.size)
    return "| " + " ".join(_named(maze, cell).rjust(width) for cell in cells) + " |"


def _named(maze: Maze, cell: int) -> str:
    if cell in maze.wall_set:
        return "#" * len(str(maze.size**2 - 1))
    return {maze.start: "S", maze.goal: "G"}.get(cell, "") + str(cell)


def draw(
    maze: Maze,
    visited: Collection[int] = (),
    path: Sequence[int] = (),
    hit: Collection[int] = (),
    known: Collection[int] | None = None,
) -> "Text":
    """The maze for a terminal, two columns a cell: visited cells dotted, the path in full dots, walls hit shaded.

    `known`: what is drawn besides start and goal, the rest being in the dark; None: everything.
    """
    from rich.text import Text

    marked = dict.fromkeys(visited, "visited") | dict.fromkeys(path, "path") | dict.fromkeys(hit, "hit")
    marked |= {maze.start: "start", maze.goal: "goal"}
    border = "+" + "-" * (2 * maze.size) + "+"
    text = Text(f"{border}\n", no_wrap=True)
    for row in range(maze.size):
        text.append("|")
        for cell in range(row * maze.size, (row + 1) * maze.size):
            plain = "wall" if cell in maze.wall_set else "open"
            shown = plain if known is None or cell in known else "unknown"
            text.append(*_SIGNS[marked.get(cell, shown)])
        text.append("|\n")
    return text.append(border)
