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
    """The graph that the options name. ConfigError unless it is one."""
    if graph is not None and database is not None:
        raise ConfigError("--graph and --database name two graphs", hint="give one of them")
    if graph is not None:
        if not graph.exists():
            raise ConfigError(f"there is no file {graph}", hint="graphwalk generate graph --out FILE makes one")
        return GraphSource(file=graph.resolve())
    if database is not None and database.strip():
        return GraphSource(neo4j=database)
    raise ConfigError("no graph is named", hint="--graph FILE, or --database NAME of your Neo4j")
