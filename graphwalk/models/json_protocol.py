"""Calls and answers as JSON that the server holds to a schema: tools in the prompt, one object in each reply."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from graphwalk.config.templates import Prompts
from graphwalk.models.chat import CallOptions, Message, Reply, ToolCall, ToolSpec
from graphwalk.models.text_calls import find_calls, visible
from graphwalk.models.text_protocol import CALL_PREFIX, Request, TextProtocol

ANY_TEXT: Mapping[str, Any] = {"type": "string"}
"""The JSON schema of an answer without a form."""
NO_CALL = ""
"""Name of the call that a reply becomes if it is not JSON, so that the model gets an error."""
_ANSWER, _CALLS, _TOOL, _ARGUMENTS, _THOUGHT = "answer", "calls", "tool", "arguments", "thought"
_MOST_CALLS = 8
"""Calls of one reply; without a bound a small model may list calls up to its output limit."""
_DECODER = json.JSONDecoder()


class JsonProtocol(TextProtocol):
    """A reply is one JSON object with calls or the answer, by `response_format`. `most_calls`: calls of one reply.

    Replies are not streamed, since a reader wants no JSON.
    `tool_choice: required`: the first reply has calls, since small models answer before they have seen anything.
    """

    def __init__(self, prompts: Prompts, most_calls: int) -> None:
        super().__init__(prompts)
        self._most_calls = min(most_calls, _MOST_CALLS)

    def outgoing(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Request:
        most = self._most_calls if options.parallel_tool_calls is not False else None
        answered = any(message.role == "tool" for message in messages)
        must_call = options.tool_choice == "required" and bool(tools) and not answered
        schema = reply_schema(tools, None if must_call else options.answer_schema or ANY_TEXT, most)
        sent, _, in_text = super().outgoing(messages, tools, options)
        return sent, (), replace(in_text, response_schema=schema, stop=options.stop, on_text=None)

    def incoming(self, reply: Reply, tools: Sequence[ToolSpec], sent: int) -> Reply:
        if not tools or reply.message.tool_calls:
            return reply
        calls = _calls(reply.message.content or "", tools)
        tool_calls = tuple(ToolCall(f"{CALL_PREFIX}{sent}_{i}", *call) for i, call in enumerate(calls))
        return replace(reply, message=replace(_with_thought(reply.message), tool_calls=tool_calls))

    def _description(self, tools: Sequence[ToolSpec], parallel: bool) -> str:
        return self._rendered("json_protocol.j2", tools, parallel)

    def written(self, message: Message, parallel: bool) -> Message:
        """Return a message of an example, of another protocol, or with an answer in this protocol's form."""
        if message.role != "assistant" or any(call.id.startswith(CALL_PREFIX) for call in message.tool_calls):
            return Message(message.role, message.content)
        calls = [{_TOOL: call.name, _ARGUMENTS: _loaded(call.arguments)} for call in message.tool_calls]
        if not calls:
            return Message("assistant", json.dumps({_ANSWER: _loaded(message.content or "")}, ensure_ascii=False))
        thought = {_THOUGHT: message.content} if message.content else {}
        called = {_CALLS: calls} if parallel else calls[0]
        return Message("assistant", json.dumps({**thought, **called}, ensure_ascii=False))


def reply_schema(tools: Sequence[ToolSpec], answer: Mapping[str, Any] | None, most_calls: int | None) -> dict[str, Any]:
    """Return the JSON schema of a reply: calls or an answer, after an optional thought.

    `answer` None: no answer is allowed yet. `most_calls`: a reply is a list of at most this many calls; None: it is one
    call. llama.cpp writes properties in the order of the schema, so the thought comes first.
    """
    thought = {_THOUGHT: {"type": "string"}}
    forms = [{_TOOL: {"type": "string", "enum": [tool.name]}, _ARGUMENTS: dict(tool.parameters)} for tool in tools]
    if forms and most_calls is not None:
        calls = {"type": "array", "items": {"anyOf": [_object(form) for form in forms]}}
        forms = [{_CALLS: {**calls, "minItems": 1, "maxItems": most_calls}}]
    if answer is not None and all(tool.name != _ANSWER for tool in tools):  # else the answer is a call
        forms.append({_ANSWER: dict(answer)})
    objects = [_object(form, thought) for form in forms]
    return objects[0] if len(objects) == 1 else {"type": "object", "anyOf": objects}


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
    thought = (_fields(message.content or "") or {}).get(_THOUGHT)
    return message if message.reasoning or not isinstance(thought, str) else replace(message, reasoning=thought)


def _object(fields: Mapping[str, Any], optional: Mapping[str, Any] | None = None) -> dict[str, Any]:
    properties = {**(optional or {}), **fields}
    return {"type": "object", "properties": properties, "required": [*fields], "additionalProperties": False}


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
    items = fields.get(_CALLS) or ([fields] if _TOOL in fields else [])
    if isinstance(items, list) and items and all(isinstance(item, dict) and _TOOL in item for item in items):
        return [(str(item[_TOOL]), json.dumps(item.get(_ARGUMENTS) or {})) for item in items]
    if _ANSWER in fields:
        return []
    return find_calls(content, [tool.name for tool in tools]).calls or [(NO_CALL, content)]


def _loaded(text: str) -> Any:
    """Return the object or list that a text writes as JSON, else the text."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, dict | list) else text
