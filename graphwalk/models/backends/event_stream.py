"""Replies that come as a stream of events: read whole, and put together into the body that comes without a stream."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from graphwalk.errors import ModelError
from graphwalk.models.backends.reply_fields import mapping, sequence, text

_DONE = "[DONE]"


def is_event_stream(content_type: str, content: bytes) -> bool:
    """True for Server-Sent Events, whatever the server calls them."""
    return "text/event-stream" in content_type or content.lstrip().startswith((b"data:", b"event:"))


def read_events(content: bytes) -> list[Any]:
    """The JSON of all events. ValueError where one is no JSON."""
    events = []
    for block in content.decode("utf-8", "replace").replace("\r\n", "\n").split("\n\n"):
        lines = [line.removeprefix("data:").strip() for line in block.split("\n") if line.startswith("data:")]
        said = "\n".join(lines)
        if said and said != _DONE:
            events.append(json.loads(said))
    return events


def joined_chat(events: Iterable[Any], source: str) -> dict[str, Any]:
    """The Chat Completions body whose chunks these are; an error among them stands for it.

    ModelError, worth another try, for a stream that ends before the reply does.
    """
    body: dict[str, Any] = {}
    message: dict[str, Any] = {"role": "assistant", "content": None}
    calls: dict[int, dict[str, Any]] = {}
    reason = None
    for event in map(mapping, events):
        if event.get("error"):
            return event
        body |= {name: event[name] for name in ("id", "model", "usage") if event.get(name)}
        choice = mapping(next(iter(sequence(event.get("choices"))), None))
        delta = mapping(choice.get("delta") or choice.get("message"))
        reason = choice.get("finish_reason") or reason
        for name in ("content", "reasoning_content", "reasoning", "refusal"):
            if (piece := text(delta.get(name))) is not None:
                message[name] = (message.get(name) or "") + piece
        for position, call in enumerate(map(mapping, sequence(delta.get("tool_calls")))):
            index = call.get("index")
            _add(calls.setdefault(index if isinstance(index, int) else position, {}), call)
    if reason is None:
        raise ModelError(f"{source} ended its stream before the reply was whole", retryable=True)
    if calls:
        message["tool_calls"] = [calls[index] for index in sorted(calls)]
    return {**body, "choices": [{"index": 0, "message": message, "finish_reason": reason}]}


def joined_response(events: Iterable[Any], source: str) -> Any:
    """The Responses body, which the last event holds whole. ModelError as `joined_chat`."""
    for event in map(mapping, events):
        if event.get("type") == "error" or event.get("error"):
            return {"error": event.get("error") or event}
        if event.get("type") in ("response.completed", "response.incomplete", "response.failed"):
            return event.get("response")
    raise ModelError(f"{source} ended its stream before the reply was whole", retryable=True)


def _add(call: dict[str, Any], piece: dict[str, Any]) -> None:
    """A piece of a tool call: id and name come once, the arguments bit by bit."""
    function = mapping(piece.get("function"))
    known = call.setdefault("function", {"name": "", "arguments": ""})
    call["id"] = call.get("id") or piece.get("id")
    known["name"] = known["name"] or text(function.get("name")) or ""
    known["arguments"] += "".join(_texts(function.get("arguments")))


def _texts(value: Any) -> Iterator[str]:
    if value is not None:
        yield value if isinstance(value, str) else json.dumps(value)
