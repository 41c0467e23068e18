"""How a model calls tools, by `agent.tool_format`: native calls, calls in text, or JSON held to a schema.

In the last two the tools are in the prompt, and the calls are parsed from the reply.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from graphwalk.config.agent import AgentConfig
from graphwalk.config.templates import Prompts
from graphwalk.models.chat import CallOptions, Message, Model, Reply, ToolCall, ToolSpec, Wrapper
from graphwalk.models.text_calls import find_calls, visible

CALL_PREFIX = "text_call_"
"""Beginning of the ids of calls that were found in a text."""
Request = tuple[Sequence[Message], Sequence[ToolSpec], CallOptions]
ANY_TEXT: Mapping[str, Any] = {"type": "string"}
"""The JSON schema of an answer without a form."""
NO_CALL = ""
"""Name of the call that a reply becomes if it is not JSON, so that the model gets an error."""
_ANSWER = "answer"
_CALLS = "calls"
_TOOL = "tool"
_ARGUMENTS = "arguments"
_THOUGHT = "thought"
_MOST_CALLS = 8
"""Calls of one reply; without a bound a small model may list calls up to its output limit."""
_DECODER = json.JSONDecoder()


class TextProtocol:
    """Tools are in the system prompt, results are user messages, calls are parsed from the reply.

    The reply keeps its text, calls included.
    """

    def __init__(self, prompts: Prompts) -> None:
        self._prompts = prompts
        self._stop: tuple[str, ...] = ()
        """The heading of a result, at which a reply ends: small models invent one."""

        # "Result of \0:" has the heading "Result of".
        result = prompts.render("text_protocol_results.j2", results=[{"name": "\0", "content": ""}])
        heading = result.partition("\0")[0].strip()
        if heading:
            self._stop = (f"\n{heading}",)

    def outgoing(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Request:
        """Return the request in the form of this protocol."""
        sent = self._as_text(messages, tools, options.parallel_tool_calls is not False)
        stop = self._stop if tools else ()
        return sent, (), replace(options, parallel_tool_calls=None, tool_choice=None, stop=stop)

    def incoming(self, reply: Reply, tools: Sequence[ToolSpec], sent: int) -> Reply:
        """Return the reply with the calls in its text. `sent`, the number of messages, is part of their ids."""
        if not tools or reply.message.tool_calls:
            return reply
        message, calls = self._read(reply.message, tools)
        tool_calls = []
        for number, (name, arguments) in enumerate(calls):
            tool_calls.append(ToolCall.of_model(f"{CALL_PREFIX}{sent}_{number}", name, arguments))
        return replace(reply, message=replace(message, tool_calls=tuple(tool_calls)))

    def _read(self, message: Message, tools: Sequence[ToolSpec]) -> tuple[Message, Sequence[tuple[str, str]]]:
        """Return the message up to the heading of a result, where a server may not have ended it, and its calls."""
        content = message.content or ""
        for heading in self._stop:
            content = content.partition(heading)[0].rstrip()
        return replace(message, content=content or None), _calls_in_text(content, tools)

    def _as_text(self, messages: Sequence[Message], tools: Sequence[ToolSpec], parallel: bool) -> list[Message]:
        """Return the conversation without tool calls and tool messages; adjacent user messages are merged."""
        plain = list(self._plain(messages, parallel))
        description = self._description(tools, parallel)
        if description:
            system_texts = [message.content or "" for message in plain if message.role == "system"]
            system_texts.append(description)
            plain = [message for message in plain if message.role != "system"]
            plain.insert(0, Message("system", "\n\n".join(system_texts)))
        if tools:
            plain.append(self._reminder(messages, tools))

        merged: list[Message] = []
        for role, group in groupby(plain, key=lambda message: message.role):
            neighbours = list(group)
            if role == "user":
                texts = [message.content for message in neighbours if message.content]
                neighbours = [Message("user", "\n\n".join(texts))]
            merged.extend(neighbours)
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
        last_results: list[str] = []
        for message in reversed(messages):
            if message.role != "tool":
                break
            last_results.insert(0, message.content or "")

        text = self._prompts.render(
            "text_protocol_reminder.j2",
            answered=any(message.role == "tool" for message in messages),
            results=last_results,
            tools=[tool.name for tool in tools],
        )
        return Message("user", text.strip())

    def _plain(self, messages: Sequence[Message], parallel: bool) -> Iterator[Message]:
        names: dict[str | None, str] = {}
        for is_result, group in groupby(messages, key=lambda message: message.role == "tool"):
            if is_result:
                results = []
                for message in group:
                    name = names.get(message.tool_call_id) or "the tool"
                    results.append({"name": name, "content": message.content or ""})
                yield Message("user", self._prompts.render("text_protocol_results.j2", results=results).rstrip())
                continue
            for message in group:
                names.update((call.id, call.name) for call in message.tool_calls)
                yield self.written(message, parallel)

    def written(self, message: Message, parallel: bool) -> Message:
        """Return a message as a model of this protocol would write it, native calls (of an example, say) as text."""
        if not message.tool_calls:
            return replace(message, provider_state=None)
        blocks = []
        if message.content:
            blocks.append(message.content)
        for call in message.tool_calls:
            # The calls with this prefix are in the content already.
            if not call.id.startswith(CALL_PREFIX):
                name = json.dumps(call.name)
                arguments = call.arguments or "{}"
                blocks.append(f'```json\n{{"name": {name}, "arguments": {arguments}}}\n```')
        return Message("assistant", "\n\n".join(blocks))


class JsonProtocol(TextProtocol):
    """A reply is one JSON object with calls or the answer, by `response_format`. `most_calls`: calls of one reply.

    Replies are not streamed, since a reader wants no JSON.
    `tool_choice: required`: the first reply has calls, since small models answer before they have seen anything.
    """

    def __init__(self, prompts: Prompts, most_calls: int) -> None:
        super().__init__(prompts)
        self._most_calls = min(most_calls, _MOST_CALLS)

    def outgoing(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Request:
        has_results = any(message.role == "tool" for message in messages)
        must_call = options.tool_choice == "required" and bool(tools) and not has_results
        answer = None if must_call else options.answer_schema or ANY_TEXT
        most_calls = None if options.parallel_tool_calls is False else self._most_calls
        schema = reply_schema(tools, answer, most_calls)
        sent, _, in_text = super().outgoing(messages, tools, options)
        return sent, (), replace(in_text, response_schema=schema, stop=(), on_text=None)

    def _read(self, message: Message, tools: Sequence[ToolSpec]) -> tuple[Message, Sequence[tuple[str, str]]]:
        return _with_thought(message), _calls(message.content or "", tools)

    def _description(self, tools: Sequence[ToolSpec], parallel: bool) -> str:
        return self._rendered("json_protocol.j2", tools, parallel)

    def written(self, message: Message, parallel: bool) -> Message:
        """Return a message of an example, of another protocol, or with an answer in this protocol's form."""
        if message.role != "assistant" or any(call.id.startswith(CALL_PREFIX) for call in message.tool_calls):
            return Message(message.role, message.content)

        fields: dict[str, Any] = {}
        calls = [{_TOOL: call.name, _ARGUMENTS: _loaded(call.arguments)} for call in message.tool_calls]
        if calls and message.content:
            fields[_THOUGHT] = message.content
        if not calls:
            # {"answer": ["Ida", "Bo"]}
            fields[_ANSWER] = _loaded(message.content or "")
        elif parallel:
            # {"thought": "Who knows Ida?", "calls": [{"tool": "neighbours", "arguments": {"key": "Ida"}}]}
            fields[_CALLS] = calls
        else:
            # {"thought": "Who knows Ida?", "tool": "neighbours", "arguments": {"key": "Ida"}}
            fields.update(calls[0])
        return Message("assistant", json.dumps(fields, ensure_ascii=False))


