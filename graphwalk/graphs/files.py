"""Graph files of every format, chosen by their suffix; a folder holds CSV files in the layout of Neo4j's importer."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from graphwalk.config.graph_source import EXAMPLE, FileOptions
from graphwalk.config.resources import data_path
from graphwalk.errors import ConfigError
from graphwalk.graphs.formats.common import header, write_lines
from graphwalk.graphs.formats.csv import SUFFIXES, read_csv, write_csv_folder
from graphwalk.graphs.formats.graphml import graphml_lines, read_graphml
from graphwalk.graphs.formats.json import json_lines, read_json
from graphwalk.graphs.graph import PropertyGraph


class GraphFormat(NamedTuple):
    read: Callable[[Path, FileOptions], PropertyGraph]
    write: Callable[[PropertyGraph, Path], None]


def _write_json(graph: PropertyGraph, path: Path) -> None:
    write_lines(path, json_lines(graph, header(graph)))


def _write_graphml(graph: PropertyGraph, path: Path) -> None:
    write_lines(path, graphml_lines(graph, header(graph)))


FOLDER = ""
"""The key of the format that is a folder: a name without a suffix."""
FORMATS = {
    ".json": GraphFormat(read_json, _write_json),
    ".graphml": GraphFormat(read_graphml, _write_graphml),
    FOLDER: GraphFormat(read_csv, write_csv_folder),
}


def load_graph(path: Path | str, options: FileOptions | None = None) -> PropertyGraph:
    """Return the graph in a file or folder; "example" is the one that ships with GraphWalk.

    ConfigError that names the file and what is wrong with it.
    """
    path = Path(path)
    if str(path) == EXAMPLE and not path.exists():
        path = data_path("templates") / "graphs" / "harbour.json"
    options = options or FileOptions()
    if path.suffix.lower() in SUFFIXES and not path.is_dir():
        return read_csv(path, options)
    if options.edges is not None:
        raise ConfigError(f"{path}: only a CSV file of nodes has another one of edges", hint="--graph nodes.csv")
    return graph_format(path).read(path, options)


def save_graph(graph: PropertyGraph, path: Path | str) -> None:
    """Write a graph: the same bytes for the same graph, and whole or not at all.

    Raise ConfigError for what the format cannot hold, as control characters in XML.
    """
    graph_format(Path(path)).write(graph, Path(path))


def graph_format(path: Path) -> GraphFormat:
    """Return the format of a file or folder. Raise ConfigError if there is none."""
    form = FORMATS.get(path.suffix.lower())
    # A folder may be called `graphs.v2`.
    if form is None and path.is_dir():
        form = FORMATS[FOLDER]
    if form is None:
        suffixes = ", ".join(suffix for suffix in FORMATS if suffix)
        raise ConfigError(
            f"{path}: no graph format has the suffix {path.suffix!r}",
            hint=f"use one of {suffixes}, or a folder of CSV files (one .csv is read, not written)",
        )
    return form
