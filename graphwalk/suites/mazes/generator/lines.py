"""Mazes in files: one JSON object a line."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from graphwalk.errors import ConfigError
from graphwalk.suites.mazes.generator.bits import grid_of
from graphwalk.suites.mazes.generator.maze import Maze


def write_mazes(mazes: Iterable[Maze], path: Path) -> None:
    """A JSON Lines file. ConfigError where it cannot be written."""
    write_whole(path, (json.dumps(maze.as_json()) + "\n" for maze in mazes))


def write_whole(path: Path, texts: Iterable[str]) -> None:
    """A text file, whole or not at all. ConfigError where it cannot be written."""
    scratch = path.with_name(f"{path.name}.new")
    try:
        with scratch.open("w", encoding="utf-8", errors="replace") as file:
            file.writelines(texts)
        scratch.replace(path)
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}") from error
    finally:
        scratch.unlink(missing_ok=True)


def read_mazes(path: Path) -> Iterator[Maze]:
    """The mazes of a file. ConfigError names the line that is no maze."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error
    for number, line in enumerate(lines, start=1):
        try:
            yield maze_from_json(json.loads(line))
        except (ValueError, KeyError, TypeError) as error:
            raise ConfigError(f"{path}:{number}: not a maze: {error}") from error


def maze_from_json(record: Mapping[str, Any]) -> Maze:
    """The maze of a record. ValueError, KeyError or TypeError where it is none; its length is computed, not trusted."""
    size, walls, start, goal = record["size"], sorted(set(record["walls"])), record["start"], record["goal"]
    if not all(type(number) is int for number in (size, start, goal, *walls)):
        raise ValueError("size, walls, start and goal are whole numbers")
    if size < 1 or not all(0 <= cell < size * size for cell in (start, goal, *walls)):
        raise ValueError(f"a cell is not in a grid of {size} × {size}")
    grid = grid_of(size)
    inside = grid.without(walls)
    open_ends = not {start, goal} & set(walls)
    length = grid.distance(grid.bits[start], grid.bits[goal], inside) if open_ends else None
    if length is None:
        raise ValueError("there is no way from start to goal")
    made = {name: record[name] for name in ("seed", "index", "generator") if name in record}
    return Maze(size, tuple(walls), start, goal, length, **made)
