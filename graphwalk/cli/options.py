"""Options that several commands share."""

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
Names = Annotated[
    list[str] | None,
    typer.Option("--name", metavar="MODEL=TEXT", help="Call a model TEXT in tables, plots and pages; repeatable."),
]
Override = Annotated[
    list[str] | None,
    typer.Option("-o", metavar="FIELD=VALUE", help="Any other field, as in an experiment; repeatable."),
]
Seed = Annotated[int, typer.Option(help="Random seed.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Protocol = Annotated[
    Literal["native", "text", "json"], typer.Option(help="Tool calls native, as text, or as JSON objects.")
]
Grounded = Annotated[bool, typer.Option("--grounded", help="Only answers fully supported by tool results.")]

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


def names_in(texts: list[str] | None) -> dict[str, str]:
    """Return model → name of options like `openai/gpt-5=GPT-5`. Raise ConfigError for another form."""
    names = {}
    for text in texts or ():
        model, _, name = text.partition("=")
        if not model or not name.strip():
            raise ConfigError(f"--name {text!r} is not MODEL=TEXT", hint='for example --name openai/gpt-5="GPT-5"')
        names[model] = name.strip()
    return names


def chosen_source(
    graph: Path | None,
    database: str | None = None,
    key: str | None = None,
    labels: list[str] | None = None,
    relationship_types: list[str] | None = None,
    **file_options: str | Path | None,
) -> "GraphSource":
    """Return the graph that the options name, else the last one loaded by `db load`, else the whole database.

    `labels` and `relationship_types` restrict it. `file_options` are fields of `FileOptions`; None is the default.
    Raise ConfigError for options that do not fit together, or if no Neo4j is known; StoreError if Neo4j cannot be
    reached.
    """
    from graphwalk.config.graph_source import GraphSource
    from graphwalk.config.strict import validate

    fields = {
        **{"file": graph, "neo4j": database, "key": key, **file_options},
        **{"labels": _names(labels), "relationship_types": _names(relationship_types)},
    }
    fields = {
        name: value.resolve() if isinstance(value, Path) and value.exists() else value
        for name, value in fields.items()
        if value is not None
    }
    if graph is None and database is None:
        fields |= _default_neo4j()
    return validate(GraphSource, fields, "the graph")


def _names(texts: list[str] | None) -> tuple[str, ...] | None:
    """Return the names in texts that separate them by commas."""
    return tuple(name.strip() for text in texts for name in text.split(",")) if texts else None


def _default_neo4j() -> dict[str, str]:
    from graphwalk.stores.neo4j.loaded import db_last
    from graphwalk.stores.neo4j.local_server import local_server

    variables = read_variables()
    if not (variables.get("NEO4J_URI") or local_server(variables)):
        raise ConfigError(
            "no graph given, and no Neo4j is known",
            hint="--graph FILE; or  graphwalk db up && graphwalk db load FILE;  or set NEO4J_URI and NEO4J_PASSWORD",
        )
    loaded = run_async(db_last(variables))
    return {"neo4j": variables.get("NEO4J_DATABASE") or "neo4j"} if loaded is None else {"loaded": loaded.scope}
