"""Which graph of somebody's own a command is about: the two options, and what they mean together."""

import csv
from pathlib import Path
from typing import Annotated

import typer

from graphwalk.asynchronous import run_async
from graphwalk.config.graph_source import EXAMPLE, GraphSource
from graphwalk.environment import read_environment
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

Labels = Annotated[
    list[str] | None,
    typer.Option("--labels", metavar="A,B", help="Show only nodes with one of these labels; repeatable."),
]
RelationshipTypes = Annotated[
    list[str] | None,
    typer.Option("--relationship-types", metavar="A,B", help="Show only relationships of these types; repeatable."),
]


def part_of(source: GraphSource, labels: list[str] | None, relationship_types: list[str] | None) -> GraphSource:
    """The part of a graph that the options keep. A name with a comma in it is written in double quotes."""
    chosen = {"labels": labels, "relationship_types": relationship_types}
    return source.model_copy(update={field: _names(given) for field, given in chosen.items() if given})


def _names(given: list[str]) -> tuple[str, ...]:
    return tuple(name.strip() for line in csv.reader(given, skipinitialspace=True) for name in line)


def chosen_source(graph: Path | None, database: str | None) -> GraphSource:
    """The graph that the options name; neither: the one that `db load` loaded last, else the database as it stands.

    ConfigError where both are given, the file is not there, or nothing is named and no Neo4j is known; StoreError
    where that Neo4j does not answer.
    """
    if graph is not None and database is not None:
        raise ConfigError("--graph and --database name two graphs", hint="give one of them")
    if graph is not None:
        if str(graph) == EXAMPLE and not graph.exists():
            return GraphSource(file=graph)
        if not graph.exists():
            raise ConfigError(f"there is no file {graph}", hint="graphwalk generate graph --out FILE makes one")
        return GraphSource(file=graph.resolve())
    if database is not None:
        if not database.strip():
            raise ConfigError("--database is empty", hint="give the name of a database, such as neo4j")
        return GraphSource(neo4j=database)
    return _known_neo4j()


def _known_neo4j() -> GraphSource:
    from graphwalk import database
    from graphwalk.stores.neo4j.local_server import compose_server, read_state

    environment = read_environment()
    if not (environment.neo4j_uri or read_state(environment) or compose_server(environment)):
        raise ConfigError(
            "no graph is named, and no Neo4j is known",
            hint="--graph FILE; or  graphwalk db up && graphwalk db load FILE;  or set NEO4J_URI and NEO4J_PASSWORD",
        )
    loaded = run_async(database.loaded_last(environment))
    if loaded is not None:
        return GraphSource(loaded=loaded.scope)
    return GraphSource(neo4j=environment.neo4j_database or "neo4j")
