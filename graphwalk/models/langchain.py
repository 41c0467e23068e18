"""LangChain: its messages in both directions, its chat models as models, reports to its callbacks.

An `AIMessage` is kept whole as provider state. LangSmith, OpenInference and Langfuse are handlers of callbacks.
"""

import json
import time
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from graphwalk.errors import ConfigError, ModelError
from graphwalk.models.chat import (
    CallOptions,
    Message,
    Model,
    Reply,
    ToolCall,
    ToolSpec,
    Wrapper,
    from_dict,
    json_object,
    to_dict,
)
from graphwalk.models.provider_replies import mapping, sequence, status_error, text, tool_calls, usage
from graphwalk.models.refusals import TEXT_HINT
from graphwalk.models.trajectory import ToolResult
from graphwalk.variables import Variables

if TYPE_CHECKING:
    from langchain_core.callbacks import AsyncCallbackManager
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

FORMAT = "langchain"
OURS = "graphwalk"
"""Our key in `additional_kwargs` of LangChain messages."""


def to_langchain(message: Message) -> "BaseMessage":
    """Convert a message for a request: names and arguments are made acceptable to all providers."""
    from langchain_core.messages import HumanMessage, SystemMessage, ToolMessage

    # Half a surrogate pair, which a model may have written, cannot be encoded.
    content = (message.content or "").encode("utf-8", "replace").decode()
    if message.role == "tool":
        return ToolMessage(content, tool_call_id=message.tool_call_id or "")
    if message.role == "assistant":
        if content != message.content:
            message = replace(message, content=content)
        return _ai_message(message, sendable=True)
    if message.role == "system":
        return SystemMessage(content)
    return HumanMessage(content)


def _ai_message(message: Message, *, sendable: bool = False) -> "AIMessage":
    """Return a message of the model, whole as LangChain's model wrote it, unless text or tool calls have changed.

    `sendable`: with calls that all providers accept, in place of those that the model wrote.
    """
    from langchain_core.messages import AIMessage

    valid: list[Any] = []
    invalid: list[Any] = []
    are_changed = False
    for written in message.tool_calls:
        call = written.sendable() if sendable else written
        are_changed = are_changed or call.arguments != written.arguments
        value = json_object(call.arguments)
        if value is not None:
            valid.append({"id": call.id, "name": call.name, "args": value})
        else:
            invalid.append({"id": call.id, "name": call.name, "args": call.arguments, "error": "no JSON object"})

    content = message.content or ""
    state = message.provider_state or {}
    if state.get("format") == FORMAT:
        whole = AIMessage(**state["message"])
        ids = [call["id"] for call in whole.tool_calls]
        ids.extend(call["id"] for call in whole.invalid_tool_calls)
        if text(whole.content) == content and ids == [call.id for call in message.tool_calls]:
            return whole.model_copy(update={"tool_calls": valid, "invalid_tool_calls": []}) if are_changed else whole
    return AIMessage(content, tool_calls=valid, invalid_tool_calls=invalid)


def to_ai_message(reply: Reply) -> "AIMessage":
    """Convert a reply with its calls as the model wrote them, and with finish reason and usage."""
    message = _ai_message(reply.message)
    message.response_metadata.setdefault("finish_reason", reply.finish_reason)
    if reply.usage.total_tokens and message.usage_metadata is None:
        message.usage_metadata = {
            "input_tokens": reply.usage.input_tokens or 0,
            "output_tokens": reply.usage.output_tokens or 0,
            "total_tokens": reply.usage.total_tokens,
        }
    return message


def to_state(reply: Reply, **facts: Any) -> "AIMessage":
    """Convert a reply for the state of a graph: `recorded` returns it with `facts`, from a checkpoint too."""
    message = to_ai_message(reply)
    message.additional_kwargs[OURS] = {**to_dict(reply), **facts}
    return message


def tool_message(result: ToolResult, elapsed: float) -> "ToolMessage":
    """Return a result as LangChain's ToolMessage, with its rows as data in `artifact`.

    `elapsed` is the wall time of all calls of the turn in seconds; they may have run in parallel.
    """
    from langchain_core.messages import ToolMessage

    facts = {name: getattr(result, name) for name in ("error", "rows", "seconds", "final", "tried", "shows")}
    return ToolMessage(
        result.content,
        tool_call_id=result.call.id,
        name=result.call.name,
        status="success" if result.error is None else "error",
        artifact=result.data,
        additional_kwargs={OURS: {"result": facts, "elapsed_in_tools": elapsed}},
    )


