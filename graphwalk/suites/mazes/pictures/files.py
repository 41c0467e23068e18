"""Mazes in files: drawings as text, one picture; and which forms there are besides."""

from collections.abc import Sequence
from pathlib import Path

from graphwalk.errors import ConfigError
from graphwalk.files import write_whole
from graphwalk.suites.mazes.generator.maze import Maze
from graphwalk.suites.mazes.pictures.drawing import draw
from graphwalk.suites.mazes.pictures.svg import maze_svg

ROWS = (".jsonl", ".parquet")
"""Those with a row for each maze (`graphwalk.suites.mazes.generator.rows`)."""
FORMATS = (*ROWS, ".txt", ".svg")


def maze_format(path: Path, count: int = 1) -> str:
    """The form that a file name asks for. ConfigError for another ending, or for several mazes in one picture."""
    form = path.suffix.lower()
    if form not in FORMATS:
        raise ConfigError(f"{path.name}: mazes are written as {', '.join(FORMATS)}", hint=f"--out {path.stem}.jsonl")
    if form == ".svg" and count > 1:
        raise ConfigError(f"{path.name}: a picture holds one maze, not {count}", hint="--count 1, and --index N")
    return form


def save_mazes(mazes: Sequence[Maze], path: Path) -> None:
    """Draw mazes in the form of the file name, .txt or .svg. ConfigError where that is not possible."""
    if maze_format(path, len(mazes)) == ".svg":
        write_whole(path, [maze_svg(mazes[0], title=caption(mazes[0]))])
    else:
        write_whole(path, (f"{caption(maze)}\n{draw(maze).plain}\n" for maze in mazes))


def caption(maze: Maze) -> str:
    """One line about a maze."""
    made = f"maze {maze.index} of seed {maze.seed} ({maze.generator})"
    return f"{made}: from cell {maze.start} to {maze.goal} in {maze.shortest_path_length} steps or more"
