"""`graphwalk generate maze`."""

import json
from pathlib import Path

import pytest

from graphwalk.suites.mazes.config import MazeSpec
from graphwalk.suites.mazes.generate import generate_maze
from tests.commands import graphwalk

SIZE = ("--size", "6", "--walls", "0.4", "--min-path", "7")


def test_mazes_are_written_as_lines(tmp_path: Path) -> None:
    written = graphwalk("generate", "maze", *SIZE, "--seed", 1, "--index", 4, "--out", tmp_path / "m.jsonl")
    assert written.returncode == 0, written.stderr
    maze = generate_maze(MazeSpec(size=6, walls=0.4, min_path=7), 1, 4)
    assert json.loads((tmp_path / "m.jsonl").read_text()) == maze.as_json()


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        (("--out", "m.png"), "expected one of .jsonl, .parquet"),
        (("--size", "3", "--out", "m.jsonl"), "min_path 15 is impossible"),
    ],
    ids=str,
)
def test_mistakes_are_named(
    words: tuple[str, ...], cause: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    refused = graphwalk("generate", "maze", *words)
    assert refused.returncode == 2
    assert cause in refused.stderr
    assert "Traceback" not in refused.stderr
    assert list(tmp_path.iterdir()) == []