def recorded(message: "BaseMessage") -> dict[str, Any]:
    """Return what was recorded about a message of the state as JSON, {} for one that a user added."""
    return dict(message.additional_kwargs.get(OURS) or {})


def from_langchain(message: "BaseMessage") -> Message:
    """Convert a LangChain message to our form, with changes that were made to it in the state of a graph."""
    content = text(message.content)
    if message.type == "tool":
        return Message("tool", content, tool_call_id=getattr(message, "tool_call_id", None))
    if message.type != "ai":
        return Message("system" if message.type == "system" else "user", content)

    calls = _calls_of(message)
    facts = recorded(message)
    if not facts:
        return Message("assistant", content, calls, reasoning=_reasoning(message), provider_state=_whole(message))

    original = from_dict(Message, facts["message"])
    unchanged: Any = _ai_message(original)
    fields = ("content", "tool_calls", "invalid_tool_calls")
    if all(getattr(unchanged, field) == getattr(message, field) for field in fields):
        return original

    state = original.provider_state
    if state is not None and state.get("format") == FORMAT:
        state = _whole(message)
    empty = None if original.content is None else ""
    return replace(original, content=content or empty, tool_calls=calls, provider_state=state)


def langchain(name: str, variables: Variables, **arguments: Any) -> "LangchainModel":
    """langchain/PACKAGE.CLASS/MODEL: a chat model of LangChain's"""
    path, _, model = name.partition("/")
    module, _, class_name = path.rpartition(".")
    spec = f"langchain/{name}"
    if not (module and model):
        raise ConfigError(f"{spec!r} names no class", hint="langchain/langchain_anthropic.ChatAnthropic/MODEL")
    chat_model = getattr(import_module(module), class_name)(**{"model": model, **arguments})
    return LangchainModel(chat_model, spec)


class LangchainModel(Model):
    """A LangChain chat model; options are passed by their OpenAI names."""

    streams_by_callbacks = True
    """Inside a LangGraph node LangChain's own callbacks stream the reply."""

    def __init__(self, chat_model: "BaseChatModel", name: str = "") -> None:
        model = getattr(chat_model, "model_name", None) or getattr(chat_model, "model", None)
        kind = type(chat_model).__name__
        if not name:
            name = f"langchain/{kind}/{model}" if isinstance(model, str) else f"langchain/{kind}"
        self.name = name
        self._chat_model = chat_model

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        started = time.perf_counter()
        runnable: Any = self._chat_model
        try:
            if tools:
                binding: dict[str, Any] = {}
                if options.parallel_tool_calls is False:
                    # Many integrations do not know this option, so it is sent only when needed.
                    binding["parallel_tool_calls"] = False
                if options.tool_choice is not None:
                    binding["tool_choice"] = "any"  # LangChain's word for required
                runnable = runnable.bind_tools([tool.as_openai() for tool in tools], **binding)
            reply = await _ask(runnable, [to_langchain(message) for message in messages], options)
        except NotImplementedError:
            raise ModelError(f"{self.name} cannot call tools by itself", hint=TEXT_HINT) from None
        except Exception as error:
            raise _failure(error, self.name) from error
        return _reply(reply, time.perf_counter() - started, len(messages))


async def _ask(runnable: Any, sent: "list[BaseMessage]", options: CallOptions) -> "AIMessage":
    """Call the model; with `options.on_text` the reply is streamed to it."""
    from langchain_core.messages import message_chunk_to_message

    named: dict[str, Any] = {
        "temperature": options.temperature,
        "top_p": options.top_p,
        "max_tokens": options.max_output_tokens,
        "reasoning_effort": options.reasoning_effort,
        "seed": options.seed,
    }
    if options.stop:
        named["stop"] = list(options.stop)
    if options.json_schema is not None:
        named["response_format"] = {"type": "json_schema", "json_schema": options.json_schema}
    settings = {name: value for name, value in named.items() if value is not None}
    settings.update(options.extra)
    if options.on_text is None:
        return await runnable.ainvoke(sent, **settings)  # type: ignore[no-any-return]

    whole: Any = None
    async for chunk in runnable.astream(sent, **settings):
        whole = chunk if whole is None else whole + chunk
        piece = text(chunk.content)
        if piece:
            await options.on_text(piece)
    return message_chunk_to_message(whole)  # type: ignore[return-value]


