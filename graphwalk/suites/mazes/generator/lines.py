"""Mazes in files: one JSON object a line."""

import json
from collections.abc import Iterable
from pathlib import Path

from graphwalk.files import write_whole
from graphwalk.suites.mazes.generator.maze import Maze


def write_mazes(mazes: Iterable[Maze], path: Path) -> None:
    """A JSON Lines file. ConfigError where it cannot be written."""
    write_whole(path, (json.dumps(maze.as_json()) + "\n" for maze in mazes))
