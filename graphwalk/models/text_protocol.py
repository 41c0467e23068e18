"""Tool calls for models that have none of their own: described in the prompt, written and read as text."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby, takewhile
from typing import Literal

from graphwalk.config.prompts import Prompts, shipped_prompts
from graphwalk.models.text_calls import find_calls
from graphwalk.types.chat import CallOptions, Message, Reply, ToolCall, ToolSpec

_PREFIX = "text_call_"
"""Ids of calls that were found in a text, so that a conversation can be sent again the way it was held."""


class TextProtocol:
    """`text`: tools go into the system prompt, results come as user messages, calls are read from the reply.
    `auto`: tools are sent natively, and a well-formed call to one of them is accepted from the text as well.

    The reply keeps its text as it came, calls included.
    """

    def __init__(self, protocol: Literal["text", "auto"], prompts: Prompts | None = None) -> None:
        self.in_prompt = protocol == "text"
        """Tools are described in the prompt, and the server is sent none."""
        self._prompts = prompts or shipped_prompts()
        self._described: tuple[tuple[ToolSpec, ...], bool, str] = ((), False, "")

    def outgoing(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions
    ) -> tuple[Sequence[Message], Sequence[ToolSpec], CallOptions]:
        """A request as the model gets it."""
        if not self.in_prompt:
            return [_as_native(message) for message in messages], tools, options
        sent = self._as_text(messages, tools, options.parallel_tool_calls is not False)
        return sent, (), replace(options, parallel_tool_calls=None)

    def incoming(self, reply: Reply, tools: Sequence[ToolSpec], sent: int) -> Reply:
        """The reply with the calls that stand in its text. `sent`, the number of messages, makes their ids."""
        content = reply.message.content
        if not tools or reply.message.tool_calls or not content or "{" not in content:
            return reply
        found = find_calls(
            content, {tool.name: tool.parameters.get("properties", ()) for tool in tools}, lenient=self.in_prompt
        )
        calls = tuple(ToolCall(f"{_PREFIX}{sent}_{i}", *call) for i, call in enumerate(found.calls))
        return replace(reply, message=replace(reply.message, tool_calls=calls)) if calls else reply

    def _as_text(self, messages: Sequence[Message], tools: Sequence[ToolSpec], parallel: bool) -> list[Message]:
        """The conversation without tool calls and tool messages; neighbouring user messages become one."""
        plain = list(self._plain(messages))
        if tools:
            system = [m.content or "" for m in plain if m.role == "system"]
            plain = [m for m in plain if m.role != "system"]
            plain.insert(0, Message("system", "\n\n".join([*system, self._description(tools, parallel)])))
            plain.append(self._reminder(messages, tools))
        merged: list[Message] = []
        for role, group in groupby(plain, key=lambda message: message.role):
            same = list(group)
            merged += [Message(role, "\n\n".join(m.content or "" for m in same))] if role == "user" else same
        return merged

    def _description(self, tools: Sequence[ToolSpec], parallel: bool) -> str:
        known, known_parallel, text = self._described
        if (known, known_parallel) == (tuple(tools), parallel):
            return text
        told = [
            {
                "name": tool.name,
                "description": tool.description,
                "parameters": json.dumps(tool.parameters),
                "arguments": tool.parameters.get("properties", {}),
                "required": tool.parameters.get("required", ()),
            }
            for tool in tools
        ]
        text = self._prompts.render("text_protocol.j2", tools=told, parallel=parallel).rstrip()
        self._described = (tuple(tools), parallel, text)
        return text

    def _reminder(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Message:
        """Small models forget what a system prompt says; it becomes the end of the last user message."""
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
    """A call that was found in the text is sent back as a native one, and not a second time as text."""
    if not message.tool_calls or not message.tool_calls[0].id.startswith(_PREFIX):
        return message
    rest = find_calls(
        message.content or "", dict.fromkeys((call.name for call in message.tool_calls), ()), lenient=False
    ).rest
    return replace(message, content=rest or None)


def written_out(message: Message) -> Message:
    """Calls that were made natively (by another model, or in an example), written as a model of this protocol would."""
    written = [call for call in message.tool_calls if not call.id.startswith(_PREFIX)]
    blocks = [f'```json\n{{"name": {json.dumps(c.name)}, "arguments": {c.arguments or "{}"}}}\n```' for c in written]
    return Message("assistant", "\n\n".join([*([message.content] if message.content else []), *blocks]))
