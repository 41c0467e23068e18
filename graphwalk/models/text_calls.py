"""Find the tool calls in the text of a reply.

Calls are JSON, usually in a fence or a tag: `{"name": …, "arguments": {…}}`, as Hermes and Qwen write them, or
`<function=NAME>{…}`. Or they are XML, as of Qwen3-Coder and GLM, with a tag for each argument. An answer in JSON, even
a list of rows with a property `name`, is never taken for a call.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from graphwalk.models.chat import Message, ToolSpec, known_name

_LONGEST_TEXT = 200_000
"""Characters that are searched: hostile text takes long."""
_MOST_FAILURES = 1000
"""Beginnings of JSON that are tried, for the same reason."""
_ARGUMENTS = ("arguments", "parameters")
_START = re.compile(r"\[\s*\{|\{")
_FUNCTION_TAG = re.compile(r"<function=([\w.-]+)[>(]?\s*\Z")
"""Llama also writes `<function=NAME{…}` and `<function=NAME({…})`."""
_BROKEN = re.compile(r'\{\s*"name"\s*:\s*"([^"]{1,64})"\s*,\s*"(?:arguments|parameters)"\s*:\s*')
_BROKEN_END = re.compile(r"```|</?tool_call>|\Z")
_OPENING = re.compile(r"(?:`{3}[\w-]*|<[\w=.-]+[>(]?)\s*\Z")
"""The fence or tag before a call."""
_DECODER = json.JSONDecoder()
_XML_CALL = re.compile(
    r"<(?:function|invoke)(?:=|\s+name=)[\"']?(?P<named>[^\s<>\"'({]{1,64})[\"']?\s*>"
    r"(?P<body>.*?)(?:</(?:function|invoke)>|</tool_call>|\Z)"
    r"|<tool_call>\s*(?P<bare>[\w./:-]{1,64})\s*(?P<pairs>(?:<arg_key>.*?)?)(?:</tool_call>|\Z)",
    re.DOTALL,
)
"""Qwen3-Coder and others: `<function=look><parameter=key>a</parameter></function>`, `<invoke name="look">…`.
GLM: `<tool_call>look<arg_key>key</arg_key><arg_value>a</arg_value></tool_call>`."""
_XML_ARGUMENT = re.compile(
    r"<parameter(?:=|\s+name=)[\"']?(?P<name>[^\s<>\"']{1,64})[\"']?[^<>]*>(?P<value>.*?)"
    r"(?:</parameter>|(?=<parameter[=\s])|\Z)"
    r"|<arg_key>(?P<key>[^<]{1,64})</arg_key>\s*<arg_value>(?P<pair>.*?)(?:</arg_value>|\Z)",
    re.DOTALL,
)
_CALL_MARK = re.compile(r"<tool_call>|<\|?tool_calls?|<function[=\s]|<invoke\s|\[TOOL_CALLS\]|<｜tool|to=functions\.")
"""The beginning of a call in the forms of many models, also of those that are not read here."""
CALL_AS_TEXT = "the reply is a tool call as text: -o agent.tool_format=text"
"""For a server that has no parser for the calls of its model."""


class _Call(NamedTuple):
    """A call, and where it begins in the text."""

    start: int
    name: str
    arguments: str


class CallsInText(NamedTuple):
    """Calls as (name, arguments as text) in their order, and the text before them: all of it if there are none."""

    calls: tuple[tuple[str, str], ...]
    before: str


def visible(text: str) -> str:
    """Return a reply without the reasoning before it."""
    return text.rpartition("</think>")[2]


def is_call_as_text(message: Message, tools: Sequence[ToolSpec]) -> bool:
    """Return True for a reply without calls, to a request with tools, whose text is a call."""
    if not tools or message.tool_calls or not message.content:
        return False
    answer = visible(message.content)
    return bool(_CALL_MARK.search(answer)) or bool(find_calls(answer, [tool.name for tool in tools]).calls)


def find_calls(
    text: str, tools: Collection[str], schemas: Mapping[str, Mapping[str, Any]] | None = None
) -> CallsInText:
    """Find the calls in a reply. Calls to unknown tools and broken calls count, so that the model gets an error.

    `schemas`: the JSON schema of each tool's arguments, by which arguments in XML get their types.
    """
    calls: list[_Call] = []
    if "<" in text or "{" in text:  # XML and JSON begin so
        calls = _xml_calls(text, tools, schemas or {}) or _json_calls(text, tools)
    if not calls:
        return CallsInText((), text)
    start = min(call.start for call in calls)
    before = _OPENING.sub("", text[:start])
    return CallsInText(tuple((call.name, call.arguments) for call in calls), before.strip())


def _xml_calls(text: str, tools: Collection[str], schemas: Mapping[str, Mapping[str, Any]]) -> list[_Call]:
    """Return the calls in XML after the reasoning."""
    begin = text.rfind("</think>") + 1
    calls = []
    for match in _XML_CALL.finditer(text, begin, begin + _LONGEST_TEXT):
        name = known_name(match["named"] or match["bare"], tools)
        body = match["body"] or match["pairs"] or ""
        if match["bare"] and not body and name not in tools:
            continue  # <tool_call>nonsense</tool_call>
        if "{" in body and not _XML_ARGUMENT.search(body):
            return []  # <function=look>{"key": "a"}</function>
        properties = schemas.get(name, {}).get("properties", {})
        arguments = {}
        for argument in _XML_ARGUMENT.finditer(body):
            key = (argument["name"] or argument["key"]).strip()
            value = argument["pair"] if argument["value"] is None else argument["value"]
            arguments[key] = _typed(value.strip(), properties.get(key, {}))
        calls.append(_Call(match.start(), name, json.dumps(arguments, ensure_ascii=False)))
    return calls


def _typed(value: str, schema: Mapping[str, Any]) -> Any:
    """Return the text of an argument as its schema wants it: `5` for a parameter of type integer is a number."""
    types = schema.get("type", "string")
    if types == "string" or "string" in types:
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _json_calls(text: str, tools: Collection[str]) -> list[_Call]:
    """Return the calls in JSON, the broken one last."""
    calls = []
    values = list(_json_values(text))
    for start, _, value in values:
        tag = _FUNCTION_TAG.search(text, max(0, start - 100), start)
        if tag is not None and isinstance(value, dict):
            value = {"name": tag[1], "arguments": value}  # <function=look>{"key": "a"}
        for name, arguments in _calls_in(value, tools):
            calls.append(_Call(start, known_name(name, tools), arguments))
    calls.extend(_broken_calls(text, values, tools))
    return calls


def _json_values(text: str) -> Iterator[tuple[int, int, Any]]:
    """Yield (start, end, value) of the outermost JSON objects, and lists of objects, after the reasoning."""
    position = text.rfind("</think>") + 1
    text = text[:_LONGEST_TEXT]
    failures = 0
    while failures < _MOST_FAILURES:
        match = _START.search(text, position)
        if match is None:
            return
        start = match.start()
        try:
            value, position = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            failures += 1
            position = start + 1
        else:
            yield start, position, value


def _broken_calls(text: str, values: list[tuple[int, int, Any]], tools: Collection[str]) -> Iterator[_Call]:
    """Yield the first call to a known tool with malformed arguments: `{"name": "look", "arguments": {key}`."""
    begin = text.rfind("</think>") + 1
    for match in _BROKEN.finditer(text, begin, begin + _LONGEST_TEXT):
        is_in_value = any(start <= match.start() < end for start, end, _ in values)
        if match[1] not in tools or is_in_value:
            continue
        ending = _BROKEN_END.search(text, match.end())
        end_of_arguments = ending.start() if ending else len(text)
        yield _Call(match.start(), match[1], text[match.end() : end_of_arguments].strip())
        return


def _calls_in(value: Any, tools: Collection[str]) -> list[tuple[str, str]]:
    """Return the calls of a JSON value; none if a part of it is not a call."""
    if isinstance(value, dict) and isinstance(value.get("calls"), list):  # of the JSON protocol
        value = value["calls"]
    items = value if isinstance(value, list) else [value]

    calls = []
    for item in items:
        # {"name": "look", "arguments": {"key": "a"}}, {"tool": "look", "parameters": "{\"key\": \"a\"}"}
        if not isinstance(item, dict):
            return []
        name = item.get("tool", item.get("name"))
        fields = [key for key in _ARGUMENTS if key in item]
        if not isinstance(name, str) or not fields:
            return []

        arguments = item[fields[0]]
        # A call to an unknown tool has few fields; a row of an answer may have a name and parameters too.
        looks_like_call = isinstance(arguments, dict) and len(item) <= 4
        if name not in tools and not looks_like_call:
            return []
        if arguments is None:
            arguments = {}
        calls.append((name, arguments if isinstance(arguments, str) else json.dumps(arguments)))
    return calls
