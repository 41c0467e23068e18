"""Making, reading and writing property graphs."""

from pathlib import Path
from typing import Any

from graphwalk.asynchronous import run_in_background
from graphwalk.config.yaml_files import validate
from graphwalk.database.files import read_any
from graphwalk.environment import read_environment
from graphwalk.graphs.files.formats import save_graph
from graphwalk.graphs.files.undirected import Undirected
from graphwalk.graphs.networkx_form import from_networkx, to_networkx
from graphwalk.graphs.pandas_form import from_pandas
from graphwalk.graphs.random import generate
from graphwalk.graphs.random.spec import GraphSpec
from graphwalk.types.graph import PropertyGraph

__all__ = ["from_networkx", "from_pandas", "generate_graph", "read_graph", "to_networkx", "write_graph"]


def generate_graph(preset: str | None = None, *, seed: int = 0, index: int = 0, **fields: Any) -> PropertyGraph:
    """A random property graph with meaningless names: the same for the same arguments, on every machine.

    `preset` is "paper-100", "paper-150", "paper-200" or "paper-500"; `index` numbers the graphs of one seed. `fields`
    are those of an experiment's graphs, on top of the preset: `nodes`, `labels`, `relationship_types`, `properties`,
    `values`, `mean_degree`, `density`, `missing_rate`, … ConfigError for a field or a value that cannot be.
    """
    given = fields if preset is None else {"preset": preset, **fields}
    return generate.generate_graph(validate(GraphSpec, given, "generate_graph"), seed, index)


def read_graph(path: Path | str, undirected: Undirected = "refuse") -> PropertyGraph:
    """The graph in a .json, .graphml or .cypher file, packed (.gz) or not, or in a folder of CSV files.

    "example" is the graph that ships with GraphWalk. A Cypher script of somebody's own is run by a Neo4j that is
    started for it alone. `undirected="both"` reads undirected edges both ways. ConfigError that names the file and what
    is wrong with it; StoreError where a Neo4j is needed and cannot be had.
    """
    return run_in_background(read_any(Path(path), read_environment(), undirected))


def write_graph(graph: PropertyGraph, path: Path | str) -> None:
    """Write a graph as .json, .graphml or .cypher, or as a folder of CSV files where the name has no suffix.

    The same bytes for the same graph, and every file whole or not at all.
    """
    save_graph(graph, path)
