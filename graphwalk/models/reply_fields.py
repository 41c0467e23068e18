"""Read fields of a provider's reply, whatever their type."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from graphwalk.types.chat import ToolCall, Usage

_LARGEST_COUNT = 2**53
_SURROGATE = re.compile("[\ud800-\udfff]")


def mapping(value: Any) -> dict[str, Any]:
    """Return the value if it is an object, else {}."""
    return value if isinstance(value, dict) else {}


def sequence(value: Any) -> list[Any]:
    """Return the value if it is a list, else []."""
    return value if isinstance(value, list) else []


def text(value: Any) -> str | None:
    """Return a text, the joined text of a list of parts, None for null, anything else as JSON."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(part, str | dict) for part in value):
        return "".join(part if isinstance(part, str) else _part(part) for part in value)
    return json.dumps(value)


def count(value: Any) -> int | None:
    """Return a number of tokens, None for anything else."""
    number = dollars(value)
    return None if number is None else int(number)


def dollars(value: Any) -> float | None:
    """Return an amount of money, None for anything else."""
    good = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= _LARGEST_COUNT
    return float(value) if good else None


def tool_calls(fields: Iterable[tuple[Any, Any, Any]], prefix: str) -> tuple[ToolCall, ...]:
    """Return calls from (id, name, arguments); missing and repeated ids become `prefix` and the position."""
    calls: list[ToolCall] = []
    seen: set[str] = set()
    for position, (id_, name, arguments) in enumerate(fields):
        known = isinstance(id_, str) and id_ and id_ not in seen
        call_id = id_ if known else f"{prefix}_{position}"
        seen.add(call_id)
        written = arguments if isinstance(arguments, str) else "" if arguments is None else json.dumps(arguments)
        calls.append(ToolCall(call_id, name if isinstance(name, str) else "", written))
    return tuple(calls)


def usage(wire: Any) -> Usage:
    """Return the usage of a reply of Chat Completions or Responses; `cost` if the provider reports it."""
    fields = mapping(wire)
    taken = mapping(fields.get("prompt_tokens_details") or fields.get("input_tokens_details"))
    given = mapping(fields.get("completion_tokens_details") or fields.get("output_tokens_details"))
    return Usage(
        count(fields.get("prompt_tokens", fields.get("input_tokens"))),
        count(fields.get("completion_tokens", fields.get("output_tokens"))),
        count(given.get("reasoning_tokens")),
        count(taken.get("cached_tokens")),
        dollars(fields.get("cost")),
    )


def sendable_name(name: str) -> str:
    """Return a tool name that every server accepts."""
    clean = "".join(c if c.isascii() and (c.isalnum() or c in "_-") else "_" for c in name[:64])
    return clean or "unnamed"


def sendable_arguments(arguments: str) -> str:
    """Return arguments that every server accepts: many refuse a conversation with arguments that are no object."""
    try:
        if isinstance(json.loads(arguments), dict):
            return arguments
    except (ValueError, RecursionError):
        pass
    return json.dumps({"invalid_arguments": arguments})


def without_surrogates(value: Any) -> Any:
    """Return JSON data with the replacement character for every half of a surrogate pair."""
    if isinstance(value, str):
        return _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", value)
    if isinstance(value, Mapping):
        return {without_surrogates(name): without_surrogates(item) for name, item in value.items()}
    return [without_surrogates(item) for item in value] if isinstance(value, list | tuple) else value


def _part(part: dict[str, Any]) -> str:
    inner = part.get("text")
    if isinstance(inner, dict):
        inner = inner.get("value")
    return inner if isinstance(inner, str) else ""
