"""Find the tool calls in the text of a reply.

Calls are fenced, tagged or bare JSON. An object is a call if it has a name and arguments; small models also write the
arguments next to the name, which counts if the tool has all of these parameters. An answer in JSON, even a list of
rows with a property `name`, is never taken for a call.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from graphwalk.models.call_formats import PREFIX, CallSpan, python_calls, tagged_calls

_LONGEST_TEXT = 200_000
"""Characters that are searched, since hostile text takes long."""
_MOST_FAILURES = 1000
_NAMES = ("name", "function", "tool", "tool_name")
_ARGUMENTS = ("arguments", "parameters", "args")
_WRAPPERS = ("function", "function_call", "tool_call")
_START = re.compile(r"\[\s*\{|\{")
_BROKEN = re.compile(r'\{\s*"(?:name|function|tool)"\s*:\s*"([^"]{1,64})"\s*,\s*"(?:arguments|parameters|args)"\s*:\s*')
_BROKEN_END = re.compile(r"```|</?tool_call>|\Z")
_EMPTY_SHELL = re.compile(
    r"```[\w-]*\s*```|<(tool_call|function_call)>\s*</\1>|<function=[\w.-]+>\s*</function>"
    r"""|(?:<tools?>\s*)?<\w+\s+name=["'][\w.-]+["']\s+arguments=(["'])\2\s*(?:/>|>\s*</\w+>)(?:\s*</tools?>)?"""
)
_TAG = re.compile(r"""<function=([\w.-]+)>\s*\Z|<\w+\s+name=["']([\w.-]+)["']\s+arguments=["']\s*\Z""")
_WRITTEN_CALL = re.compile(r"([A-Za-z_][\w-]{0,63})\(\s*\Z")
_CLOSED = re.compile(r"\s*\)[;,]?")
_NOTHING = re.compile(r"(?:```[\w-]*|[\s`;,])*")
_MARKER = r"`{3}[\w-]*|</?[\w|｜▁=\"' .-]{1,60}>|\[/?TOOL_CALLS\]"
_BETWEEN = re.compile(rf"(?:\s|[;,)\]]|{_MARKER})*")
"""Text between two calls of one block."""
_CLOSERS = re.compile(r"(?:\s*(?:`{3}(?!\w)|</[\w｜▁|]+>|<[\w|｜▁]*end[\w|｜▁]*>|[)\]]))*")
"""Fences and tags that close a call after its JSON."""
_DECODER = json.JSONDecoder()


class CallsInText(NamedTuple):
    """Calls as (name, arguments as text) in the order of the text, and the text without them."""

    calls: tuple[tuple[str, str], ...]
    rest: str


def visible(text: str) -> str:
    """Return a reply without the reasoning before it."""
    return text[text.rfind("</think>") + len("</think>") :] if "</think>" in text else text


def find_calls(text: str, tools: Mapping[str, Collection[str]], *, lenient: bool) -> CallsInText:
    """Find the calls in a reply; `tools`: tool → names of its parameters.

    Only well-formed calls to known tools count. `lenient`: unknown tools and broken calls count too, so that the model
    gets an error; for models that have no other way to call.
    """
    begin = text.rfind("</think>") + 1
    values = list(_json_values(text[:_LONGEST_TEXT], begin))
    if written := _written_calls(text, begin, values, tools):
        return CallsInText(written, "")
    call_spans = _spans(text, begin, values, tools, lenient)
    spans = [(span.start, span.end) for span in call_spans]
    calls = [call for span in call_spans for call in span.calls]
    for match in _BROKEN.finditer(text, begin, begin + _LONGEST_TEXT) if lenient else ():
        # The first call to a known tool with malformed JSON.
        if match[1] in tools and not any(start <= match.start() < end for start, end, _ in values):
            ending = _BROKEN_END.search(text, match.end())
            end = ending.start() if ending is not None else len(text)
            calls.append((match[1], text[match.end() : end].strip()))
            spans.append((match.start(), end))
            break
    if not spans:
        return CallsInText(tuple(calls), text)
    ends = [0, *(end for _, end in sorted(spans))]
    starts = [*(start for start, _ in sorted(spans)), len(text)]
    rest = "".join(text[end:start] for end, start in zip(ends, starts, strict=True))
    return CallsInText(tuple(calls), _EMPTY_SHELL.sub("", rest).strip())


def first_calls(text: str, tools: Mapping[str, Collection[str]]) -> str:
    """Return a reply up to the end of its first calls, with nothing but fences and tags between these."""
    begin = text.rfind("</think>") + 1
    values = list(_json_values(text[:_LONGEST_TEXT], begin))
    call_spans = _spans(text, begin, values, tools, lenient=True)
    if not call_spans or _written_calls(text, begin, values, tools):
        return text
    end = call_spans[0].end
    for span in call_spans[1:]:
        if not _BETWEEN.fullmatch(text, end, max(end, span.start)):
            break
        end = max(end, span.end)
    closers = _CLOSERS.match(text, end)
    return text[: end if closers is None else closers.end()].rstrip()


def _spans(
    text: str, begin: int, values: list[tuple[int, int, Any]], tools: Mapping[str, Collection[str]], lenient: bool
) -> list[CallSpan]:
    """Return the calls in the order of the text; `values`: its JSON values. `lenient`: formats of all families."""
    spans = list(tagged_calls(text[:_LONGEST_TEXT], begin, tools)) if lenient else []
    for start, end, value in values:
        tag = _TAG.search(text, max(0, start - 100), start)
        name = "" if tag is None else tag[1] or tag[2]
        prefix = PREFIX.search(text, max(begin, start - 100), start) if lenient else None
        if prefix is not None:
            name = prefix[1] or prefix[2] or (prefix[3] if prefix[3] in tools else name)
        call = {"name": name, "arguments": value} if name and isinstance(value, dict) else value
        if parsed := _calls_in(call, tools, lenient):
            spans.append(CallSpan(start if prefix is None or not name else prefix.start(), end, parsed))
    for span in python_calls(text[:_LONGEST_TEXT], begin, tools) if lenient else ():
        if all(span.end <= other.start or other.end <= span.start for other in spans):
            spans.append(span)
    return sorted(spans)


def _written_calls(
    text: str, begin: int, values: list[tuple[int, int, Any]], tools: Collection[str]
) -> tuple[tuple[str, str], ...]:
    """Return calls like `look({"key": "a"})` of a reply that contains nothing else, as small models write them."""
    calls, rest, position = [], "", text.find(">", begin) + 1 if begin else 0
    for start, end, value in values:
        name = _WRITTEN_CALL.search(text, position, start)
        closed = _CLOSED.match(text, end)
        if name is None or closed is None or name[1] not in tools or not isinstance(value, dict):
            return ()
        calls.append((name[1], json.dumps(value)))
        rest, position = rest + text[position : name.start()], closed.end()
    return tuple(calls) if calls and _NOTHING.fullmatch(rest + text[position:]) else ()


def _json_values(text: str, position: int) -> Iterator[tuple[int, int, Any]]:
    """Yield (start, end, value) of the outermost JSON objects, and lists of objects, in a text."""
    failures = 0
    while failures < _MOST_FAILURES and (match := _START.search(text, position)) is not None:
        start = match.start()
        try:
            value, position = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            failures += 1
            position = start + 1
        else:
            yield start, position, value


def _calls_in(value: Any, tools: Mapping[str, Collection[str]], lenient: bool) -> list[tuple[str, str]]:
    """Return the calls of a JSON value; none if a part of it is not a call."""
    for key in ("tool_calls", "calls") if lenient else ("tool_calls",):
        if isinstance(value, dict) and isinstance(value.get(key), list):
            value = value[key]
    calls = [_call(item, tools, lenient) for item in (value if isinstance(value, list) else [value])]
    return [call for call in calls if call is not None] if all(calls) else []


def _call(value: Any, tools: Mapping[str, Collection[str]], lenient: bool) -> tuple[str, str] | None:
    if not isinstance(value, dict):
        return None
    for wrapper in _WRAPPERS:
        if isinstance(value.get(wrapper), dict):
            value = value[wrapper]
    named = next((key for key in _NAMES if isinstance(value.get(key), str)), None)
    key = next((key for key in _ARGUMENTS if key in value), None)
    if named is None:
        return None
    name = value[named]
    if key is None:
        others = {key: item for key, item in value.items() if key != named}
        flat = lenient and others and all(key in tools.get(name, ()) for key in others)
        return (name, json.dumps(others)) if flat else None
    arguments = value[key]
    is_call = name in tools or (lenient and isinstance(arguments, dict) and len(value) <= 4)
    if not is_call:
        return None
    return name, arguments if isinstance(arguments, str) else json.dumps({} if arguments is None else arguments)
