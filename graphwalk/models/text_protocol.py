"""Tool calls in text, for models without native tool calls: tools in the prompt, calls parsed from the reply."""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby, takewhile
from os.path import commonprefix
from typing import Any

from graphwalk.config.prompts import Prompts
from graphwalk.errors import ModelError
from graphwalk.models.provider_replies import NoToolsError
from graphwalk.models.text_calls import find_calls, first_calls
from graphwalk.types.chat import CallOptions, Message, Reply, ToolCall, ToolSpec

CALL_PREFIX = "text_call_"
"""Beginning of the ids of calls that were found in a text."""
Request = tuple[Sequence[Message], Sequence[ToolSpec], CallOptions]


class ToolProtocol(ABC):
    """How tools are offered in a request, and calls are read from its reply, which keeps its text, calls included."""

    fallback: "ToolProtocol | None" = None
    """The protocol for a server that refuses this one; None if there is no other."""
    refusal: type[ModelError] = NoToolsError
    """The error of a server that refuses this protocol."""
    after_refusal = ""
    """The refusal and its consequence in words, for a note."""

    @abstractmethod
    def outgoing(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Request:
        """Return the request in the form of this protocol."""

    @abstractmethod
    def incoming(self, reply: Reply, tools: Sequence[ToolSpec], sent: int) -> Reply:
        """Return the reply with the calls in its text. `sent`, the number of messages, is part of their ids."""


class AutoProtocol(ToolProtocol):
    """Tools are sent natively, and well-formed calls in the text are accepted too."""

    after_refusal = "takes no tools; they are in the prompt now"

    def __init__(self, fallback: ToolProtocol) -> None:
        self.fallback = fallback

    def outgoing(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Request:
        return [_as_native(message) for message in messages], tools, options

    def incoming(self, reply: Reply, tools: Sequence[ToolSpec], sent: int) -> Reply:
        return _with_calls(reply, tools, sent, lenient=False)


class TextProtocol(ToolProtocol):
    """Tools are in the system prompt, results are user messages, calls are parsed from the reply."""

    def __init__(self, prompts: Prompts) -> None:
        self._prompts = prompts

    def outgoing(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Request:
        sent = self._as_text(messages, tools, options.parallel_tool_calls is not False)
        stop = options.stop or self._stop(tools)
        return sent, (), replace(options, parallel_tool_calls=None, tool_choice=None, stop=stop)

    def incoming(self, reply: Reply, tools: Sequence[ToolSpec], sent: int) -> Reply:
        """Cut the reply after its first block of calls: small models invent a result."""
        content = reply.message.content
        if not tools or reply.message.tool_calls or not content:
            return reply
        content = first_calls(content, _parameters(tools))
        return _with_calls(replace(reply, message=replace(reply.message, content=content)), tools, sent, lenient=True)

    def _stop(self, tools: Sequence[ToolSpec]) -> tuple[str, ...]:
        """Return the beginning of a result, at which a reply ends: small models invent one."""
        heading = commonprefix([self._result_of(tool.name) for tool in tools])  # noqa: RUF071
        return (f"\n{heading}",) if heading.strip() else ()

    def _result_of(self, tool: str) -> str:
        """Return the heading of a tool's results."""
        results = [{"name": tool, "content": "\0"}]
        return self._prompts.render("text_protocol_results.j2", results=results).partition("\0")[0].rstrip()

    def _as_text(self, messages: Sequence[Message], tools: Sequence[ToolSpec], parallel: bool) -> list[Message]:
        """Return the conversation without tool calls and tool messages; adjacent user messages are merged."""
        plain = list(self._plain(messages, parallel))
        if description := self._description(tools, parallel):
            system = [m.content or "" for m in plain if m.role == "system"]
            plain = [m for m in plain if m.role != "system"]
            plain.insert(0, Message("system", "\n\n".join([*system, description])))
        if tools:
            plain.append(self._reminder(messages, tools))
        merged: list[Message] = []
        for role, group in groupby(plain, key=lambda message: message.role):
            same = list(group)
            merged += [Message(role, "\n\n".join(m.content for m in same if m.content))] if role == "user" else same
        return merged

    def _description(self, tools: Sequence[ToolSpec], parallel: bool) -> str:
        """Return the tools and the form of a reply for the system prompt, "" if there is nothing to describe."""
        return self._rendered("text_protocol.j2", tools, parallel) if tools else ""

    def _rendered(self, name: str, tools: Sequence[ToolSpec], parallel: bool) -> str:
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
        return self._prompts.render(name, tools=described, parallel=parallel).rstrip()

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

    def _plain(self, messages: Sequence[Message], parallel: bool) -> Iterator[Message]:
        names: dict[str | None, str] = {}
        for is_result, group in groupby(messages, key=lambda message: message.role == "tool"):
            if is_result:
                results = [{"name": names.get(m.tool_call_id) or "the tool", "content": m.content or ""} for m in group]
                yield Message("user", self._prompts.render("text_protocol_results.j2", results=results).rstrip())
                continue
            for message in group:
                names.update((call.id, call.name) for call in message.tool_calls)
                yield self.written(message, parallel)

    def written(self, message: Message, parallel: bool) -> Message:
        """Return a message as a model of this protocol would write it, native calls (of an example, say) as text."""
        if not message.tool_calls:
            return replace(message, provider_state=None)
        calls = [call for call in message.tool_calls if not call.id.startswith(CALL_PREFIX)]
        blocks = [f'```json\n{{"name": {json.dumps(c.name)}, "arguments": {c.arguments or "{}"}}}\n```' for c in calls]
        return Message("assistant", "\n\n".join([*([message.content] if message.content else []), *blocks]))


def _with_calls(reply: Reply, tools: Sequence[ToolSpec], sent: int, *, lenient: bool) -> Reply:
    """Return the reply with the calls in its text, unless it has native ones."""
    content = reply.message.content
    if not tools or reply.message.tool_calls or not content or not (lenient or "{" in content):
        return reply
    parsed = find_calls(content, _parameters(tools), lenient=lenient)
    calls = tuple(ToolCall(f"{CALL_PREFIX}{sent}_{i}", *call) for i, call in enumerate(parsed.calls))
    return replace(reply, message=replace(reply.message, tool_calls=calls)) if calls else reply


def _parameters(tools: Sequence[ToolSpec]) -> dict[str, Any]:
    """Return the parameters of each tool."""
    return {tool.name: tool.parameters.get("properties", {}) for tool in tools}


def _as_native(message: Message) -> Message:
    """Return a message whose calls, found in its text, are native only and no longer part of the text."""
    if not message.tool_calls or not message.tool_calls[0].id.startswith(CALL_PREFIX):
        return message
    names: dict[str, Any] = dict.fromkeys((call.name for call in message.tool_calls), ())
    return replace(message, content=find_calls(message.content or "", names, lenient=False).rest or None)
