"""Models by name: `provider/model`, built in or brought along by another package.

Another package adds a provider with one class and one entry point:

    class Parrot:
        \"\"\"Repeats the last message: `parrot/any`.\"\"\"

        def __init__(self, name: str, environment: Environment) -> None:
            self.tone = environment.get("PARROT_TONE", "plain")

        async def complete(self, messages, tools, options) -> Reply:
            return Reply(Message("assistant", messages[-1].content))

    [project.entry-points."graphwalk.models"]
    parrot = "my_package:Parrot"

`name` is what follows the provider. A `close` method is called at the end where there is one; ModelError tells what
failed and whether to try again; any other exception ends the episode as a failure of the model, not the run.
"""

import importlib
import re
from collections.abc import Callable, Sequence
from importlib.metadata import entry_points
from ipaddress import ip_address
from typing import Any

from graphwalk.environment import Environment
from graphwalk.errors import ConfigError, GraphwalkError, ModelError
from graphwalk.models.backends.endpoint import Endpoint
from graphwalk.models.backends.failure import redacted
from graphwalk.models.backends.openai_chat import OpenAIChatModel
from graphwalk.models.backends.openai_responses import OpenAIResponsesModel
from graphwalk.models.model import Model
from graphwalk.types.chat import CallOptions, Message, Reply, ToolSpec

ENTRY_POINTS = "graphwalk.models"
EPISODE_PROVIDERS = {
    "scripted": "players that ship with GraphWalk: scripted/expert, scripted/random, scripted/flawed",
    "human": "human/terminal: you, by `graphwalk play`",
    "replay": "replay/RUN, or replay/RUN:MODEL where several took part: what a model said in a recorded run",
}
"""Their models belong to one episode, and are made by whoever runs it."""
_OPENAI = "https://api.openai.com/v1"
_REASONING_MODEL = re.compile(r"o\d|gpt-(?:[5-9]|\d\d)(?!.*chat)|codex")


def list_providers() -> dict[str, str]:
    """Every provider and one line about it, built in ones first."""
    built_in = {name: (factory.__doc__ or "").strip() for name, factory in _BUILT_IN.items()}
    others = {point.name: f"from {point.value}" for point in entry_points(group=ENTRY_POINTS)}
    return {**others, **built_in, **EPISODE_PROVIDERS}


def check_name(spec: str) -> None:
    """ConfigError for what is no `provider/model`, or has an unknown provider."""
    provider, slash, name = spec.partition("/")
    if not (slash and name):
        raise ConfigError(
            f"{spec!r} is not a model", hint="write it as provider/model, for example openai/gpt-4.1-mini"
        )
    if provider not in (providers := list_providers()):
        raise ConfigError(f"unknown provider {provider!r} in {spec!r}", hint=f"there are: {', '.join(providers)}")


def open_model(spec: str, environment: Environment) -> Model:
    """The bare model named `provider/model`. ConfigError as `check_name`; for a missing key; for a broken plug-in."""
    check_name(spec)
    provider, _, name = spec.partition("/")
    if provider in _BUILT_IN:
        return _BUILT_IN[provider](spec, name, environment)
    if provider in EPISODE_PROVIDERS:
        raise ConfigError(f"{spec} plays single episodes and cannot be opened as a model", hint="use it in a run")
    (point, *_) = entry_points(group=ENTRY_POINTS, name=provider)
    return _foreign(spec, lambda: point.load()(name, environment), environment)


class ForeignModel:
    """A class of another package, made whole: with a name, with `close`, and failing only as models may fail."""

    def __init__(self, name: str, inner: Any, environment: Environment) -> None:
        self.name = name
        self._inner = inner
        self._redact = environment.redact

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        try:
            reply = await self._inner.complete(messages, tools, options)
        except ModelError as error:
            raise redacted(error, self._redact) from None
        except Exception as error:
            failure = ModelError(f"{self.name} failed: {type(error).__name__}: {error}")
            raise redacted(failure, self._redact) from error
        if not isinstance(reply, Reply):
            raise ModelError(f"{self.name} returned {type(reply).__name__} instead of a Reply")
        return reply

    async def close(self) -> None:
        close = getattr(self._inner, "close", None)
        if close is not None:
            await close()


