"""Read what a provider sends: fields of a reply, whatever their type, and failures as ModelErrors."""

import json
import re
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import Any

from graphwalk.errors import ModelError
from graphwalk.models.chat import Message, Reply, ToolCall, ToolSpec, Usage
from graphwalk.models.refusals import Refusal, hint_for, refusal_of
from graphwalk.models.text_calls import find_calls

_LARGEST_COUNT = 2**53
_LONGEST_MESSAGE = 100_000
"""Characters of a server's message; some send a web page. It is cut further after redaction."""
SHOWN_CHARACTERS = 300
"""Of a reply that cannot be read, in its error."""
_RETRYABLE = frozenset({408, 409, 425, 429})
_HINTS = {
    401: "check {key}",
    403: "check that {key} may use the model",
    404: "check the model's name and the base URL",
}
_RATE_CODES = ("rate_limit_exceeded", "server_is_overloaded")
_NO_CREDIT = re.compile(
    r"(?:insufficient|not enough|no|out of|low|negative) (?:account )?(?:credit|balance|fund|quota)s?\b"
    r"|balance (?:is )?(?:too low|not enough|insufficient)|insufficient_(?:quota|balance|credits)|payment required"
    r"|in arrears|overdue|余额不足|欠费",
    re.IGNORECASE,
)
_NO_MODEL_OR_KEY = re.compile(
    r"model\b.{0,80}\b(?:does not exist|not exist|not found|unknown|not available|not supported)"
    r"|(?:no such|unknown|invalid|unsupported) model|(?:invalid|incorrect|missing|wrong) (?:api.?)?key|unauthori[sz]ed"
    r"|authentication (?:failed|error|required)|permission denied",
    re.IGNORECASE | re.DOTALL,
)
"""Words of a failure that comes again however often a request is sent."""
_UNREADABLE_CALL = re.compile(
    r"error parsing tool call: raw='(.*)', err=|Failed to parse input at pos \d+: (.*)", re.DOTALL
)
"""Messages of Ollama and llama.cpp, with what the model wrote."""
_DURATION = re.compile(r"(\d+(?:\.\d*)?)(ms|s|)", re.IGNORECASE)


class UnreadableCallError(ModelError):
    """A refusal by a server that could not read the model's own call, which is the model's mistake.

    `text` is what the model wrote.
    """

    def __init__(self, message: str, text: str) -> None:
        super().__init__(message)
        self.text = text

    def reply(self, tools: Iterable[ToolSpec], sent: int) -> Reply:
        """Return the text as the model's reply, with the calls in it. `sent`: the number of messages, for their ids."""
        schemas = {tool.name: tool.parameters for tool in tools}
        if not schemas:
            return Reply(Message("assistant", self.text))
        calls_in_text, before = find_calls(self.text, schemas, schemas)
        calls = []
        for number, (name, arguments) in enumerate(calls_in_text):
            calls.append(ToolCall.of_model(f"call_{sent}_{number}", name, arguments))
        return Reply(Message("assistant", before or None, tuple(calls)))


def status_error(
    status: int,
    headers: Mapping[str, str],
    body: Any,
    source: str,
    key: str = "the API key of this provider",
    *,
    answered: int | None = None,
) -> ModelError:
    """Return the error of an HTTP status, unredacted.

    `body`: error object, a list of these (Gemini) or a text. `source`: the server's name. `key`: the variable of the
    API key. `answered`: the status in the message, where the body has another one.
    """
    if isinstance(body, list) and body:
        body = body[0]
    # {"error": {"code": "rate_limit_exceeded", "message": "…"}}, or these fields alone
    error = mapping(mapping(body).get("error")) or mapping(body)
    code = f"{error.get('code') or error.get('type') or ''}"
    message = _message_in(body)
    cause = f"{source} answered {answered or status}: {message or 'no reason given'}"

    unreadable = _UNREADABLE_CALL.search(message)
    if unreadable or code == "tool_use_failed" or "failed_generation" in error:
        if unreadable:
            written = unreadable[1] or unreadable[2]
        else:
            written = text(error.get("failed_generation"))
        return UnreadableCallError(cause, written or "")

    if status == 413 and code in _RATE_CODES:
        status = 429
    refusal = refusal_of(status, code, message)
    is_of_no_use = refusal is not None or code == "insufficient_quota" or bool(_NO_CREDIT.search(message))
    retryable = (status in _RETRYABLE or status >= 500) and not is_of_no_use
    hint = ""
    if not retryable and refusal is not Refusal.CONTEXT_OVERFLOW:
        hint = hint_for(refusal, status, message) or _HINTS.get(status, "").format(key=key)
    wait = None
    if retryable:
        # {"details": [{"@type": "…RetryInfo", "retryDelay": "20.5s"}]}
        delays = [mapping(detail).get("retryDelay") for detail in sequence(error.get("details"))]
        wait = retry_after(headers, delays)
    return ModelError(
        cause,
        hint=hint,
        retryable=retryable,
        retry_after=wait,
        context_overflow=refusal is Refusal.CONTEXT_OVERFLOW,
        status=status,
    )


