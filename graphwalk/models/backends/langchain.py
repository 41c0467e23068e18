"""Any LangChain chat model as a model of ours (`pip install 'graphwalk-agents[langchain]'`).

No type of LangChain's leaves this file, nor does any of its exceptions.
"""

import json
import time
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from graphwalk.environment import Environment
from graphwalk.errors import ConfigError, ModelError
from graphwalk.models.backends.failure import status_error
from graphwalk.models.backends.reply_fields import count, mapping, sendable_arguments, sendable_name, text, tool_calls
from graphwalk.types.chat import CallOptions, Message, Reply, ToolSpec, Usage

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, BaseMessage


def langchain(name: str, environment: Environment, **arguments: Any) -> "LangchainModel":
    """langchain/PACKAGE.CLASS/MODEL: a chat model of LangChain's (pip install 'graphwalk-agents[langchain]')"""
    path, _, model = name.partition("/")
    module, _, class_name = path.rpartition(".")
    spec = f"langchain/{name}"
    if not (module and model):
        raise ConfigError(f"{spec!r} names no class", hint="langchain/langchain_anthropic.ChatAnthropic/MODEL")
    try:
        chat_model = getattr(import_module(module), class_name)(**{"model": model, **arguments})
    except Exception as error:
        cause = environment.redact(f"{type(error).__name__}: {error}")
        missing = isinstance(error, ModuleNotFoundError)
        hint = f"pip install {module.partition('.')[0].replace('_', '-')}" if missing else f"look at {path}"
        raise ConfigError(f"{spec} cannot be opened: {cause}", hint=hint) from error
    return LangchainModel(chat_model, spec)


class LangchainModel:
    """Wraps a chat model; the options that are set are handed on by their OpenAI names."""

    def __init__(self, chat_model: "BaseChatModel", name: str = "") -> None:
        self.name = name or f"langchain/{type(chat_model).__name__}"
        self._chat_model = chat_model

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        started = time.perf_counter()
        runnable: Any = self._chat_model
        try:
            if tools:
                runnable = runnable.bind_tools([tool.as_openai() for tool in tools], **_tool_options(options))
            reply = await runnable.ainvoke([_to_langchain(message) for message in messages], **_options(options))
        except NotImplementedError:
            hint = "set tool_protocol to text"
            raise ModelError(f"{self.name} cannot call tools by itself", hint=hint) from None
        except Exception as error:
            raise _failure(error, self.name) from error
        return _reply(reply, time.perf_counter() - started, len(messages))

    async def close(self) -> None:
        return None


def _tool_options(options: CallOptions) -> dict[str, Any]:
    # Many integrations do not know this option, so it is sent only where it changes something.
    return {"parallel_tool_calls": False} if options.parallel_tool_calls is False else {}


def _options(options: CallOptions) -> dict[str, Any]:
    known = {
        "temperature": options.temperature,
        "top_p": options.top_p,
        "max_tokens": options.max_output_tokens,
        "reasoning_effort": options.reasoning_effort,
        "seed": options.seed,
    }
    return {name: value for name, value in known.items() if value is not None} | dict(options.extra)


def _to_langchain(message: Message) -> "BaseMessage":
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

    content = message.content or ""
    if message.role == "tool":
        return ToolMessage(content, tool_call_id=message.tool_call_id or "")
    if message.role != "assistant":
        return SystemMessage(content) if message.role == "system" else HumanMessage(content)
    calls = [
        {"id": c.id, "name": sendable_name(c.name), "args": json.loads(sendable_arguments(c.arguments))}
        for c in message.tool_calls
    ]
    return AIMessage(content, tool_calls=calls)


def _reply(reply: "AIMessage", seconds: float, sent: int) -> Reply:
    wanted = [(call["id"], call["name"], call["args"]) for call in (*reply.tool_calls, *reply.invalid_tool_calls)]
    calls = tool_calls(wanted, f"call_{sent}")
    facts = mapping(reply.response_metadata)
    reasoning = text(mapping(reply.additional_kwargs).get("reasoning_content"))
    return Reply(
        Message("assistant", text(reply.content), calls, reasoning=reasoning),
        _usage(mapping(reply.usage_metadata)),
        str(facts.get("finish_reason") or facts.get("stop_reason") or ""),
        seconds,
        str(facts.get("model_name") or facts.get("model") or ""),
    )


def _usage(facts: Mapping[str, Any]) -> Usage:
    return Usage(
        count(facts.get("input_tokens")),
        count(facts.get("output_tokens")),
        count(mapping(facts.get("output_token_details")).get("reasoning")),
        count(mapping(facts.get("input_token_details")).get("cache_read")),
    )


def _failure(error: Exception, name: str) -> ModelError:
    """Integrations raise the errors of their SDKs, nearly all of which carry the HTTP status."""
    status = getattr(error, "status_code", None)
    if isinstance(status, int) and status >= 400:
        headers = getattr(getattr(error, "response", None), "headers", {})
        return status_error(status, headers, str(error), name)
    retryable = isinstance(error, OSError | TimeoutError)
    return ModelError(f"{name} failed: {type(error).__name__}: {error}", retryable=retryable)
