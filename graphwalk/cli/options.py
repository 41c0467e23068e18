"""Options that several commands share."""

import csv
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args, get_type_hints

import typer
from typer.core import TyperGroup
from typer.main import get_command

from graphwalk.asynchronous import run_async
from graphwalk.console import say
from graphwalk.errors import ConfigError, GraphwalkError
from graphwalk.settings import Settings, read_settings

if TYPE_CHECKING:
    from graphwalk.config.graph_source import GraphSource

Options = TypeVar("Options")


@dataclass(frozen=True)
class Sets:
    """The field of an experiment that an option sets; it stands beside the option in `Annotated`."""

    field: str


def takes(options: type[Options]) -> Callable[[Callable[[Options], None]], Callable[..., None]]:
    """Make a command of a function that takes an object: each field of its dataclass becomes an option."""

    def command(function: Callable[[Options], None]) -> Callable[..., None]:
        def run(**given: Any) -> None:
            function(options(**given))

        run.__name__, run.__doc__ = function.__name__, function.__doc__
        hints = get_type_hints(options, include_extras=True)
        run.__annotations__ = hints
        run.__signature__ = signature(options).replace(  # type: ignore[attr-defined]
            parameters=[
                parameter.replace(annotation=hints[name], kind=Parameter.KEYWORD_ONLY)
                for name, parameter in signature(options).parameters.items()
            ]
        )
        return run

    return command


def fields_set(options: Any) -> dict[str, Any]:
    """Return field of the experiment → value, for the options that set one; False sets nothing."""
    hints = get_type_hints(type(options), include_extras=True)
    named = {name: found for name, hint in hints.items() for found in get_args(hint)[1:] if isinstance(found, Sets)}
    given = {sets.field: getattr(options, name) for name, sets in named.items()}
    return {field: None if value is False else value for field, value in given.items()}


ModelArguments = Annotated[
    list[str] | None,
    typer.Option("-M", metavar="KEY=VALUE", help="What the class of the model is opened with besides; repeatable."),
]
SERVER = "local"
"""What the server of a model without a provider is called."""


def models_and_servers(
    named: Sequence[str] | None, base_url: str | None, settings: Settings
) -> tuple[list[str] | None, dict[str, str] | None]:
    """The models to play (None: those of the experiment), and the base URLs of their servers.

    With `base_url` a model that names no provider is one of that server; GRAPHWALK_MODEL may name it.
    """
    if base_url is None:
        return list(named) if named else None, None
    models = list(named) if named else [settings.model] if settings.model else []
    if not models:
        raise ConfigError("--base-url is the server of a model, and none is named", hint="-m NAME --base-url URL")
    models = [name if _has_provider(name) else f"openai-api/{SERVER}/{name}" for name in models]
    servers = {_server(name) for name in models if not name.startswith(("scripted/", "replay/"))}
    return models, dict.fromkeys(sorted(servers), base_url)


def arguments_of(models: Sequence[str] | None, given: Sequence[str] | None) -> dict[str, dict[str, Any]] | None:
    """What `-M key=value` opens the models with, by model; None where nothing is given."""
    from graphwalk.experiments.loading import parse_override

    if not given:
        return None
    if not models:
        raise ConfigError(
            "-M is for a model that is named with it", hint="-m langchain/PACKAGE.CLASS/MODEL -M key=value"
        )
    arguments = dict(parse_override(one, "-M") for one in given)
    return dict.fromkeys(models, arguments)


def _has_provider(name: str) -> bool:
    from graphwalk.models.registry import EPISODE_PROVIDERS, PROVIDERS

    return name.partition("/")[0] in (*PROVIDERS.names(), *EPISODE_PROVIDERS)


def _server(name: str) -> str:
    provider, _, rest = name.partition("/")
    if provider == "openai-api":
        return rest.partition("/")[0]
    if provider in ("openai-chat", "openai-responses"):
        return "openai"
    from graphwalk.models.openai_servers import SERVERS

    if provider in SERVERS:
        return provider
    raise ConfigError(f"--base-url is for servers that speak as OpenAI's does, and not for {name}")


def experiments(incomplete: str) -> list[str]:
    from graphwalk.experiments.loading import shipped_experiments

    return [*_beginning(shipped_experiments(), incomplete), *_files(incomplete, ".yaml", ".yml")]


def questions(incomplete: str) -> list[str]:
    from graphwalk.suites.questions.catalogue import shipped_kinds

    return _beginning(shipped_kinds(), incomplete)