def _whole(message: "BaseMessage") -> dict[str, Any] | None:
    """Return a message as provider state, without our own fields; None if it cannot be written as JSON."""
    try:
        fields = message.model_dump(mode="json")
    except ValueError:
        return None
    fields["additional_kwargs"].pop(OURS, None)
    present = {name: value for name, value in fields.items() if name == "content" or value not in (None, [], {})}
    return {"format": FORMAT, "message": present}


def _calls_of(message: Any) -> tuple[ToolCall, ...]:
    """Return the tool calls of an AIMessage, the invalid ones last."""
    calls = []
    for call in [*message.tool_calls, *message.invalid_tool_calls]:
        arguments = call["args"] or ""
        # {"key": "Ida"} of a valid call, '{"key": "I' of an invalid one
        if isinstance(call["args"], dict):
            arguments = json.dumps(call["args"], ensure_ascii=False)
        calls.append(ToolCall(call["id"] or "", call["name"] or "", arguments))
    return tuple(calls)


def _reply(reply: "AIMessage", seconds: float, sent: int) -> Reply:
    calls = tool_calls(((call.id, call.name, call.arguments) for call in _calls_of(reply)), f"call_{sent}")
    facts = mapping(reply.response_metadata)
    return Reply(
        Message("assistant", text(reply.content), calls, reasoning=_reasoning(reply), provider_state=_whole(reply)),
        usage(reply.usage_metadata),
        str(facts.get("finish_reason") or facts.get("stop_reason") or ""),
        seconds,
        str(facts.get("model_name") or facts.get("model") or ""),
    )


def _reasoning(reply: Any) -> str | None:
    """Return the visible reasoning of a message, from its own field or from content blocks."""
    field = text(reply.additional_kwargs.get("reasoning_content"))
    if field:
        return field

    # [{"type": "thinking", "thinking": "Who knows Ida?"}, {"type": "text", "text": "Bo"}]
    thoughts = []
    for block in sequence(reply.content):
        fields = mapping(block)
        thought = fields.get("thinking") or fields.get("reasoning")
        if isinstance(thought, str):
            thoughts.append(thought)
    return "\n\n".join(thoughts) or None


def _failure(error: Exception, name: str) -> ModelError:
    """Return the ModelError for an exception of an integration; nearly all have an HTTP status."""
    status = getattr(error, "status_code", None) or getattr(error, "code", None)
    if isinstance(status, int) and status >= 400:
        headers = getattr(getattr(error, "response", None), "headers", {})
        return status_error(status, headers, getattr(error, "body", None) or str(error), name)
    retryable = isinstance(error, OSError | TimeoutError)
    message = f"{name} failed: {type(error).__name__}: {error}"
    return ModelError(message, hint=TEXT_HINT if "response_format" in message else "", retryable=retryable)


class Reporting(Wrapper):
    """A model whose calls are reported. LangChain's own models report theirs."""

    run_id: str | None = None
    """The id of the last report, in the form that LangChain's models give to their messages."""

    def __init__(self, inner: Model, manager: "AsyncCallbackManager") -> None:
        super().__init__(inner)
        self._manager = manager

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        from langchain_core.messages import AIMessageChunk
        from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, LLMResult

        if self.streams_by_callbacks:
            return await self.inner.complete(messages, tools, options)
        parameters = {"model": self.name, "tools": [tool.as_openai() for tool in tools]}
        (run,) = await self._manager.on_chat_model_start(
            {"name": self.name}, [[to_langchain(message) for message in messages]], invocation_params=parameters
        )
        self.run_id = run_id = f"lc_run--{run.run_id}"

        async def on_text(piece: str) -> None:
            chunk = ChatGenerationChunk(message=AIMessageChunk(content=piece, id=run_id))
            await run.on_llm_new_token(piece, chunk=chunk)

        # LangChain's models stream for these handlers too: those of LangGraph's stream mode "messages".
        if any(hasattr(handler, "tap_output_aiter") for handler in self._manager.handlers):
            options = replace(options, on_text=on_text)
        try:
            reply = await self.inner.complete(messages, tools, options)
        except BaseException as error:
            await run.on_llm_error(error)
            raise
        message = to_ai_message(reply)
        message.id = run_id
        if reply.model:
            message.response_metadata.setdefault("model_name", reply.model)
        await run.on_llm_end(LLMResult(generations=[[ChatGeneration(message=message)]]))
        return reply
