"""Mazes as rows."""

import json
from pathlib import Path

import pytest

from graphwalk.bulk import write_rows
from graphwalk.errors import ConfigError
from graphwalk.suites.mazes.commands import maze_rows
from graphwalk.suites.mazes.config import MazeSpec
from graphwalk.suites.mazes.generate import generate_mazes


def test_a_line_holds_a_maze(tmp_path: Path) -> None:
    mazes = list(generate_mazes(MazeSpec(count=4), 1))
    write_rows(maze_rows(MazeSpec(), 1, 4), tmp_path / "m.jsonl")
    records = [json.loads(line) for line in (tmp_path / "m.jsonl").read_text().splitlines()]
    assert records == [maze.as_json() for maze in mazes]
    assert {"size", "walls", "start", "goal", "shortest_path_length", "seed", "index", "generator"} < records[0].keys()


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be written"):
        write_rows(maze_rows(MazeSpec(), 1, 4), tmp_path / "no" / "m.jsonl")
