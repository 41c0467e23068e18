"""Find the tool calls in the text of a reply.

Calls are JSON, usually in a fence or a tag: `{"name": …, "arguments": {…}}`, as Hermes and Qwen write them, or
`<function=NAME>{…}`. An answer in JSON, even a list of rows with a property `name`, is never taken for a call.
"""

import json
import re
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

_LONGEST_TEXT, _MOST_FAILURES = 200_000, 1000
"""Characters that are searched, and beginnings of JSON that are tried: hostile text takes long."""
_ARGUMENTS = ("arguments", "parameters")
_START = re.compile(r"\[\s*\{|\{")
_FUNCTION_TAG = re.compile(r"<function=([\w.-]+)[>(]?\s*\Z")
"""Llama also writes `<function=NAME{…}` and `<function=NAME({…})`."""
_BROKEN = re.compile(r'\{\s*"name"\s*:\s*"([^"]{1,64})"\s*,\s*"(?:arguments|parameters)"\s*:\s*')
_BROKEN_END = re.compile(r"```|</?tool_call>|\Z")
_EMPTY_SHELL = re.compile(r"```[\w-]*\s*```|<tool_call>\s*</tool_call>|<function=[\w.-]+[>(]?\s*\)?\s*</function>")
_BETWEEN = re.compile(r"(?:\s|[;,]|`{3}[\w-]*|</?[\w=.-]{1,60}>)*")
"""Text between two calls of one block."""
_CLOSERS = re.compile(r"(?:\s*(?:`{3}(?!\w)|</\w{1,60}>))*")
"""Fences and tags that close a call after its JSON."""
_DECODER = json.JSONDecoder()


class CallsInText(NamedTuple):
    """Calls as (name, arguments as text) in the order of the text, and the text without them."""

    calls: tuple[tuple[str, str], ...]
    rest: str


class _Span(NamedTuple):
    """Calls, each name and arguments, and their place in a text."""

    start: int
    end: int
    calls: list[tuple[str, str]]


def visible(text: str) -> str:
    """Return a reply without the reasoning before it."""
    return text[text.rfind("</think>") + len("</think>") :] if "</think>" in text else text


def find_calls(text: str, tools: Collection[str]) -> CallsInText:
    """Find the calls in a reply. Calls to unknown tools and broken calls count, so that the model gets an error."""
    values = list(_json_values(text))
    spans = _spans(text, values, tools)
    if broken := _broken_call(text, values, tools):
        spans.append(broken)
    if not spans:
        return CallsInText((), text)
    ends = [0, *(end for _, end, _ in sorted(spans))]
    starts = [*(start for start, _, _ in sorted(spans)), len(text)]
    rest = "".join(text[end:start] for end, start in zip(ends, starts, strict=True))
    return CallsInText(tuple(call for span in spans for call in span.calls), _EMPTY_SHELL.sub("", rest).strip())


def first_calls(text: str, tools: Collection[str]) -> str:
    """Return a reply up to the end of its first calls, with nothing but fences and tags between these."""
    spans = _spans(text, list(_json_values(text)), tools)
    if not spans:
        return text
    end = spans[0].end
    for span in spans[1:]:
        if not _BETWEEN.fullmatch(text, end, span.start):
            break
        end = span.end
    closers = _CLOSERS.match(text, end)
    return text[: end if closers is None else closers.end()].rstrip()


def _json_values(text: str) -> Iterator[tuple[int, int, Any]]:
    """Yield (start, end, value) of the outermost JSON objects, and lists of objects, after the reasoning."""
    position, failures = text.rfind("</think>") + 1, 0
    text = text[:_LONGEST_TEXT]
    while failures < _MOST_FAILURES and (match := _START.search(text, position)) is not None:
        start = match.start()
        try:
            value, position = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            failures += 1
            position = start + 1
        else:
            yield start, position, value


def _spans(text: str, values: list[tuple[int, int, Any]], tools: Collection[str]) -> list[_Span]:
    spans = []
    for start, end, value in values:
        tag = _FUNCTION_TAG.search(text, max(0, start - 100), start)
        call = {"name": tag[1], "arguments": value} if tag is not None and isinstance(value, dict) else value
        if calls := _calls_in(call, tools):
            spans.append(_Span(start, end, calls))
    return spans


def _broken_call(text: str, values: list[tuple[int, int, Any]], tools: Collection[str]) -> _Span | None:
    """Return the first call to a known tool whose arguments are malformed JSON, None without one."""
    begin = text.rfind("</think>") + 1
    for match in _BROKEN.finditer(text, begin, begin + _LONGEST_TEXT):
        if match[1] in tools and not any(start <= match.start() < end for start, end, _ in values):
            ending = _BROKEN_END.search(text, match.end())
            end = ending.start() if ending is not None else len(text)
            return _Span(match.start(), end, [(match[1], text[match.end() : end].strip())])
    return None


def _calls_in(value: Any, tools: Collection[str]) -> list[tuple[str, str]]:
    """Return the calls of a JSON value; none if a part of it is not a call."""
    if isinstance(value, dict) and isinstance(value.get("calls"), list):  # of the JSON protocol
        value = value["calls"]
    calls = []
    for item in value if isinstance(value, list) else [value]:
        name = item.get("tool", item.get("name")) if isinstance(item, dict) else None
        if not isinstance(name, str) or not any(key in item for key in _ARGUMENTS):
            return []
        arguments = next(item[key] for key in _ARGUMENTS if key in item)
        if name not in tools and not (isinstance(arguments, dict) and len(item) <= 4):
            return []
        written = arguments if isinstance(arguments, str) else json.dumps({} if arguments is None else arguments)
        calls.append((name, written))
    return calls
