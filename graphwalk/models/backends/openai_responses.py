"""The Responses API, which OpenAI's reasoning models are made for. Stateless: nothing is stored at the provider.

Such a model wants its own reasoning back with the results of the tools it called. It comes encrypted, and our messages
cannot carry it: it is kept here, by the tool calls it led to. Where it is missing (another process made the call, or
it was long ago) the conversation goes on without it.
"""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Any

from graphwalk.errors import ModelError
from graphwalk.models.backends.endpoint import Endpoint
from graphwalk.models.backends.event_stream import joined_response
from graphwalk.models.backends.failure import reported_error
from graphwalk.models.backends.reply_fields import (
    mapping,
    sendable_arguments,
    sendable_name,
    sequence,
    text,
    tool_calls,
    usage,
)
from graphwalk.types.chat import CallOptions, Message, Reply, ToolCall, ToolSpec

_REMEMBERED = 4096
"""Turns whose reasoning is kept, over all conversations; some 5 kB each."""


class OpenAIResponsesModel:
    """A model behind the Responses API. It has no seed: `CallOptions.seed` is not sent."""

    def __init__(self, name: str, endpoint: Endpoint, model: str) -> None:
        self.name = name
        self._endpoint = endpoint
        self._model = model
        self._reasoning: OrderedDict[tuple[ToolCall, ...], list[Any]] = OrderedDict()

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        body = {"model": self._model, "store": False, "include": ["reasoning.encrypted_content"]}
        body["input"] = [item for message in messages for item in self._items(message)]
        body |= _settings(tools, options)
        wire, seconds = await self._endpoint.post("/responses", body)
        if isinstance(wire, list):
            wire = joined_response(wire, self._endpoint.source)
        reply = read_response(wire, seconds, len(messages), self._endpoint.source)
        self._remember(reply.message.tool_calls, sequence(wire["output"]))
        return reply

    async def close(self) -> None:
        await self._endpoint.close()

    def _remember(self, calls: tuple[ToolCall, ...], output: list[Any]) -> None:
        thoughts = [item for item in output if mapping(item).get("type") == "reasoning"]
        if calls and thoughts:
            # Ids of an item refer to what the provider stored, and it stores nothing.
            self._reasoning[calls] = [{k: v for k, v in item.items() if k not in ("id", "status")} for item in thoughts]
            if len(self._reasoning) > _REMEMBERED:
                self._reasoning.popitem(last=False)

    def _items(self, message: Message) -> Iterator[dict[str, Any]]:
        if message.role == "tool":
            yield {"type": "function_call_output", "call_id": message.tool_call_id, "output": message.content or ""}
            return
        yield from self._reasoning.get(message.tool_calls, ())
        if message.content or not message.tool_calls:
            yield {"role": message.role, "content": message.content or ""}
        for call in message.tool_calls:
            function = {"name": sendable_name(call.name), "arguments": sendable_arguments(call.arguments)}
            yield {"type": "function_call", "call_id": call.id, **function}


def read_response(body: Any, seconds: float, sent: int, source: str) -> Reply:
    """The reply in a Responses body; ModelError for one without output, or that reports an error."""
    fields = mapping(body)
    if fields.get("error"):
        raise reported_error(fields["error"], source)
    if not isinstance(fields.get("output"), list) or fields.get("status") in ("failed", "cancelled"):
        raise ModelError(f"{source} sent a response without output", retryable=True)
    message = _message([mapping(item) for item in fields["output"]], sent)
    model = fields.get("model")
    reason = _finish_reason(fields, message)
    return Reply(message, usage(fields.get("usage")), reason, seconds, model if isinstance(model, str) else "")


def _message(output: list[dict[str, Any]], sent: int) -> Message:
    wanted = [item for item in output if item.get("type") == "function_call"]
    calls = tool_calls(((c.get("call_id"), c.get("name"), c.get("arguments")) for c in wanted), f"call_{sent}")
    parts = [part for item in output if item.get("type") == "message" for part in sequence(item.get("content"))]
    texts = [text(mapping(part).get("text") or mapping(part).get("refusal")) for part in parts]
    thoughts = [part for item in output if item.get("type") == "reasoning" for part in sequence(item.get("summary"))]
    return Message(
        "assistant",
        "".join(t or "" for t in texts) if parts else None,
        calls,
        reasoning="\n\n".join(text(mapping(part).get("text")) or "" for part in thoughts) or None,
    )


def _finish_reason(fields: dict[str, Any], message: Message) -> str:
    """In the words of Chat Completions."""
    if fields.get("status") == "incomplete":
        reason = mapping(fields.get("incomplete_details")).get("reason")
        return "length" if reason == "max_output_tokens" else text(reason) or "incomplete"
    return "tool_calls" if message.tool_calls else "stop"


def _settings(tools: Sequence[ToolSpec], options: CallOptions) -> dict[str, Any]:
    settings: dict[str, Any] = {
        "temperature": options.temperature,
        "top_p": options.top_p,
        "max_output_tokens": options.max_output_tokens,
        "reasoning": {"effort": options.reasoning_effort} if options.reasoning_effort else None,
    }
    if tools:
        # Strict mode would rewrite our schemas, with optional parameters becoming required ones.
        settings["tools"] = [{"type": "function", "strict": False, **tool.as_openai()["function"]} for tool in tools]
        settings["parallel_tool_calls"] = options.parallel_tool_calls
    return {name: value for name, value in settings.items() if value is not None} | dict(options.extra)
