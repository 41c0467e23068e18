"""Graph files of every format, chosen by their suffix."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from graphwalk.errors import ConfigError
from graphwalk.graphs.files.cypher_script import read_cypher, write_cypher
from graphwalk.graphs.files.graphml_reader import read_graphml
from graphwalk.graphs.files.graphml_writer import write_graphml
from graphwalk.graphs.files.json_form import read_json, write_json
from graphwalk.types.graph import PropertyGraph


@dataclass(frozen=True, slots=True)
class GraphFormat:
    read: Callable[[Path], PropertyGraph]
    write: Callable[[PropertyGraph, Path], None]


FORMATS = {
    ".json": GraphFormat(read_json, write_json),
    ".graphml": GraphFormat(read_graphml, write_graphml),
    ".cypher": GraphFormat(read_cypher, write_cypher),
}


def load_graph(path: Path | str) -> PropertyGraph:
    """The graph in a file. ConfigError that names the file and what is wrong with it."""
    path = Path(path)
    return graph_format(path).read(path)


def save_graph(graph: PropertyGraph, path: Path | str) -> None:
    """Write a graph: the same bytes for the same graph, and whole or not at all."""
    path = Path(path)
    graph_format(path).write(graph, path)


def graph_format(path: Path) -> GraphFormat:
    """The format that a file name asks for; ConfigError if there is none, before any work is done."""
    found = FORMATS.get(path.suffix.lower())
    if found is None:
        raise ConfigError(
            f"{path}: no graph format has the suffix {path.suffix!r}", hint=f"use one of {', '.join(FORMATS)}"
        )
    return found