def reply_schema(tools: Sequence[ToolSpec], answer: Mapping[str, Any] | None, most_calls: int | None) -> dict[str, Any]:
    """Return the JSON schema of a reply: calls or an answer, after an optional thought.

    `answer` None: no answer is allowed yet. `most_calls`: a reply is a list of at most this many calls; None: it is one
    call. llama.cpp writes properties in the order of the schema, so the thought comes first.
    """
    forms: list[dict[str, Any]] = []
    for tool in tools:
        name = {"type": "string", "enum": [tool.name]}
        forms.append({_TOOL: name, _ARGUMENTS: dict(tool.parameters)})
    if forms and most_calls is not None:
        call = {"anyOf": [_object(form) for form in forms]}
        forms = [{_CALLS: {"type": "array", "items": call, "minItems": 1, "maxItems": most_calls}}]

    # With a tool `answer` the answer is a call.
    has_answer_tool = any(tool.name == _ANSWER for tool in tools)
    if answer is not None and not has_answer_tool:
        forms.append({_ANSWER: dict(answer)})

    thought = {_THOUGHT: {"type": "string"}}
    objects = [_object(form, thought) for form in forms]
    if len(objects) == 1:
        return objects[0]
    return {"type": "object", "anyOf": objects}


def with_answer_as_text(reply: Reply, write: Callable[[Any], str]) -> Reply:
    """Return a reply whose answer in JSON is the text that the task reads."""
    message = _with_thought(reply.message)
    fields = _fields(message.content or "") or {}
    if message.tool_calls or _ANSWER not in fields:
        return reply
    answer = fields[_ANSWER]
    try:
        content = answer if isinstance(answer, str) else write(answer)
    except (TypeError, ValueError):  # of a server that ignores the schema
        content = json.dumps(answer, ensure_ascii=False)
    return replace(reply, message=replace(message, content=content, provider_state=None))


