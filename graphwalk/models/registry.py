"""Open models by name: `provider/model`. Other packages add providers with a class and an entry point in the group
`graphwalk.models` (docs/models.md has an example).

A class takes `name`, the part after `provider/`, and the environment `variables`; other arguments are passed by keyword
(`model_arguments`). Its method `close` is optional. ModelError decides about retries; any other exception ends the
episode, not the run.
"""

from collections.abc import Callable, Mapping
from typing import Any

from graphwalk.config.resources import Registry
from graphwalk.errors import ConfigError, GraphwalkError, did_you_mean
from graphwalk.models.base import Model
from graphwalk.models.wrappers import Guarded
from graphwalk.variables import Variables

_SERVERS = (
    *("openai", "openai-chat", "openai-responses", "azure", "gemini", "deepseek", "openrouter", "groq"),
    *("together", "mistral", "vllm", "ollama", "openai-api"),
)
PROVIDERS = Registry(
    "model provider",
    "graphwalk.models",
    {name: f"graphwalk.models.openai_servers:{name.replace('-', '_')}" for name in _SERVERS}
    | {"langchain": "graphwalk.models.langchain:langchain"},
)
"""Name → function that makes a model from its name, the environment variables, and keyword arguments."""
EPISODE_PROVIDERS = {
    "scripted": "players that ship with GraphWalk: scripted/expert, scripted/random, scripted/flawed",
}
"""Providers of models that play one episode each, made by the run."""


def list_providers() -> dict[str, str]:
    """Return name → description of all providers, built-in ones first."""
    built_in = {name: (PROVIDERS.load(name).__doc__ or "").strip() for name in PROVIDERS.built_in}
    others = {name: f"from {PROVIDERS.origin(name)}" for name in PROVIDERS.names() if name not in built_in}
    return built_in | others | EPISODE_PROVIDERS


def check_name(spec: str) -> None:
    """Raise ConfigError if `spec` is not `provider/model` or the provider is unknown."""
    provider, slash, name = spec.partition("/")
    if not (slash and name):
        raise ConfigError(
            f"{spec!r} is not a model", hint="write it as provider/model, for example openai/gpt-4.1-mini"
        )
    names = (*PROVIDERS.names(), *EPISODE_PROVIDERS)
    if provider not in names:
        raise ConfigError(
            f"unknown provider {provider!r} in {spec!r}{did_you_mean(provider, names)}",
            hint=f"known: {', '.join(names)}",
        )


def open_model(spec: str, variables: Variables, arguments: Mapping[str, Any] | None = None) -> Model:
    """Open `provider/model`. ConfigError as `check_name`, for a missing key, wrong `arguments` or a broken plug-in."""
    check_name(spec)
    provider, _, name = spec.partition("/")
    if provider in EPISODE_PROVIDERS:
        raise ConfigError(
            f"{spec} plays single episodes; it is not a model of its own",
            hint="graphwalk run …",
        )
    make: Callable[..., Any] = PROVIDERS.load(provider)
    keywords = dict(arguments or {})
    try:
        return Guarded(make(name, variables, **keywords), variables, spec)
    except GraphwalkError:
        raise
    except TypeError as error:
        if not keywords:
            raise
        cause = str(error).replace(".__init__() got an unexpected keyword argument", " takes no argument")
        hint = "model_arguments are arguments of the constructor; fields of the request: -o options.extra.NAME=VALUE"
        raise ConfigError(f"{spec} cannot be opened with {', '.join(keywords)}: {cause}", hint=hint) from error
    except Exception as error:
        cause = variables.secrets.redact(f"{type(error).__name__}: {error}")
        raise ConfigError(f"{spec} cannot be opened: {cause}", hint=f"look at {PROVIDERS.origin(provider)}") from error
