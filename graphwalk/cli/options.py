"""Options that several commands share."""

import csv
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from graphwalk.errors import ConfigError
from graphwalk.terminal import run_async
from graphwalk.variables import read_variables

if TYPE_CHECKING:
    from graphwalk.config.graph_source import GraphSource


Run = Annotated[Path, typer.Argument(help="Run folder.")]
RunOrFile = Annotated[Path, typer.Argument(help="Run folder or published run.")]
Models = Annotated[list[str] | None, typer.Option("--model", "-m", help="Only this model; repeatable.")]
SettingNames = Annotated[list[str] | None, typer.Option("--setting", help="Only this setting; repeatable.")]
Override = Annotated[
    list[str] | None,
    typer.Option("-o", metavar="KEY=VALUE", help="Override a field of the experiment; repeatable."),
]
Seed = Annotated[int, typer.Option(help="Random seed.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


GraphFile = Annotated[
    Path | None,
    typer.Option("--graph", metavar="FILE", help="Graph file: JSON, GraphML or CSV, or a folder of CSV."),
]
DatabaseName = Annotated[
    str | None,
    typer.Option(
        "--database",
        metavar="NAME",
        help="Existing Neo4j database, at NEO4J_URI or started by `graphwalk db up`.",
    ),
]

Edges = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="CSV file of the relationships, if --graph is one of nodes."),
]
Undirected = Annotated[
    Literal["refuse", "both"] | None,
    typer.Option(help="Undirected edges of the file: refuse (the default), or read in both directions."),
]
Labels = Annotated[
    list[str] | None,
    typer.Option("--labels", metavar="A,B", help="Include only nodes with one of these labels; repeatable."),
]
RelationshipTypes = Annotated[
    list[str] | None,
    typer.Option("--relationship-types", metavar="A,B", help="Include only relationships of these types; repeatable."),
]


KeyProperty = Annotated[
    str | None,
    typer.Option(
        "--key",
        metavar="PROPERTY",
        help="Property that names a node of --database (default: a unique one, else the id).",
    ),
]


def chosen_source(
    graph: Path | None,
    database: str | None = None,
    key: str | None = None,
    labels: list[str] | None = None,
    relationship_types: list[str] | None = None,
    **file_options: str | Path | None,
) -> "GraphSource":
    """Return the graph that the options name, else the last one loaded by `db load`, else the whole database.

    `labels` and `relationship_types` restrict it; a name that contains a comma needs double quotes. `file_options` are
    fields of `FileOptions`; None is the default. Raise ConfigError if both a file and a database are given, the file
    does not exist, or no Neo4j is known. Raise StoreError if Neo4j cannot be reached.
    """
    from graphwalk.config.graph_source import EXAMPLE, GraphSource

    if key is not None and database is None:
        raise ConfigError("--key needs --database", hint="--database neo4j --key PROPERTY")
    if graph is not None and database is not None:
        raise ConfigError("--graph and --database cannot be combined", hint="pass one of them")
    chosen = {
        name: value.resolve() if isinstance(value, Path) else value
        for name, value in file_options.items()
        if value is not None
    }
    if chosen and graph is None:
        raise ConfigError(f"--{min(chosen).replace('_', '-')} needs --graph", hint="--graph FILE")
    if graph is not None and (graph.exists() or str(graph) == EXAMPLE):
        source = GraphSource.model_validate({"file": graph.resolve() if graph.exists() else graph, **chosen})
    elif graph is not None:
        address = re.match(r"[\w+]{2,}:/", str(graph))  # of whose slashes a path keeps one
        hint = "for a server set NEO4J_URI and pass --database NAME" if address else ""
        raise ConfigError(f"no file {graph}", hint=hint or "check the path; --graph example is the included graph")
    elif database is not None:
        source = GraphSource(neo4j=database, key=key)
    else:
        source = _default_neo4j()
    restrictions = {"labels": labels, "relationship_types": relationship_types}
    return source.model_copy(
        update={
            field: tuple(name.strip() for line in csv.reader(names, skipinitialspace=True) for name in line)
            for field, names in restrictions.items()
            if names
        }
    )


def _default_neo4j() -> "GraphSource":
    from graphwalk.config.graph_source import GraphSource
    from graphwalk.stores.neo4j.loaded import db_last
    from graphwalk.stores.neo4j.local_server import local_server

    variables = read_variables()
    if not (variables.get("NEO4J_URI") or local_server(variables)):
        raise ConfigError(
            "no graph given, and no Neo4j is known",
            hint="--graph FILE; or  graphwalk db up && graphwalk db load FILE;  or set NEO4J_URI and NEO4J_PASSWORD",
        )
    loaded = run_async(db_last(variables))
    if loaded is not None:
        return GraphSource(loaded=loaded.scope)
    return GraphSource(neo4j=variables.get("NEO4J_DATABASE") or "neo4j")
