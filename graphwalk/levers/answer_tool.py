"""The tool `answer`: a typed answer, whose valid call ends the episode (`agent.answer: tool`)."""

import json
from collections.abc import Iterator, Mapping, Sequence
from types import NoneType
from typing import Any

from graphwalk.config.agent import AgentConfig
from graphwalk.evaluation.values import parse_json
from graphwalk.models.base import Model
from graphwalk.suites.task import AnswerForm, Task
from graphwalk.tools.toolbox import Toolbox, ToolboxWrapper
from graphwalk.types.chat import CallOptions, Message, Reply, ToolCall, ToolSpec
from graphwalk.types.episode import ToolResult

ANSWER, ROWS = "answer", "rows"
"""The tool and its argument."""
_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (NoneType,),
}


class AnswerTool(ToolboxWrapper):
    """Tools with one more, which takes the rows of the answer."""

    def __init__(self, inner: Toolbox, form: AnswerForm, agent: AgentConfig) -> None:
        super().__init__(inner)
        self._form, self._say = form, agent.texts.message
        self._fields = list(form.schema["items"].get("properties", ()))

    @property
    def specs(self) -> Sequence[ToolSpec]:
        rows = {**self._form.schema, "description": self._say("answer_items", fields=self._fields)}
        parameters = {"type": "object", "properties": {ROWS: rows}, "required": [ROWS], "additionalProperties": False}
        return (*self.inner.specs, ToolSpec(ANSWER, self._say("answer_tool"), parameters))

    async def call(self, call: ToolCall) -> ToolResult:
        if call.name != ANSWER:
            return await self.inner.call(call)
        arguments = parse_json(call.arguments)
        if (mistake := next(self._mistakes(arguments), None)) is not None:
            values = {"argument": ROWS, "fields": self._fields, "field": "", "expected": (), "item": None, **mistake}
            return ToolResult(call, self._say("answer_refused", **values), "bad_answer")
        return ToolResult(call, self._form.write(arguments[ROWS]), final=True)

    def _mistakes(self, arguments: Any) -> Iterator[dict[str, Any]]:
        """Yield what does not fit the form."""
        if not isinstance(arguments, dict):
            yield {"kind": "json"}
        elif arguments.keys() != {ROWS} or not isinstance(arguments[ROWS], list):
            yield {"kind": "list"}
        else:
            for item in arguments[ROWS]:
                yield from self._mistakes_in(item, self._form.schema["items"])

    def _mistakes_in(self, item: Any, form: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        if not self._fields:
            yield from _mistakes_of("", item, form)
        elif not isinstance(item, dict) or item.keys() != set(self._fields):
            yield {"kind": "fields", "item": item}
        else:
            for field in self._fields:
                yield from _mistakes_of(field, item[field], form["properties"][field])


def _mistakes_of(field: str, value: Any, form: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    types = [form["type"]] if isinstance(form["type"], str) else form["type"]
    if not any(type(value) in _TYPES[name] for name in types):
        yield {"kind": "type", "field": field, "item": value, "expected": types}


class AnswersByTool:
    """A scripted agent whose answer becomes a call of the tool `answer`, where it is offered and can be read.

    If that call is refused, the answer is given as text.
    """

    def __init__(self, inner: Model, task: Task) -> None:
        self.name, self._inner, self._task, self._called = inner.name, inner, task, False

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        reply = await self._inner.complete(messages, tools, options)
        answered = not reply.message.tool_calls and not self._called and any(tool.name == ANSWER for tool in tools)
        rows = self._task.read(reply.message.content or "").answer if answered else None
        if rows is None:
            return reply
        self._called = True
        call = ToolCall("call_answer", ANSWER, json.dumps({ROWS: rows}, ensure_ascii=False))
        return Reply(Message("assistant", tool_calls=(call,)), finish_reason="tool_calls", model=self.name)

    async def close(self) -> None:
        await self._inner.close()
