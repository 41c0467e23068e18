"""Tool calls in text, for models without native tool calls: tools in the prompt, calls parsed from the reply.

Calls are fenced, tagged or bare JSON. An object is a call if it has a name and arguments; small models also write the
arguments next to the name, which counts if the tool has all of these parameters. An answer in JSON, even a list of
rows with a property `name`, is never taken for a call.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, takewhile
from typing import Any, Literal, NamedTuple

from graphwalk.config.prompts import Prompts
from graphwalk.types.chat import CallOptions, Message, Reply, ToolCall, ToolSpec

_PREFIX = "text_call_"
"""Beginning of the ids of calls that were found in a text."""
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
_DECODER = json.JSONDecoder()


class TextProtocol:
    """Conversion of requests and replies for a protocol; the reply keeps its text, calls included.

    `text`: tools are in the system prompt, results are user messages, calls are parsed from the reply. `auto`: tools
    are sent natively, and well-formed calls in the text are accepted too.
    """

    def __init__(self, protocol: Literal["text", "auto"], prompts: Prompts) -> None:
        self.in_prompt = protocol == "text"
        """True if tools are described in the prompt and not sent to the server."""
        self._prompts = prompts

    def outgoing(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions
    ) -> tuple[Sequence[Message], Sequence[ToolSpec], CallOptions]:
        """Return the request in the form of this protocol."""
        if not self.in_prompt:
            return [_as_native(message) for message in messages], tools, options
        sent = self._as_text(messages, tools, options.parallel_tool_calls is not False)
        return sent, (), replace(options, parallel_tool_calls=None)

    def incoming(self, reply: Reply, tools: Sequence[ToolSpec], sent: int) -> Reply:
        """Return the reply with the calls in its text. `sent`, the number of messages, is part of their ids."""
        content = reply.message.content
        if not tools or reply.message.tool_calls or not content or "{" not in content:
            return reply
        parsed = find_calls(
            content, {tool.name: tool.parameters.get("properties", ()) for tool in tools}, lenient=self.in_prompt
        )
        calls = tuple(ToolCall(f"{_PREFIX}{sent}_{i}", *call) for i, call in enumerate(parsed.calls))
        return replace(reply, message=replace(reply.message, tool_calls=calls)) if calls else reply

    def _as_text(self, messages: Sequence[Message], tools: Sequence[ToolSpec], parallel: bool) -> list[Message]:
        """Return the conversation without tool calls and tool messages; adjacent user messages are merged."""
        plain = list(self._plain(messages))
        if tools:
            system = [m.content or "" for m in plain if m.role == "system"]
            plain = [m for m in plain if m.role != "system"]
            plain.insert(0, Message("system", "\n\n".join([*system, self._description(tools, parallel)])))
            plain.append(self._reminder(messages, tools))
        merged: list[Message] = []
        for role, group in groupby(plain, key=lambda message: message.role):
            same = list(group)
            merged += [Message(role, "\n\n".join(m.content for m in same if m.content))] if role == "user" else same
        return merged

    def _description(self, tools: Sequence[ToolSpec], parallel: bool) -> str:
        described = [
            {
                "name": tool.name,
                "description": tool.description,
                "parameters": json.dumps(tool.parameters),
                "arguments": tool.parameters.get("properties", {}),
                "required": tool.parameters.get("required", ()),
            }
            for tool in tools
        ]
        return self._prompts.render("text_protocol.j2", tools=described, parallel=parallel).rstrip()

    def _reminder(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Message:
        """Return the end of the last user message; small models forget the system prompt."""
        last = [message.content or "" for message in takewhile(lambda m: m.role == "tool", reversed(messages))]
        text = self._prompts.render(
            "text_protocol_reminder.j2",
            answered=any(message.role == "tool" for message in messages),
            results=last[::-1],
            tools=[tool.name for tool in tools],
        )
        return Message("user", text.strip())

    def _plain(self, messages: Sequence[Message]) -> Iterator[Message]:
        names: dict[str | None, str] = {}
        for is_result, group in groupby(messages, key=lambda message: message.role == "tool"):
            if is_result:
                results = [{"name": names.get(m.tool_call_id, "the tool"), "content": m.content or ""} for m in group]
                yield Message("user", self._prompts.render("text_protocol_results.j2", results=results).rstrip())
                continue
            for message in group:
                names.update((call.id, call.name) for call in message.tool_calls)
                yield written_out(message) if message.tool_calls else replace(message, provider_state=None)


def _as_native(message: Message) -> Message:
    """Return a message whose calls, found in its text, are native only and no longer part of the text."""
    if not message.tool_calls or not message.tool_calls[0].id.startswith(_PREFIX):
        return message
    names: dict[str, Any] = dict.fromkeys((call.name for call in message.tool_calls), ())
    return replace(message, content=find_calls(message.content or "", names, lenient=False).rest or None)


def written_out(message: Message) -> Message:
    """Write native calls (of another model, or of an example) as text, as a model of this protocol would."""
    written = [call for call in message.tool_calls if not call.id.startswith(_PREFIX)]
    blocks = [f'```json\n{{"name": {json.dumps(c.name)}, "arguments": {c.arguments or "{}"}}}\n```' for c in written]
    return Message("assistant", "\n\n".join([*([message.content] if message.content else []), *blocks]))


class Found(NamedTuple):
    """Calls as (name, arguments as text) in the order of the text, and the text without them."""

    calls: tuple[tuple[str, str], ...]
    rest: str


def find_calls(text: str, tools: Mapping[str, Collection[str]], *, lenient: bool) -> Found:
    """Find the calls in a reply; `tools`: tool → names of its parameters.

    Only well-formed calls to known tools count. `lenient`: unknown tools and broken calls count too, so that the model
    gets an error; for models that have no other way to call.
    """
    begin = text.rfind("</think>") + 1
    values = list(_json_values(text[:_LONGEST_TEXT], begin))
    if written := _written_calls(text, begin, values, tools):
        return Found(written, "")
    spans: list[tuple[int, int]] = []
    calls: list[tuple[str, str]] = []
    for start, end, value in values:
        tag = _TAG.search(text, max(0, start - 100), start)
        call = {"name": tag[1] or tag[2], "arguments": value} if tag is not None and isinstance(value, dict) else value
        parsed = _calls_in(call, tools, lenient)
        if parsed:
            calls += parsed
            spans.append((start, end))
    for match in _BROKEN.finditer(text, begin, begin + _LONGEST_TEXT) if lenient else ():
        # The first call to a known tool with malformed JSON.
        if match[1] in tools and not any(start <= match.start() < end for start, end, _ in values):
            ending = _BROKEN_END.search(text, match.end())
            end = ending.start() if ending is not None else len(text)
            calls.append((match[1], text[match.end() : end].strip()))
            spans.append((match.start(), end))
            break
    if not spans:
        return Found(tuple(calls), text)
    ends = [0, *(end for _, end in sorted(spans))]
    starts = [*(start for start, _ in sorted(spans)), len(text)]
    rest = "".join(text[end:start] for end, start in zip(ends, starts, strict=True))
    return Found(tuple(calls), _EMPTY_SHELL.sub("", rest).strip())


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
    if isinstance(value, dict) and isinstance(value.get("tool_calls"), list):
        value = value["tool_calls"]
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
