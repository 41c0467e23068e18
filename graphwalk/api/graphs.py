"""Generate, read and write property graphs."""

from pathlib import Path
from typing import Any

from graphwalk.background import run_in_background
from graphwalk.config.graph_source import FileOptions
from graphwalk.config.strict import validate
from graphwalk.graphs import generate
from graphwalk.graphs.files import load_graph, save_graph
from graphwalk.graphs.generate import GraphSpec
from graphwalk.graphs.graph import PropertyGraph
from graphwalk.stores.open import AnyGraph, graph_in_memory
from graphwalk.suites.mazes import generate as mazes
from graphwalk.suites.mazes.generate import MazeSpec


def generate_graph(preset: str | None = None, *, seed: int = 0, index: int = 0, **fields: Any) -> PropertyGraph:
    """Generate a random property graph with meaningless names; same arguments, same graph.

    `preset`: "paper-100", "paper-150", "paper-200" or "paper-500". `index`: number in the series of the seed. `fields`
    override the preset, as in an experiment: `nodes`, `labels`, `relationship_types`, `properties`, `values`,
    `mean_degree`, `density`, `missing_rate`, …

    Raise ConfigError for an invalid field or value.
    """
    spec_fields = fields if preset is None else {"preset": preset, **fields}
    return generate.generate_graph(validate(GraphSpec, spec_fields, "generate_graph"), seed, index)


def generate_maze(*, seed: int = 0, index: int = 0, **fields: Any) -> mazes.Maze:
    """Generate a grid maze, the same for the same arguments on every machine.

    `fields` are `size` (cells on a side), `walls` (share of the cells), `min_path` (fewest steps from start to goal)
    and `generator`. The maze has `start` and `goal`; `maze_graph` makes a graph of it.

    ConfigError for an impossible maze.
    """
    return mazes.generate_maze(validate(MazeSpec, fields, "generate_maze"), seed, index)


def read_graph(path: Path | str, **options: Any) -> PropertyGraph:
    """Read a graph from a .json, .graphml or .csv file, or a folder of CSV files.

    "example" is the graph shipped with GraphWalk. Where the fields of the file have other names than usual, `key_from`,
    `name_from`, `label_from`, `type_from`, `source_from` and `target_from` name them. `edges` is the CSV file of the
    relationships, if `path` is one of nodes. `undirected="both"` reads undirected edges in both directions,
    `null=["NA"]` has words for missing values, `skip_bad=True` leaves out entries that cannot be used.

    Raise ConfigError if the file or an option is invalid.
    """
    return load_graph(path, validate(FileOptions, options, "read_graph"))


def write_graph(graph: AnyGraph, path: Path | str) -> None:
    """Write a graph as .json or .graphml, or as a folder of CSV files where the name has no suffix.

    `graph`: in any form that `open_store` takes. The same bytes for the same graph, and every file whole or not at all.
    """
    save_graph(run_in_background(graph_in_memory(graph)), path)