def _foreign(spec: str, make: Callable[[], Any], environment: Environment) -> Model:
    try:
        return ForeignModel(spec, make(), environment)
    except GraphwalkError:
        raise
    except Exception as error:
        cause = environment.redact(f"{type(error).__name__}: {error}")
        raise ConfigError(f"{spec} cannot be loaded: {cause}") from error


def _openai(spec: str, model: str, environment: Environment) -> Model:
    """OpenAI by OPENAI_API_KEY and OPENAI_BASE_URL: Responses for reasoning models, Chat Completions for others"""
    make = _openai_responses if _REASONING_MODEL.match(model) else _openai_chat
    return make(spec, model, environment)


def _openai_chat(spec: str, model: str, environment: Environment) -> Model:
    """the same, always by Chat Completions"""
    return OpenAIChatModel(spec, _openai_endpoint(environment), model)


def _openai_responses(spec: str, model: str, environment: Environment) -> Model:
    """the same, always by Responses"""
    return OpenAIResponsesModel(spec, _openai_endpoint(environment), model)


def _openai_endpoint(environment: Environment) -> Endpoint:
    return _endpoint("OPENAI", environment.get("OPENAI_BASE_URL") or _OPENAI, environment)


def _openai_api(spec: str, model: str, environment: Environment) -> Model:
    """openai-api/NAME/MODEL: any compatible server, by NAME_BASE_URL and NAME_API_KEY"""
    name, _, model = model.partition("/")
    if not model:
        raise ConfigError(f"{spec!r} names no model", hint="write it as openai-api/NAME/MODEL")
    variable = re.sub(r"\W", "_", name).upper()
    base_url = environment.require(f"{variable}_BASE_URL", f"it is the address of the server behind {spec}")
    return OpenAIChatModel(spec, _endpoint(variable, base_url, environment), model)


def _langchain(spec: str, model: str, environment: Environment) -> Model:
    """langchain/PACKAGE.CLASS/MODEL: a chat model of LangChain's (pip install 'graphwalk-agents[langchain]')"""
    path, _, model = model.partition("/")
    module, _, class_name = path.rpartition(".")
    if not (module and model):
        raise ConfigError(f"{spec!r} names no class", hint="langchain/langchain_anthropic.ChatAnthropic/MODEL")

    def make() -> Model:
        from graphwalk.models.backends.langchain import LangchainModel

        chat_class = getattr(importlib.import_module(module), class_name)
        return LangchainModel(chat_class(model=model), spec)

    return _foreign(spec, make, environment)


def _endpoint(variable: str, base_url: str, environment: Environment) -> Endpoint:
    """A server and its key, which one on this machine can do without. No message repeats what the variables say."""
    host = _host(base_url)
    if host is None:
        raise ConfigError(f"{variable}_BASE_URL is not the address of a server", hint="write it as https://host/v1")
    name = f"{variable}_API_KEY"
    key = (
        environment.get(name, "none") if _on_this_machine(host) else environment.require(name, "the server wants a key")
    )
    if not (key and key.isascii() and key.isprintable()):
        raise ConfigError(f"{name} contains characters that no key has", hint="check it for line breaks")
    return Endpoint(base_url, key, environment)


def _host(base_url: str) -> str | None:
    import httpx2

    try:
        url = httpx2.URL(base_url)
    except httpx2.InvalidURL:
        return None
    good = url.scheme in ("http", "https") and (url.port or 1) < 65536
    return (url.host or None) if good else None


def _on_this_machine(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


_BUILT_IN: dict[str, Callable[[str, str, Environment], Model]] = {
    "openai": _openai,
    "openai-chat": _openai_chat,
    "openai-responses": _openai_responses,
    "openai-api": _openai_api,
    "langchain": _langchain,
}
