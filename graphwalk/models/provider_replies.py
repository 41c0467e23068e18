"""Read what a provider sends: fields of a reply, whatever their type, and failures as ModelErrors."""

import json
import math
import re
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import Any

from graphwalk.errors import ModelError
from graphwalk.models.chat import ToolCall, Usage

_LARGEST_COUNT = 2**53
_LONGEST_MESSAGE = 100_000
"""Characters of a server's message; some send a web page. It is cut further after redaction."""
_RETRYABLE = frozenset({408, 409, 425, 429})
_HINTS = {
    401: "check the API key of this provider",
    403: "check that this API key may use the model",
    404: "check the model's name and the base URL",
}
_RATE_CODES = ("rate_limit_exceeded", "server_is_overloaded")
_OVERFLOW_CODES = ("context_length_exceeded", "exceed_context_size")
_OVERFLOW = re.compile(
    r"maximum context length|maximum model length|max_seq_len|available context size|context size has been exceeded"
    r"|context (?:length|window)|prompt is too long|input is too long"
    r"|too many (?:input )?tokens|input token count|maximum prompt length|input length"
    r"|`inputs` tokens \+|inputs must have less than|context the overflows",
    re.IGNORECASE,
)
"""Messages of vLLM, SGLang, llama.cpp, Ollama, LM Studio, TGI, Anthropic, Gemini, Mistral, Bedrock and xAI, most of
which have no error code for it. They count only with a status that blames the request."""
_NO_TOOLS = re.compile(
    r"\b(?:tools?|functions?|grammar)\b|(?:tool|function).?(?:choice|call|use)|response.?format|json.?schema"
    r"|text\.format|structured.?output",
    re.IGNORECASE,
)
"""In the message of a server that refuses tools, or the schema of a reply."""
TEXT_HINT = "describe the tools in the prompt instead: -o agent.tool_protocol=text"
"""For a server or model without native tool calls, or without JSON schemas."""


def status_error(status: int, headers: Mapping[str, str], body: Any, source: str) -> ModelError:
    """Return the error of an HTTP status, unredacted. `body`: error object or text; `source`: the server's name."""
    error = body["error"] if isinstance(body, dict) and isinstance(body.get("error"), dict) else body
    code = f"{error.get('code') or error.get('type') or ''}" if isinstance(error, dict) else ""
    text = body
    while isinstance(text, dict):
        text = next((text[key] for key in ("message", "error", "detail", "msg") if text.get(key)), "")
    message = ("" if text is None else str(text))[:_LONGEST_MESSAGE]
    # An overflow is scored as the agent's failure, so the message alone does not decide.
    overflow = (
        code.startswith(_OVERFLOW_CODES)
        or (status == 413 and code not in _RATE_CODES)
        or (status in (400, 422) and bool(_OVERFLOW.search(message)))
    )
    if status == 413 and code in _RATE_CODES:
        status = 429
    retryable = (status in _RETRYABLE or status >= 500) and not overflow and code != "insufficient_quota"
    hint = _HINTS.get(status, "")
    if 400 <= status < 500 and not (retryable or overflow) and _NO_TOOLS.search(message):
        hint = TEXT_HINT
    return ModelError(
        f"{source} answered {status}: {message or 'no reason given'}",
        hint=hint,
        retryable=retryable,
        retry_after=retry_after(headers) if retryable else None,
        context_overflow=overflow,
    )


def reported_error(body: Any, source: str) -> ModelError:
    """Return the error that a reply of status 200 contains (`{"error": {"code": 503, …}}`)."""
    code = body.get("code") if isinstance(body, dict) else None
    status = 429 if code in _RATE_CODES else 502
    if isinstance(code, int) and 400 <= code < 600:
        status = code
    return status_error(status, {}, body, source)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of `retry-after-ms`, or of `Retry-After` as seconds or as an HTTP date; None without."""
    for header, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        with suppress(ValueError):
            if math.isfinite(seconds := float(headers.get(header, ""))) and seconds >= 0:
                return seconds * unit
    try:
        return max(0.0, parsedate_to_datetime(headers.get("retry-after", "")).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


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
        texts = (part if isinstance(part, str) else part.get("text") for part in value)
        return "".join(part for part in texts if isinstance(part, str))
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
        usable = isinstance(id_, str) and id_ and id_ not in seen
        call_id = id_ if usable else f"{prefix}_{position}"
        seen.add(call_id)
        written = arguments if isinstance(arguments, str) else "" if arguments is None else json.dumps(arguments)
        calls.append(ToolCall(call_id, name if isinstance(name, str) else "", written))
    return tuple(calls)


def usage(wire: Any) -> Usage:
    """Return the usage of a reply of Chat Completions or Responses; `cost` if the provider reports it."""
    fields = mapping(wire)
    input_details = mapping(fields.get("prompt_tokens_details") or fields.get("input_tokens_details"))
    output_details = mapping(fields.get("completion_tokens_details") or fields.get("output_tokens_details"))
    return Usage(
        count(fields.get("prompt_tokens", fields.get("input_tokens"))),
        count(fields.get("completion_tokens", fields.get("output_tokens"))),
        count(output_details.get("reasoning_tokens")),
        count(input_details.get("cached_tokens")),
        dollars(fields.get("cost")),
    )