def _message_in(body: Any) -> str:
    """Return the message of an error: `{"error": {"message": "no"}}`, `{"detail": [{"msg": "no"}]}`, a text."""
    words = body
    while isinstance(words, dict):
        words = next((words[name] for name in ("message", "error", "detail", "msg") if words.get(name)), "")
    return ("" if words is None else str(words))[:_LONGEST_MESSAGE]


def reported_error(body: Any, source: str) -> ModelError:
    """Return the error that a reply of status 200 contains (`{"error": {"code": 503, …}}`)."""
    code = body.get("code") if isinstance(body, dict) else None
    status = 502
    if code in _RATE_CODES:
        status = 429
    elif str(code).isdecimal() and 400 <= int(str(code)) < 600:
        status = int(str(code))
    error = status_error(status, {}, body, source, answered=200)
    if _NO_MODEL_OR_KEY.search(error.message):
        error.retryable = False
    return error


def without_reply(body: Any, source: str) -> ModelError:
    """Return the error for a response of status 200 that has no reply, with its beginning."""
    error = reported_error(body, source)
    written = json.dumps(body, ensure_ascii=False)
    error.args = (f"{source} answered 200 without a reply: {written[:SHOWN_CHARACTERS]}",)
    if _NO_CREDIT.search(written) or _NO_MODEL_OR_KEY.search(written):
        error.retryable = False
    return error


def retry_after(headers: Mapping[str, str], durations: Iterable[Any] = ()) -> float | None:
    """Return the longest wait in seconds that a server asks for; None without one.

    It is in `retry-after-ms`, else in `Retry-After` as seconds ("30", "30s") or an HTTP date, or among the `durations`
    of the body ("20.5s").
    """
    header = headers.get("retry-after", "")
    milliseconds = headers.get("retry-after-ms")
    texts: list[Any] = [f"{milliseconds}ms" if milliseconds else header]
    texts.extend(durations)

    waits = []
    for duration in texts:
        match = _DURATION.fullmatch(str(duration))
        if match is None:
            continue
        seconds = float(match[1])
        if match[2].lower() == "ms":
            seconds /= 1000
        waits.append(seconds)
    # Fri, 31 Dec 1999 23:59:59 GMT
    with suppress(ValueError, OverflowError):
        waits.append(max(0.0, parsedate_to_datetime(header).timestamp() - time.time()))
    return max(waits, default=None)


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
    if not isinstance(value, list) or not all(isinstance(part, str | dict) for part in value):
        return json.dumps(value)

    # [{"type": "text", "text": "It is "}, "Ida"]
    texts = []
    for part in value:
        part_text = part.get("text") if isinstance(part, dict) else part
        if isinstance(part_text, str):
            texts.append(part_text)
    return "".join(texts)


def tool_calls(fields: Iterable[tuple[Any, Any, Any]], prefix: str) -> tuple[ToolCall, ...]:
    """Return calls from (id, name, arguments); missing and repeated ids become `prefix` and the position."""
    calls: list[ToolCall] = []
    for position, (id_, name, arguments) in enumerate(fields):
        is_usable = isinstance(id_, str) and id_ and all(id_ != call.id for call in calls)
        if not is_usable:
            id_ = f"{prefix}_{position}"
        if not isinstance(name, str):
            name = ""
        if arguments is None:
            arguments = ""
        if not isinstance(arguments, str):
            arguments = json.dumps(arguments)
        calls.append(ToolCall.of_model(id_, name, arguments))
    return tuple(calls)


def usage(wire: Any) -> Usage:
    """Return the usage of a reply of Chat Completions, Responses or LangChain; `cost` if the provider reports it.

    {"prompt_tokens": 90, "completion_tokens": 7, "completion_tokens_details": {"reasoning_tokens": 4}}
    """
    fields = mapping(wire)
    parts = [mapping(value) for value in fields.values()]
    parts.append(fields)

    numbers: dict[str, int | float] = {}
    for part in parts:
        for name, value in part.items():
            if type(value) in (int, float):
                numbers[name] = value

    valid = {name: number for name, number in numbers.items() if 0 <= number <= _LARGEST_COUNT}
    counts = {name: int(number) for name, number in valid.items()}
    return Usage(
        counts.get("prompt_tokens", counts.get("input_tokens")),
        counts.get("completion_tokens", counts.get("output_tokens")),
        counts.get("reasoning_tokens", counts.get("reasoning")),
        counts.get("cached_tokens", counts.get("cache_read")),
        valid.get("cost"),
    )
