"""Making, reading and writing property graphs."""

from numbers import Integral
from pathlib import Path
from typing import Any

from graphwalk.asynchronous import run_in_background
from graphwalk.config.yaml_files import validate
from graphwalk.database.scripts import read_any
from graphwalk.graphs import generate
from graphwalk.graphs.conversion import from_networkx, from_pandas, to_networkx
from graphwalk.graphs.files import save_graph
from graphwalk.graphs.formats.common import Undirected
from graphwalk.graphs.generate import GraphSpec
from graphwalk.settings import read_settings
from graphwalk.suites.mazes import generate as mazes
from graphwalk.suites.mazes.config import MazeSpec
from graphwalk.suites.mazes.graph import maze_graph
from graphwalk.types.check_type import PATH, check_type
from graphwalk.types.graph import PropertyGraph

__all__ = [
    "from_networkx",
    "from_pandas",
    "generate_graph",
    "generate_maze",
    "maze_graph",
    "read_graph",
    "to_networkx",
    "write_graph",
]


def generate_graph(preset: str | None = None, *, seed: int = 0, index: int = 0, **fields: Any) -> PropertyGraph:
    """A random property graph with meaningless names: the same for the same arguments, on every machine.

    `preset` is "paper-100", "paper-150", "paper-200" or "paper-500"; `index` numbers the graphs of one seed. `fields`
    are those of an experiment's graphs, on top of the preset: `nodes`, `labels`, `relationship_types`, `properties`,
    `values`, `mean_degree`, `density`, `missing_rate`, … ConfigError for a field or a value that cannot be.
    """
    check_type("preset", preset, str, optional=True)
    check_type("seed", seed, Integral)
    check_type("index", index, Integral)
    given = fields if preset is None else {"preset": preset, **fields}
    return generate.generate_graph(validate(GraphSpec, given, "generate_graph"), seed, index)


def generate_maze(*, seed: int = 0, index: int = 0, **fields: Any) -> mazes.Maze:
    """Generate a grid maze, the same for the same arguments on every machine.

    `fields` are `size` (cells on a side), `walls` (share of the cells), `min_path` (fewest steps from start to goal)
    and `generator`. The maze has `start` and `goal`; `maze_graph` makes a graph of it.

    ConfigError for an impossible maze.
    """
    check_type("seed", seed, Integral)
    check_type("index", index, Integral)
    return mazes.generate_maze(validate(MazeSpec, fields, "generate_maze"), seed, index)


def read_graph(path: Path | str, undirected: Undirected = "refuse") -> PropertyGraph:
    """The graph in a .json, .graphml or .cypher file, packed (.gz) or not, or in a folder of CSV files.

    "example" is the graph that ships with GraphWalk. A Cypher script of somebody's own is run by a Neo4j that is
    started for it alone. `undirected="both"` reads undirected edges both ways. ConfigError that names the file and what
    is wrong with it; StoreError where a Neo4j is needed and cannot be had.
    """
    check_type("path", path, *PATH)
    return run_in_background(read_any(Path(path), read_settings(), undirected))


def write_graph(graph: PropertyGraph, path: Path | str) -> None:
    """Write a graph as .json, .graphml or .cypher, or as a folder of CSV files where the name has no suffix.

    The same bytes for the same graph, and every file whole or not at all.
    """
    check_type("graph", graph, PropertyGraph)
    check_type("path", path, *PATH)
    save_graph(graph, path)
