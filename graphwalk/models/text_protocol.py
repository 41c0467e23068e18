"""Tool calls in text, for models without native tool calls: tools in the prompt, calls parsed from the reply."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby, takewhile
from os.path import commonprefix

from graphwalk.config.templates import Prompts
from graphwalk.models.chat import CallOptions, Message, Reply, ToolCall, ToolSpec
from graphwalk.models.text_calls import find_calls, first_calls

CALL_PREFIX = "text_call_"
"""Beginning of the ids of calls that were found in a text."""
Request = tuple[Sequence[Message], Sequence[ToolSpec], CallOptions]


class TextProtocol:
    """Tools are in the system prompt, results are user messages, calls are parsed from the reply.

    The reply keeps its text, calls included.
    """

    def __init__(self, prompts: Prompts) -> None:
        self._prompts = prompts

    def outgoing(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Request:
        """Return the request in the form of this protocol."""
        sent = self._as_text(messages, tools, options.parallel_tool_calls is not False)
        stop = options.stop or self._stop(tools)
        return sent, (), replace(options, parallel_tool_calls=None, tool_choice=None, stop=stop)

    def incoming(self, reply: Reply, tools: Sequence[ToolSpec], sent: int) -> Reply:
        """Return the reply with the calls in its text. `sent`, the number of messages, is part of their ids.

        It is cut after its first block of calls: small models invent a result.
        """
        content = reply.message.content
        if not tools or reply.message.tool_calls or not content:
            return reply
        names = [tool.name for tool in tools]
        content = first_calls(content, names)
        calls = find_calls(content, names).calls
        tool_calls = tuple(ToolCall(f"{CALL_PREFIX}{sent}_{i}", *call) for i, call in enumerate(calls))
        return replace(reply, message=replace(reply.message, content=content, tool_calls=tool_calls))

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