def _with_thought(message: Message) -> Message:
    """Return a message with its thought as the reasoning, where reports look for it."""
    fields = _fields(message.content or "") or {}
    thought = fields.get(_THOUGHT)
    if message.reasoning or not isinstance(thought, str):
        return message
    return replace(message, reasoning=thought)


def _object(fields: Mapping[str, Any], optional: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the JSON schema of an object with these fields, the optional ones first."""
    properties = dict(optional or {})
    properties.update(fields)
    return {"type": "object", "properties": properties, "required": list(fields), "additionalProperties": False}


def _fields(content: str) -> dict[str, Any] | None:
    """Return the JSON object with which a reply begins, after reasoning and a fence; None if it is not whole."""
    text = visible(content)
    try:
        value, _ = _DECODER.raw_decode(text, text.find("{"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _calls(content: str, tools: Sequence[ToolSpec]) -> Sequence[tuple[str, str]]:
    """Return name and arguments of the calls in a reply: none for an answer, `NO_CALL` for a reply without a form."""
    fields = _fields(content)
    if fields is None:
        return [(NO_CALL, content)]

    # {"calls": [{"tool": "neighbours", "arguments": {"key": "Ida"}}]}, or one call without the list
    items = fields.get(_CALLS)
    if not items and _TOOL in fields:
        items = [fields]
    if isinstance(items, list) and items and all(isinstance(item, dict) and _TOOL in item for item in items):
        return [(str(item[_TOOL]), json.dumps(item.get(_ARGUMENTS) or {})) for item in items]

    if _ANSWER in fields:
        return []
    return _calls_in_text(content, tools) or [(NO_CALL, content)]


def _calls_in_text(content: str, tools: Sequence[ToolSpec]) -> Sequence[tuple[str, str]]:
    schemas = {tool.name: tool.parameters for tool in tools}
    return find_calls(content, schemas, schemas).calls


def _loaded(text: str) -> Any:
    """Return the object or list that a text writes as JSON, else the text."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, dict | list) else text


def protocol_of(agent: AgentConfig) -> TextProtocol | None:
    """Return the protocol of an agent; None for native calls."""
    if agent.tool_format == "native":
        return None
    if agent.tool_format == "json":
        return JsonProtocol(agent.texts, agent.max_calls_per_turn)
    return TextProtocol(agent.texts)


def with_tools(model: Model, agent: AgentConfig) -> Model:
    """Return a model that calls tools as an agent does (`graphwalk.models.stack`)."""
    protocol = protocol_of(agent)
    if protocol is None:
        return model
    return TextTools(model, protocol)


class TextTools(Wrapper):
    """A model with tools by a protocol."""

    def __init__(self, inner: Model, protocol: TextProtocol) -> None:
        super().__init__(inner)
        self._protocol = protocol

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        reply = await self.inner.complete(*self._protocol.outgoing(messages, tools, options))
        return self._protocol.incoming(reply, tools, len(messages))
