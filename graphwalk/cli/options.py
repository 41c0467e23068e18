"""Options that several commands share."""

import csv
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from graphwalk.cli.help import Group, as_command
from graphwalk.errors import ConfigError, did_you_mean
from graphwalk.terminal.console import say
from graphwalk.terminal.signals import run_async
from graphwalk.variables import Variables, read_variables

if TYPE_CHECKING:
    from graphwalk.config.graph_source import GraphSource


ModelArguments = Annotated[
    list[str] | None,
    typer.Option("-M", metavar="KEY=VALUE", help="Extra keyword argument for the model's constructor; repeatable."),
]
BaseUrl = Annotated[
    str | None, typer.Option("--base-url", metavar="URL", help="Base URL of an OpenAI-compatible server.")
]
SERVER = "local"
"""Name of the server of models without a provider."""


def models_and_servers(
    named: Sequence[str] | None, base_url: str | None, variables: Variables
) -> tuple[list[str] | None, dict[str, str] | None]:
    """Return the models to run (None: those of the experiment), and the base URLs of their servers.

    With `base_url`, a model without a provider is served there. GRAPHWALK_MODEL is the default model.
    """
    if base_url is None:
        return list(named) if named else None, None
    models = list(named) if named else [variables.model] if variables.model else []
    if not models:
        raise ConfigError("--base-url requires a model", hint="-m NAME --base-url URL")
    from graphwalk.models.openai_servers import check_address, server_name
    from graphwalk.models.registry import EPISODE_PROVIDERS, PROVIDERS

    check_address("--base-url", base_url)
    providers = (*PROVIDERS.names(), *EPISODE_PROVIDERS)
    models = [name if name.partition("/")[0] in providers else f"openai-api/{SERVER}/{name}" for name in models]
    called = [name for name in models if not name.startswith(("scripted/", "replay/"))]
    if others := [name for name in called if server_name(name) is None]:
        raise ConfigError(f"--base-url works with OpenAI-compatible servers only, not with {others[0]}")
    servers = {str(server_name(name)) for name in called}
    if not servers:
        raise ConfigError(f"--base-url: {', '.join(models)} has no server", hint="-m NAME --base-url URL")
    return models, dict.fromkeys(sorted(servers), base_url)


def arguments_of(models: Sequence[str] | None, words: Sequence[str] | None) -> dict[str, dict[str, Any]] | None:
    """Return the constructor arguments (`-M key=value`) by model, or None if there are none."""
    from graphwalk.experiments.loading import parse_override

    if not words:
        return None
    if not models:
        raise ConfigError("-M requires --model", hint="-m langchain/PACKAGE.CLASS/MODEL -M key=value")
    arguments = dict(parse_override(one, "-M") for one in words)
    return dict.fromkeys(models, arguments)


Run = Annotated[Path, typer.Argument(help="Run folder.")]
RunOrFile = Annotated[Path, typer.Argument(help="Run folder or published run.")]
Models = Annotated[list[str] | None, typer.Option("--model", "-m", help="Only this model; repeatable.")]
SettingNames = Annotated[list[str] | None, typer.Option("--setting", help="Only this setting; repeatable.")]
Questions = Annotated[
    list[str] | None,
    typer.Option("--question", help="Question kind, by name or YAML file; repeatable."),
]
ToolProtocol = Annotated[
    Literal["native", "text", "json", "auto"] | None,
    typer.Option("--tool-protocol", help="Tool calls: native, in text, json (held to a JSON schema), or auto."),
]
Override = Annotated[
    list[str] | None,
    typer.Option("-o", metavar="KEY=VALUE", help="Override a field of the experiment; repeatable."),
]
Seed = Annotated[int, typer.Option(help="Random seed.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


GraphFile = Annotated[
    Path | None,
    typer.Option("--graph", metavar="FILE", help="Graph file: JSON or GraphML, or a folder of CSV."),
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


def part_of(source: "GraphSource", labels: list[str] | None, relationship_types: list[str] | None) -> "GraphSource":
    """Return the source restricted to labels and types. A name that contains a comma needs double quotes."""
    chosen = {"labels": labels, "relationship_types": relationship_types}
    return source.model_copy(
        update={
            field: tuple(name.strip() for line in csv.reader(names, skipinitialspace=True) for name in line)
            for field, names in chosen.items()
            if names
        }
    )


def chosen_source(graph: Path | None, database: str | None) -> "GraphSource":
    """Return the graph that the options name, else the last one loaded by `db load`, else the whole database.

    Raise ConfigError if both are given, the file does not exist, or no Neo4j is known. Raise StoreError if Neo4j
    cannot be reached.
    """
    from graphwalk.config.graph_source import EXAMPLE, GraphSource

    if graph is not None and database is not None:
        raise ConfigError("--graph and --database cannot be combined", hint="pass one of them")
    if graph is not None:
        if str(graph) == EXAMPLE and not graph.exists():
            return GraphSource(file=graph)
        if str(graph).startswith(("http:", "https:")):
            raise ConfigError(f"--graph takes a file, not the address {graph}", hint="download it, and name the file")
        if not graph.exists():
            close = did_you_mean(str(graph), [EXAMPLE])
            raise ConfigError(f"no file {graph}{close}", hint="check the path; --graph example is the included graph")
        return GraphSource(file=graph.resolve())
    if database is not None:
        if not database.strip():
            raise ConfigError("--database is empty", hint="pass the name of a database: --database neo4j")
        if "://" in database:
            raise ConfigError(
                "--database takes the name of a database, not an address",
                hint="set NEO4J_URI to the address",
            )
        return GraphSource(neo4j=database)
    return _known_neo4j()


def _known_neo4j() -> "GraphSource":
    import graphwalk.database as database
    from graphwalk.config.graph_source import GraphSource
    from graphwalk.stores.neo4j.local_server import local_server

    variables = read_variables()
    if not (variables.neo4j_uri or local_server(variables)):
        raise ConfigError(
            "no graph given, and no Neo4j is known",
            hint="--graph FILE; or  graphwalk db up && graphwalk db load FILE;  or set NEO4J_URI and NEO4J_PASSWORD",
        )
    loaded = run_async(database.loaded_last(variables))
    if loaded is not None:
        return GraphSource(loaded=loaded.scope)
    return GraphSource(neo4j=variables.neo4j_database or "neo4j")


def suite_group(kind: str) -> type[Group]:
    """Return a class of groups that also contain the commands in `kind` of every suite's commands module."""

    class SuiteGroup(Group):
        def list_commands(self, ctx: Any) -> list[str]:
            return [*super().list_commands(ctx), *_commands(kind)]

        def get_command(self, ctx: Any, cmd_name: str) -> Any:
            return super().get_command(ctx, cmd_name) or _commands(kind).get(cmd_name)

    return SuiteGroup


@cache
def _commands(kind: str) -> dict[str, Any]:
    """Return the commands by name. A plugin suite that cannot be imported is skipped with a warning."""
    from graphwalk.suites.registry import SUITES, suite_class

    commands: dict[str, Any] = {}
    for name in SUITES.names():
        try:
            module = suite_class(name).commands
        except ConfigError as error:
            say(f"warning: {error}")
            continue
        functions = {} if module is None else getattr(import_module(module), kind, {})
        commands |= {command: as_command(function, command) for command, function in functions.items()}
    return commands
