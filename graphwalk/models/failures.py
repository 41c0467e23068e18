"""Turn failures of a provider into ModelErrors with hint, `retryable` and `retry_after`."""

import math
import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

from graphwalk.errors import ModelError

_LONGEST_MESSAGE = 100_000
"""Characters of a server's message; some send a web page. It is cut further after redaction."""
_RETRYABLE = frozenset({408, 409, 425, 429})
_OVERLOADED = frozenset({429, 503, 529})
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
    r"tool.?choice.{0,40}requires|enable-auto-tool-choice|(?:tools?|functions?|function calling|tool use|tool calling)"
    r"(?: \w+)? (?:is|are)(?: \w+)? (?:not|un)[ -]?(?:supported|enabled|available)|(?:not|n't) support "
    r"(?:tools?|functions?|function calling|tool use|tool calling|tool calls)|unsupported.{0,20}\btools\b",
    re.IGNORECASE,
)
"""Messages of vLLM without a tool call parser, Ollama, OpenRouter, LM Studio and TGI."""


class NoToolsError(ModelError):
    """Error of a server or model that takes no tools."""


class OverloadedError(ModelError):
    """Error of a server that asks for fewer requests (429, 503, 529): all conversations with it slow down."""


def status_error(status: int, headers: Mapping[str, str], body: Any, source: str) -> ModelError:
    """Return the error for an HTTP status; `body` is the decoded error object or text, `source` the server's name.

    The server's message is not redacted; `Guarded` does that.
    """
    text, code = _message(body), _code(body)
    kind: type[ModelError]
    # An overflow is scored as the agent's failure, so the message alone does not decide.
    overflow = (
        code.startswith(_OVERFLOW_CODES)
        or (status == 413 and code not in _RATE_CODES)
        or (status in (400, 422) and bool(_OVERFLOW.search(text)))
    )
    if status == 413 and code in _RATE_CODES:
        status = 429
    retryable = (status in _RETRYABLE or status >= 500) and not overflow and code != "insufficient_quota"
    hint, kind = _HINTS.get(status, ""), ModelError
    if retryable and status in _OVERLOADED:
        kind = OverloadedError
    elif 400 <= status < 500 and _NO_TOOLS.search(text):
        kind, hint = NoToolsError, "describe the tools in the prompt instead: --tool-protocol text"
    return kind(
        f"{source} answered {status}: {text or 'no reason given'}",
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
    milliseconds = _seconds(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after", "")
    seconds = _seconds(value)
    if seconds is not None:
        return seconds
    until = _date(value)
    if until is None:
        return None
    # The local clock may be wrong by hours; the server's clock comes first.
    return max(0.0, until - (_date(headers.get("date", "")) or time.time()))


def _seconds(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _date(value: str) -> float | None:
    try:
        return parsedate_to_datetime(value).timestamp()
    except (ValueError, OverflowError):
        return None


def _message(body: Any) -> str:
    """Return the message of an error body: {"message"}, {"error": …}, {"detail": …}, or plain text."""
    for _ in range(3):
        if not isinstance(body, dict):
            break
        body = next((body[key] for key in ("message", "error", "detail", "msg") if body.get(key)), None)
    return body[:_LONGEST_MESSAGE] if isinstance(body, str) else "" if body is None else str(body)[:_LONGEST_MESSAGE]


def _code(body: Any) -> str:
    if isinstance(body, dict) and isinstance(body.get("error"), dict):
        body = body["error"]
    return f"{body.get('code') or body.get('type') or ''}" if isinstance(body, dict) else ""