def tools(incomplete: str) -> list[str]:
    from graphwalk.tools.tool import tool_names

    return _beginning(tool_names(), incomplete)


def presets(incomplete: str) -> list[str]:
    from graphwalk.graphs.generate import GRAPH_PRESETS

    return _beginning(GRAPH_PRESETS, incomplete)


def models(incomplete: str) -> list[str]:
    """Providers, with the slash that follows."""
    from graphwalk.models.registry import EPISODE_PROVIDERS, PROVIDERS

    return _beginning([f"{name}/" for name in (*PROVIDERS.names(), *EPISODE_PROVIDERS)], incomplete)


def run_folders(incomplete: str) -> list[str]:
    """Folders of runs in runs/, the newest first; others as the shell completes them."""
    found = sorted(Path("runs").glob("*/run.json"), reverse=True)
    return _beginning([str(path.parent) for path in found], incomplete)


def tasks_of_run(ctx: Any, incomplete: str) -> list[str]:
    """Tasks of the run that the same command line names."""
    from graphwalk.runs.listing import heads
    from graphwalk.runs.run_folder import RunFolder

    try:
        folder = RunFolder.open(Path(ctx.params["run"]))
        return _beginning(dict.fromkeys(str(head["task_id"]) for head in heads(folder)), incomplete)
    except (GraphwalkError, OSError, LookupError, TypeError):
        return []


def _beginning(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def _files(incomplete: str, *suffixes: str) -> list[str]:
    folder = Path(incomplete).parent
    found = [str(path) for path in folder.glob("*") if path.suffix in suffixes] if folder.is_dir() else []
    return _beginning(found, incomplete)


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


def part_of(source: "GraphSource", labels: list[str] | None, relationship_types: list[str] | None) -> "GraphSource":
    """The part of a graph that the options keep. A name with a comma in it is written in double quotes."""
    chosen = {"labels": labels, "relationship_types": relationship_types}
    return source.model_copy(update={field: _names(given) for field, given in chosen.items() if given})


def _names(given: list[str]) -> tuple[str, ...]:
    return tuple(name.strip() for line in csv.reader(given, skipinitialspace=True) for name in line)


def chosen_source(graph: Path | None, database: str | None) -> "GraphSource":
    """The graph that the options name; neither: the one that `db load` loaded last, else the database as it stands.

    ConfigError where both are given, the file is not there, or nothing is named and no Neo4j is known; StoreError
    where that Neo4j does not answer.
    """
    from graphwalk.config.graph_source import EXAMPLE, GraphSource

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


def _known_neo4j() -> "GraphSource":
    import graphwalk.database as database
    from graphwalk.config.graph_source import GraphSource
    from graphwalk.stores.neo4j.local_server import compose_server, read_state

    settings = read_settings()
    if not (settings.neo4j_uri or read_state(settings) or compose_server(settings)):
        raise ConfigError(
            "no graph is named, and no Neo4j is known",
            hint="--graph FILE; or  graphwalk db up && graphwalk db load FILE;  or set NEO4J_URI and NEO4J_PASSWORD",
        )
    loaded = run_async(database.loaded_last(settings))
    if loaded is not None:
        return GraphSource(loaded=loaded.scope)
    return GraphSource(neo4j=settings.neo4j_database or "neo4j")


def suite_group(kind: str) -> type[TyperGroup]:
    """The class of a group that holds, beside its own commands, those in `kind` of every suite's commands module."""

    class SuiteGroup(TyperGroup):
        def list_commands(self, ctx: Any) -> list[str]:
            return [*super().list_commands(ctx), *_commands(kind)]

        def get_command(self, ctx: Any, cmd_name: str) -> Any:
            return super().get_command(ctx, cmd_name) or _commands(kind).get(cmd_name)

    return SuiteGroup


@cache
def _commands(kind: str) -> dict[str, Any]:
    """Command by name. A suite of another package that cannot be imported is left out, and named."""
    from graphwalk.suites.registry import SUITES, suite_class

    app = typer.Typer(rich_markup_mode=None)
    app.callback()(lambda: None)
    for name in SUITES.names():
        try:
            module = suite_class(name).presentation.commands
        except ConfigError as error:
            say(f"warning: {error}")
            continue
        functions = {} if module is None else getattr(import_module(module), kind, {})
        for command, function in functions.items():
            app.command(command)(function)
    commands: dict[str, Any] = getattr(get_command(app), "commands", {})
    return commands
