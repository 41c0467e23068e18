"""Options that several commands share."""

import inspect
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

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
Apart = Annotated[
    Path | None,
    typer.Option("--not-in", metavar="FILE", help="Trace file with which no graph and no chat may be shared."),
]

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


def _file_option(*names: str, **details: Any) -> Any:
    return typer.Option(*names, rich_help_panel="How the graph file is read", **details)


def _field_option(name: str, help: str) -> Any:
    return Annotated[str | None, _file_option(name, metavar="FIELD", help=help)]


_FILE_OPTIONS: dict[str, Any] = {
    "edges": Annotated[
        Path | None, _file_option("--edges", metavar="FILE", help="CSV file of the relationships of a file of nodes.")
    ],
    "key_from": _field_option("--key-from", "Field of a node with its key, by which relationships name it."),
    "name_from": _field_option("--name-from", "Field that becomes the property name of a node."),
    "label_from": _field_option("--label-from", "Field with the label of a node."),
    "type_from": _field_option("--type-from", "Field with the type of a relationship."),
    "source_from": _field_option(
        "--source-from", "Field with the node where a relationship starts; position: it has the node's place, from 0."
    ),
    "target_from": _field_option("--target-from", "Field with the node where a relationship ends, or position."),
    "undirected": Annotated[
        Literal["refuse", "both"] | None,
        _file_option("--undirected", help="Undirected edges: refuse (the default), or read in both directions."),
    ],
    "null": Annotated[
        list[str] | None, _file_option("--null", metavar="WORD", help="Word for a missing value; repeatable.")
    ],
    "skip_bad": Annotated[
        bool, _file_option("--skip-bad", help="Leave out entries that cannot be used, and count them.")
    ],
}
"""Options of a command by the fields of `FileOptions`."""
Reading = dict[str, Any]
"""The options of the user, by field of `FileOptions`."""


def reads_files(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that say how a graph file is read, in place of its parameter `reading`."""

    @wraps(command)
    def with_reading(**arguments: Any) -> None:
        reading: Reading = {}
        for name in _FILE_OPTIONS:
            value = arguments.pop(name)
            if value:
                reading[name] = value
        command(**arguments, reading=reading)

    # typer reads the options from the signature and the annotations.
    signature = inspect.signature(command)
    parameters = {}
    for name, parameter in signature.parameters.items():
        if name != "reading":
            parameters[name] = parameter
            continue
        for option, annotation in _FILE_OPTIONS.items():
            default = False if option == "skip_bad" else None
            parameters[option] = parameter.replace(name=option, annotation=annotation, default=default)
    vars(with_reading)["__signature__"] = signature.replace(parameters=list(parameters.values()))
    annotations = {**command.__annotations__, **_FILE_OPTIONS}
    del annotations["reading"]
    with_reading.__annotations__ = annotations
    return with_reading


def chosen_source(
    graph: Path | None,
    database: str | None = None,
    key: str | None = None,
    labels: list[str] | None = None,
    relationship_types: list[str] | None = None,
    reading: Reading | None = None,
) -> "GraphSource":
    """Return the graph that the options name, else the last one loaded by `db load`, else the whole database.

    `labels` and `relationship_types` restrict it. `reading` has fields of `FileOptions`.
    Raise ConfigError for options that do not fit together, or if no Neo4j is known; StoreError if Neo4j cannot be
    reached.
    """
    from graphwalk.config.graph_source import GraphSource
    from graphwalk.config.strict import validate

    options: dict[str, Any] = {"file": graph, "neo4j": database, "key": key}
    options |= reading or {}
    options |= {"labels": _names(labels), "relationship_types": _names(relationship_types)}

    fields: dict[str, Any] = {}
    for name, value in options.items():
        if isinstance(value, Path) and value.exists():
            value = value.resolve()
        if value is not None:
            fields[name] = value
    if graph is None and database is None:
        fields |= _default_neo4j()
    return validate(GraphSource, fields, "the graph")


def _names(texts: list[str] | None) -> tuple[str, ...] | None:
    """Return the names in texts that separate them by commas: ["Person,City", "Film"] has three."""
    if not texts:
        return None
    names: list[str] = []
    for text in texts:
        names.extend(name.strip() for name in text.split(","))
    return tuple(names)


def _default_neo4j() -> dict[str, str]:
    from graphwalk.stores.neo4j.loaded import db_last
    from graphwalk.stores.neo4j.local_server import local_server

    variables = read_variables()
    if not (variables.get("NEO4J_URI") or local_server(variables)):
        raise ConfigError(
            "no graph given, and no Neo4j is known",
            hint="--graph FILE; or  graphwalk db up && graphwalk db load FILE;  or set NEO4J_URI and NEO4J_PASSWORD",
        )
    last_load = run_async(db_last(variables))
    if last_load is not None:
        return {"loaded": last_load.scope}
    return {"neo4j": variables.get("NEO4J_DATABASE") or "neo4j"}
