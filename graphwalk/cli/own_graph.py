"""Which graph of somebody's own a command is about: the two options, and what they mean together."""

from pathlib import Path
from typing import Annotated

import typer

from graphwalk.config.graph_source import GraphSource
from graphwalk.errors import ConfigError

GraphFile = Annotated[
    Path | None, typer.Option("--graph", metavar="FILE", help="A graph in a file: JSON, GraphML, Cypher or CSV.")
]
DatabaseName = Annotated[
    str | None,
    typer.Option(
        "--database",
        metavar="NAME",
        help="A database as it stands, of the Neo4j at NEO4J_URI or of the one that `graphwalk db up` started.",
    ),
]


def chosen_source(graph: Path | None, database: str | None) -> GraphSource:
    """The graph that the options name. ConfigError where both are given or none, or the file is not there."""
    if (graph is None) == (database is None):
        raise ConfigError("name one graph", hint="--graph FILE, or --database NAME")
    if graph is not None:
        if not graph.exists():
            raise ConfigError(f"there is no file {graph}", hint="graphwalk generate graph --out FILE makes one")
        return GraphSource(file=graph.resolve())
    return GraphSource(neo4j=database)
