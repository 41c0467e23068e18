"""The proof that an export is what its manifest says, and that its splits share no data point.

Nothing is taken from the manifest but names, counts and digests: graph, weights and source are read back from the
problem statement of every chat, the text that a model is trained on.
"""

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from pydantic import TypeAdapter
from typing_extensions import TypedDict  # pydantic needs this one below Python 3.12

from graphwalk.console import counted
from graphwalk.errors import ConfigError
from graphwalk.graphs.files.json_values import parse_json
from graphwalk.suites.magma.export import MANIFEST

_NODES = re.compile(r"its nodes are the numbers 0 to (\d+)\.")
_EDGES = re.compile(r"^Edges: (\[.*\])$", re.MULTILINE)
_EDGE = re.compile(r"\((\d+), (\d+)(?:, ([\d.]+))?\)")
_SOURCE = re.compile(r"^Source: (\d+)$", re.MULTILINE)
_ROLES = {"system", "user", "assistant"}


@dataclass(frozen=True, slots=True)
class DataPoint:
    """What makes a data point: nodes, edges with their weights as they are written ("" for none), source if any."""

    n: int
    edges: tuple[tuple[int, int, str], ...]
    source: int | None

    @property
    def graph(self) -> tuple[int, tuple[tuple[int, int], ...]]:
        """Without weights and source."""
        return self.n, tuple((i, j) for i, j, _ in self.edges)


@dataclass(frozen=True)
class Verification:
    """What was found in an export: per split, how many chats, distinct data points and distinct graphs."""

    chats: dict[str, int]
    data_points: dict[str, int]
    graphs: dict[str, int]


def verify_export(folder: Path) -> Verification:
    """Read every line of an export. ConfigError names the file and line that breaks a promise:

    digests and counts differ from the manifest; a line is not a chat of system, user and assistant; a chat stands there
    twice; a data point, or its graph with other weights or another source, stands in two splits.
    """
    chats: dict[str, int] = {}
    seen: dict[str, dict[DataPoint, str]] = {}
    lines: dict[bytes, str] = {}
    for entry in _manifest(folder):
        split = entry["split"]
        for place, line in _lines(folder, entry):
            if place != (first := lines.setdefault(hashlib.sha256(line.encode()).digest(), place)):
                raise ConfigError(f"the same chat twice: {first} and {place}")
            point = _data_point(_checked_messages(line, place), place)
            chats[split] = chats.get(split, 0) + 1
            seen.setdefault(split, {}).setdefault(point, place)
    graphs = {split: {point.graph: place for point, place in points.items()} for split, points in seen.items()}
    for one, other in combinations(graphs, 2):
        for graph in graphs[one].keys() & graphs[other].keys():
            raise ConfigError(f"the same graph in two splits: {graphs[one][graph]} and {graphs[other][graph]}")
    return Verification(
        chats, {split: len(points) for split, points in seen.items()}, {split: len(g) for split, g in graphs.items()}
    )


class _File(TypedDict):
    file: str
    sha256: str
    chats: int
    split: str


_FILES = TypeAdapter(list[_File])


def _manifest(folder: Path) -> list[_File]:
    path = folder / MANIFEST
    try:
        return _FILES.validate_python(parse_json(path.read_text(encoding="utf-8"))["files"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise ConfigError(f"{path}: no manifest of an export: {error}") from error


def _lines(folder: Path, entry: _File) -> Iterator[tuple[str, str]]:
    """(file:line, text) of every chat of a file that is as the manifest says."""
    path = folder / entry["file"]
    try:
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: named in the manifest and not readable: {error}") from error
    if hashlib.sha256(data).hexdigest() != entry["sha256"]:
        raise ConfigError(f"{path}: its digest is not that of the manifest")
    lines = data.decode().splitlines()
    if len(lines) != entry["chats"]:
        raise ConfigError(f"{path}: {counted(len(lines), 'chat')}, the manifest says {entry['chats']}")
    for number, line in enumerate(lines, start=1):
        yield f"{path}:{number}", line


def _checked_messages(line: str, place: str) -> list[dict[str, str]]:
    """The messages of a chat: a system message, then user and assistant in turn, the assistant last."""
    try:
        record = json.loads(line)
        messages: list[dict[str, str]] = record["messages"]
        good = set(record) == {"messages"} and all(_is_message(message) for message in messages)
        roles = [message["role"] for message in messages]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ConfigError(f"{place}: not a chat: {error}") from error
    turns = len(roles) // 2
    if not good or turns == 0 or roles != ["system", *["user", "assistant"] * turns]:
        raise ConfigError(f"{place}: not a chat of system, user and assistant messages")
    return messages


def _is_message(message: dict[str, str]) -> bool:
    return set(message) == {"role", "content"} and isinstance(message["content"], str) and message["role"] in _ROLES


def _data_point(messages: list[dict[str, str]], place: str) -> DataPoint:
    text = messages[1]["content"]
    nodes, edges, source = _NODES.search(text), _EDGES.search(text), _SOURCE.search(text)
    if nodes is None or edges is None:
        raise ConfigError(f"{place}: no graph in the problem statement")
    listed = tuple((int(i), int(j), weight) for i, j, weight in _EDGE.findall(edges[1]))
    return DataPoint(int(nodes[1]) + 1, listed, int(source[1]) if source else None)
