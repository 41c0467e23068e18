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
_OPENING = re.compile(r"(?:`{3}[\w-]*|<[\w=.-]+[>(]?)\s*\Z")
"""The fence or tag before a call."""
_DECODER = json.JSONDecoder()


class CallsInText(NamedTuple):
    """Calls as (name, arguments as text) in their order, and the text before them: all of it if there are none."""

    calls: tuple[tuple[str, str], ...]
    before: str


def visible(text: str) -> str:
    """Return a reply without the reasoning before it."""
    return text[text.rfind("</think>") + len("</think>") :] if "</think>" in text else text


def find_calls(text: str, tools: Collection[str]) -> CallsInText:
    """Find the calls in a reply. Calls to unknown tools and broken calls count, so that the model gets an error."""
    values = list(_json_values(text))
    calls = []
    for start, _, value in values:
        tag = _FUNCTION_TAG.search(text, max(0, start - 100), start)
        call = {"name": tag[1], "arguments": value} if tag is not None and isinstance(value, dict) else value
        calls += [(start, *one) for one in _calls_in(call, tools)]
    calls += _broken_calls(text, values, tools)
    if not calls:
        return CallsInText((), text)
    before = _OPENING.sub("", text[: min(start for start, _, _ in calls)])
    return CallsInText(tuple((name, arguments) for _, name, arguments in calls), before.strip())


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


def _broken_calls(
    text: str, values: list[tuple[int, int, Any]], tools: Collection[str]
) -> Iterator[tuple[int, str, str]]:
    """Yield start, name and arguments of the first call to a known tool whose arguments are malformed JSON."""
    begin = text.rfind("</think>") + 1
    for match in _BROKEN.finditer(text, begin, begin + _LONGEST_TEXT):
        if match[1] in tools and not any(start <= match.start() < end for start, end, _ in values):
            ending = _BROKEN_END.search(text, match.end())
            yield match.start(), match[1], text[match.end() : ending.start() if ending else len(text)].strip()
            return


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
