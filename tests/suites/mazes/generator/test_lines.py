"""Mazes as JSON lines."""

import json
from pathlib import Path

import pytest

from graphwalk.errors import ConfigError
from graphwalk.suites.mazes.config import MazeSpec
from graphwalk.suites.mazes.generator.lines import read_mazes, write_mazes
from graphwalk.suites.mazes.generator.maze import generate_mazes

GOOD = {"size": 3, "walls": [3, 4], "start": 0, "goal": 6, "shortest_path_length": 6, "seed": 1}


def test_what_is_written_is_read(tmp_path: Path) -> None:
    mazes = list(generate_mazes(MazeSpec(count=4), 1))
    write_mazes(mazes, tmp_path / "m.jsonl")
    assert list(read_mazes(tmp_path / "m.jsonl")) == mazes
    assert [path.name for path in tmp_path.iterdir()] == ["m.jsonl"]
    first = json.loads((tmp_path / "m.jsonl").read_text().splitlines()[0])
    assert {"size", "walls", "start", "goal", "shortest_path_length", "seed", "index", "generator"} < first.keys()


def test_lengths_are_computed_not_trusted(tmp_path: Path) -> None:
    (tmp_path / "m.jsonl").write_text(json.dumps({**GOOD, "shortest_path_length": 1}))
    assert [maze.shortest_path_length for maze in read_mazes(tmp_path / "m.jsonl")] == [6]


@pytest.mark.parametrize(
    "change",
    [
        {"walls": [0, 3]},
        {"walls": [3, 4, 5]},
        {"goal": 9},
        {"start": -1},
        {"size": "3"},
        {"start": True},
        {"walls": None},
        {"walls": [1.0]},
    ],
    ids=str,
)
def test_what_is_no_maze_is_named_by_line(tmp_path: Path, change: dict[str, object]) -> None:
    (tmp_path / "m.jsonl").write_text(json.dumps(GOOD) + "\n" + json.dumps(GOOD | change) + "\n")
    with pytest.raises(ConfigError, match=r"m\.jsonl:2: not a maze"):
        list(read_mazes(tmp_path / "m.jsonl"))


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be written"):
        write_mazes([], tmp_path / "no" / "m.jsonl")
