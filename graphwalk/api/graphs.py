"""Making, reading and writing property graphs."""

from pathlib import Path
from typing import Any

from graphwalk.config.yaml_files import validate
from graphwalk.graphs.files.formats import load_graph, save_graph
from graphwalk.graphs.networkx_form import from_networkx, to_networkx
from graphwalk.graphs.random import generate
from graphwalk.graphs.random.spec import GraphSpec
from graphwalk.types.graph import PropertyGraph

__all__ = ["from_networkx", "generate_graph", "read_graph", "to_networkx", "write_graph"]


def generate_graph(preset: str | None = None, *, seed: int = 0, index: int = 0, **fields: Any) -> PropertyGraph:
    """A random property graph with meaningless names: the same for the same arguments, on every machine.

    `preset` is "paper-100", "paper-150", "paper-200" or "paper-500"; `index` numbers the graphs of one seed. `fields`
    are those of an experiment's graphs, on top of the preset: `nodes`, `labels`, `relationship_types`, `properties`,
    `values`, `mean_degree`, `density`, `missing_rate`, … ConfigError for a field or a value that cannot be.
    """
    given = fields if preset is None else {"preset": preset, **fields}
    return generate.generate_graph(validate(GraphSpec, given, "generate_graph"), seed, index)


def read_graph(path: Path | str) -> PropertyGraph:
    """The graph in a .json, .graphml or .cypher file. ConfigError that names the file and what is wrong with it."""
    return load_graph(path)


def write_graph(graph: PropertyGraph, path: Path | str) -> None:
    """Write a graph as .json, .graphml or .cypher: the same bytes for the same graph, and whole or not at all."""
    save_graph(graph, path)
