"""Models as they are named on a command line, and names that the shell can complete."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from graphwalk.environment import Environment
from graphwalk.errors import ConfigError, GraphwalkError

ModelArguments = Annotated[
    list[str] | None,
    typer.Option("-M", metavar="KEY=VALUE", help="What the class of the model is opened with besides; repeatable."),
]
SERVER = "local"
"""What the server of a model without a provider is called."""


def models_and_servers(
    named: Sequence[str] | None, base_url: str | None, environment: Environment
) -> tuple[list[str] | None, dict[str, str] | None]:
    """The models to play (None: those of the experiment), and the base URLs of their servers.

    With `base_url` a model that names no provider is one of that server; GRAPHWALK_MODEL may name it.
    """
    if base_url is None:
        return list(named) if named else None, None
    models = list(named) if named else [environment.model] if environment.model else []
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
    from graphwalk.toolbox.tool import tool_names

    return _beginning(tool_names(), incomplete)


def presets(incomplete: str) -> list[str]:
    from graphwalk.graphs.random.spec import GRAPH_PRESETS

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
    from graphwalk.runlog.listing import heads
    from graphwalk.runlog.run_folder import RunFolder

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
