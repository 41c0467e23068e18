"""Generate, read and write property graphs."""

from numbers import Integral
from pathlib import Path
from typing import Any

from graphwalk.asynchronous import run_in_background
from graphwalk.config.yaml_files import validate
from graphwalk.database.scripts import read_any
from graphwalk.graphs import generate
from graphwalk.graphs.files import save_graph
from graphwalk.graphs.formats.common import Undirected
from graphwalk.graphs.generate import GraphSpec
from graphwalk.settings import read_settings
from graphwalk.suites.mazes import generate as mazes
from graphwalk.suites.mazes.config import MazeSpec
from graphwalk.types.check_type import PATH, check_type
from graphwalk.types.graph import PropertyGraph


def generate_graph(preset: str | None = None, *, seed: int = 0, index: int = 0, **fields: Any) -> PropertyGraph:
    """Generate a random property graph with meaningless names; same arguments, same graph.

    `preset`: "paper-100", "paper-150", "paper-200" or "paper-500". `index`: number in the series of the seed. `fields`
    override the preset, as in an experiment: `nodes`, `labels`, `relationship_types`, `properties`, `values`,
    `mean_degree`, `density`, `missing_rate`, …

    Raise ConfigError for an invalid field or value.
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
    """Read a graph from a .json, .graphml or .cypher file (also .gz), or a folder of CSV files.

    "example" is the graph shipped with GraphWalk. A Cypher script not written by GraphWalk is executed by a temporary
    Neo4j. `undirected="both"` reads undirected edges in both directions.

    Raise ConfigError if the file is invalid, StoreError if Neo4j is needed and cannot be started.
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
