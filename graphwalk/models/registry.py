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

`name` is what follows the provider; other arguments of the class are given by keyword (`model_arguments`). A `close`
method is called at the end where there is one; ModelError tells what failed and whether to try again; any other
exception ends the episode as a failure of the model, not the run.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from graphwalk.environment import Environment
from graphwalk.errors import ConfigError, GraphwalkError, ModelError
from graphwalk.models.model import Model
from graphwalk.plugins import Registry
from graphwalk.types.chat import CallOptions, Message, Reply, ToolCall, ToolSpec

PROVIDERS = Registry(
    "model provider",
    "graphwalk.models",
    {
        "openai": "graphwalk.models.backends.openai_servers:openai",
        "openai-chat": "graphwalk.models.backends.openai_servers:openai_chat",
        "openai-responses": "graphwalk.models.backends.openai_servers:openai_responses",
        "openai-api": "graphwalk.models.backends.openai_servers:openai_api",
        "langchain": "graphwalk.models.backends.langchain:langchain",
    },
)
"""Behind each name: what makes a model from the model's name, the environment, and keyword arguments if it has any."""
EPISODE_PROVIDERS = {
    "scripted": "players that ship with GraphWalk: scripted/expert, scripted/random, scripted/flawed",
    "human": "human/terminal: you, by `graphwalk play`",
    "replay": "replay/RUN, or replay/RUN:MODEL where several took part: what a model said in a recorded run",
}
"""Their models belong to one episode, and are made by whoever runs it."""


def list_providers() -> dict[str, str]:
    """Every provider and one line about it, built-in ones first."""
    return {name: _about(name) for name in PROVIDERS.names()} | EPISODE_PROVIDERS


def check_name(spec: str) -> None:
    """ConfigError where `spec` is not of the form `provider/model`, or its provider is unknown."""
    provider, slash, name = spec.partition("/")
    if not (slash and name):
        raise ConfigError(
            f"{spec!r} is not a model", hint="write it as provider/model, for example openai/gpt-4.1-mini"
        )
    known = (*PROVIDERS.names(), *EPISODE_PROVIDERS)
    if provider not in known:
        raise ConfigError(f"unknown provider {provider!r} in {spec!r}", hint=f"there are: {', '.join(known)}")


def open_model(spec: str, environment: Environment, arguments: Mapping[str, Any] | None = None) -> Model:
    """The model named `provider/model`, opened with the `arguments` that its class takes besides.

    ConfigError as `check_name`; for a missing key; for an argument that it does not take; for a broken plug-in.
    """
    check_name(spec)
    provider, _, name = spec.partition("/")
    if provider in EPISODE_PROVIDERS:
        raise ConfigError(f"{spec} plays single episodes and cannot be opened as a model", hint="use it in a run")
    make: Callable[..., Any] = PROVIDERS.load(provider)
    given = dict(arguments or {})
    _check_arguments(spec, make, given)
    try:
        return OutsideModel(spec, make(name, environment, **given), environment)
    except GraphwalkError:
        raise
    except Exception as error:
        cause = environment.redact(f"{type(error).__name__}: {error}")
        raise ConfigError(f"{spec} cannot be opened: {cause}", hint=_blame(provider)) from error


def _check_arguments(spec: str, make: Callable[..., Any], given: Mapping[str, Any]) -> None:
    """ConfigError for arguments that the provider does not take."""
    if not given:
        return
    try:
        inspect.signature(make).bind("", None, **given)
    except TypeError as error:
        hint = "fields of the request are set with -o options.extra.NAME=VALUE"
        raise ConfigError(f"{spec} cannot be opened with {', '.join(given)}: {error}", hint=hint) from error
    except ValueError:
        return  # a class whose signature cannot be read says itself what it does not take


def is_person(spec: str) -> bool:
    """True for a person at a terminal, who plays as many episodes as they like: none is ever missing."""
    return spec.startswith("human/")


def no_reply_hint(spec: str) -> str:
    """What to look at where nothing at all came back from a model."""
    provider = spec.partition("/")[0]
    if provider in PROVIDERS.built_in:
        return "does the server run, and are its address and key right?"
    return _blame(provider)


class OutsideModel:
    """A model as the rest of GraphWalk sees it: with `close`, with no failure but ModelError, and with safe texts.

    What a server says of a failure, and what the model writes, comes in here and nowhere else.
    """

    def __init__(self, name: str, inner: Any, environment: Environment) -> None:
        self.name = name
        self.inner = inner
        self._environment = environment

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        try:
            reply = await self.inner.complete(messages, tools, options)
        except ModelError as error:
            error.args, error.hint = (self._environment.inert(str(error)),), self._environment.redact(error.hint)
            raise
        except Exception as error:
            cause = self._environment.inert(f"{self.name} failed: {type(error).__name__}: {error}")
            raise ModelError(cause) from error
        if not isinstance(reply, Reply):
            raise ModelError(f"{self.name} returned {type(reply).__name__} instead of a Reply")
        return _without_secrets(reply, self._environment.redact_said)

    async def close(self) -> None:
        close = getattr(self.inner, "close", None)
        if close is not None:
            await close()


def _without_secrets(reply: Reply, redact: Callable[[str], str]) -> Reply:
    message = reply.message
    content, reasoning = (None if text is None else redact(text) for text in (message.content, message.reasoning))
    calls = tuple(ToolCall(redact(c.id), redact(c.name), redact(c.arguments)) for c in message.tool_calls)
    clean = replace(message, content=content, reasoning=reasoning, tool_calls=calls)
    return replace(reply, message=clean, finish_reason=redact(reply.finish_reason), model=redact(reply.model))


def _about(provider: str) -> str:
    if provider not in PROVIDERS.built_in:
        return f"from {PROVIDERS.origin(provider)}"
    return (PROVIDERS.load(provider).__doc__ or "").strip()


def _blame(provider: str) -> str:
    return f"the provider {provider!r} is not part of GraphWalk: look at {PROVIDERS.origin(provider)}"
