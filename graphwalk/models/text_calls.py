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
CALL_AS_TEXT = "the reply is a tool call as text: -o agent.tool_protocol=text"
"""For a server that has no parser for the calls of its model."""


class CallsInText(NamedTuple):
    """Calls as (name, arguments as text) in their order, and the text before them: all of it if there are none."""

    calls: tuple[tuple[str, str], ...]
    before: str


def visible(text: str) -> str:
    """Return a reply without the reasoning before it."""
    return text[text.rfind("</think>") + len("</think>") :] if "</think>" in text else text


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
    found = _xml_calls(text, tools, schemas or {})
    if found:
        before = _OPENING.sub("", text[: found[0][0]])
        return CallsInText(tuple((name, arguments) for _, name, arguments in found), before.strip())
    values = list(_json_values(text))
    calls = []
    for start, _, value in values:
        tag = _FUNCTION_TAG.search(text, max(0, start - 100), start)
        call = {"name": tag[1], "arguments": value} if tag is not None and isinstance(value, dict) else value
        calls += [(start, known_name(name, tools), written) for name, written in _calls_in(call, tools)]
    calls += _broken_calls(text, values, tools)
    if not calls:
        return CallsInText((), text)
    before = _OPENING.sub("", text[: min(start for start, _, _ in calls)])
    return CallsInText(tuple((name, arguments) for _, name, arguments in calls), before.strip())


def _xml_calls(
    text: str, tools: Collection[str], schemas: Mapping[str, Mapping[str, Any]]
) -> list[tuple[int, str, str]]:
    """Return start, name and arguments of the calls in XML after the reasoning."""
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
            value = argument["value"] if argument["value"] is not None else argument["pair"]
            arguments[key] = _typed(value.strip(), properties.get(key, {}))
        calls.append((match.start(), name, json.dumps(arguments, ensure_ascii=False)))
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
