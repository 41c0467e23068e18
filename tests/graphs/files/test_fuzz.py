"""Damaged files of every format: a graph or a ConfigError that names the file, and never anything else."""

import random
import time
from pathlib import Path

import pytest

from graphwalk.errors import ConfigError
from graphwalk.graphs.files.formats import load_graph, save_graph

EXAMPLE = load_graph("example")
ROUNDS = 150
_PIECES = [
    b"",
    b"\x00",
    b"\xff",
    b'"',
    b"'",
    b"`",
    b"{",
    b"[",
    b"<",
    b"&a;",
    b"\\",
    b"\n",
    b",",
    b":",
    b"1e999",
    b"9" * 5000,
    b"null",
    b"$date",
    b"gw_",
]


def damaged(text: bytes, rng: random.Random) -> bytes:
    """The file with up to three cuts, doublings or insertions."""
    for _ in range(rng.randint(1, 3)):
        start = rng.randrange(len(text) + 1)
        end = min(len(text), start + rng.choice([0, 1, 5, 200]))
        piece = rng.choice([*_PIECES, text[start:end] * 2, text[:20]])
        text = text[:start] + piece + (b"" if rng.random() < 0.1 else text[end:])
    return text


@pytest.mark.parametrize("suffix", [".json", ".graphml", ".cypher"])
def test_damaged_files(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"g{suffix}"
    save_graph(EXAMPLE, path)
    _fuzz(path, path)


@pytest.mark.parametrize("name", ["nodes-Captain-Person.csv", "relationships-CARRIED.csv", "import.yaml"])
def test_damaged_folders(name: str, tmp_path: Path) -> None:
    save_graph(EXAMPLE, tmp_path / "g")
    _fuzz(tmp_path / "g" / name, tmp_path / "g")


def _fuzz(file: Path, graph: Path) -> None:
    valid, rng = file.read_bytes(), random.Random(7)
    refused: list[str] = []
    for _ in range(ROUNDS):
        file.write_bytes(damaged(valid, rng))
        begun = time.thread_time()
        try:
            load_graph(graph)
        except ConfigError as error:
            refused.append(str(error))
        assert time.thread_time() - begun < 1
    assert len(refused) > ROUNDS / 10
    assert all(graph.name in message for message in refused)
