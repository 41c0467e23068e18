"""The tool `answer`: a typed answer, whose valid call ends the episode (`agent.answer: tool`)."""

import json
from collections.abc import Mapping, Sequence
from types import NoneType
from typing import Any

from graphwalk.config.agent import AgentConfig
from graphwalk.graphs.answers import parse_json
from graphwalk.models.base import Model
from graphwalk.models.chat import CallOptions, Message, Reply, ToolCall, ToolSpec
from graphwalk.models.trajectory import ToolResult
from graphwalk.suites.task import AnswerForm, Task
from graphwalk.tools.toolbox import Toolbox, ToolboxWrapper

ANSWER, ROWS = "answer", "rows"
"""The tool and its argument."""
_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (NoneType,),
    "array": (list,),
    "object": (dict,),
}


class AnswerTool(ToolboxWrapper):
    """Tools with one more, which takes the rows of the answer."""

    def __init__(self, inner: Toolbox, form: AnswerForm, agent: AgentConfig) -> None:
        super().__init__(inner)
        self._form, self._say = form, agent.texts.message

    @property
    def specs(self) -> Sequence[ToolSpec]:
        rows = {
            **self._form.schema,
            "description": self._say("answer_items", fields=list(self._form.schema["items"].get("properties", ()))),
        }
        parameters = {"type": "object", "properties": {ROWS: rows}, "required": [ROWS], "additionalProperties": False}
        return (*self.inner.specs, ToolSpec(ANSWER, self._say("answer_tool"), parameters))

    async def call(self, call: ToolCall) -> ToolResult:
        if call.name != ANSWER:
            return await self.inner.call(call)
        arguments = parse_json(call.arguments)
        if not (
            isinstance(arguments, dict) and arguments.keys() == {ROWS} and _fits(arguments[ROWS], self._form.schema)
        ):
            items = json.dumps(self._form.schema["items"])
            return ToolResult(call, self._say("answer_refused", argument=ROWS, items=items), "bad_answer")
        return ToolResult(call, self._form.write(arguments[ROWS]), final=True)


def _fits(value: Any, form: Mapping[str, Any]) -> bool:
    """Return True if a value fits the JSON schema of an answer."""
    types = [form["type"]] if isinstance(form["type"], str) else form["type"]
    if not any(type(value) in _TYPES[name] for name in types):
        return False
    if isinstance(value, list):
        return all(_fits(item, form["items"]) for item in value)
    if isinstance(value, dict):
        fields = form["properties"]
        return value.keys() == fields.keys() and all(_fits(value[name], fields[name]) for name in fields)
    return True


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
