"""Levers: what helps a model to walk, each switched by a field of `agent` (docs/method.md, Levers)."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import NoneType
from typing import Any

from graphwalk.config.agent import AgentConfig
from graphwalk.config.strict import is_path
from graphwalk.errors import ConfigError, manual
from graphwalk.graphs.answers import parse_json
from graphwalk.graphs.schema import NodeType, RelationshipType, Schema
from graphwalk.models.chat import CallOptions, Message, Model, Reply, ToolCall, ToolSpec
from graphwalk.models.trajectory import ToolResult
from graphwalk.suites.graph_prompts import GRAPH_SETTINGS
from graphwalk.suites.suite import AnswerForm, Prompt, Suite, Task
from graphwalk.tools.graph_toolbox import GraphToolbox
from graphwalk.tools.tool import Role, Tool
from graphwalk.tools.toolbox import Toolbox, ToolboxWrapper


def check_levers(agent: AgentConfig, suite: Suite[Any, Any], settings: Sequence[str]) -> None:
    """Raise ConfigError for levers that contradict each other, or that this suite or these settings do not have."""
    required, protocol = agent.tool_choice == "required", agent.tool_protocol
    native = protocol == "native"
    answers_in_words = suite.task_type.answer_form is Task.answer_form
    rules = (
        ("tool_choice", required and protocol == "text", f"not with tool_protocol: {protocol}"),
        ("strict_tools", agent.strict_tools and not native, f"not with tool_protocol: {protocol}"),
        ("tool_choice", required and native and agent.answer != "tool", "required needs answer: tool, or json"),
        (
            "nudges",
            agent.nudges > 0 and not set(GRAPH_SETTINGS) & set(settings),
            f"needs one of the settings {', '.join(GRAPH_SETTINGS)}",
        ),
        ("answer", agent.answer == "tool" and ANSWER in map(_name, agent.tools or ()), "not with a tool of this name"),
        ("answer", agent.answer == "tool" and answers_in_words, f"the suite {suite.name} has no typed answers"),
    )
    for field, contradicts, why in rules:
        if contradicts:
            raise ConfigError(f"agent.{field}: {why}", hint=f"{manual('method')} section Levers")


def _name(tool: str) -> str:
    return Path(tool).stem if is_path(tool) else tool


def with_levers(prompt: Prompt, task: Task, setting: str, agent: AgentConfig) -> Prompt:
    """Return the start of an episode with everything that its agent switches on."""
    toolbox: Toolbox | None = prompt.toolbox
    form: AnswerForm | None = None
    if agent.answer == "tool" or agent.tool_protocol == "json":
        form = task.answer_form()
    if agent.names_in_tools and isinstance(prompt.toolbox, GraphToolbox):
        toolbox = NamesInTools(prompt.toolbox, agent)
    if toolbox is not None and form is not None and agent.answer == "tool":
        toolbox = AnswerTool(toolbox, form, agent)
    if agent.nudges and setting in GRAPH_SETTINGS:
        prompt = replace(prompt, nudge=lambda reply: nudge_for(reply, task, toolbox, agent))
    return replace(prompt, toolbox=toolbox, answer=form)


def nudge_for(reply: str, task: Task, toolbox: Toolbox | None, agent: AgentConfig) -> str | None:
    """Return what is missing in a reply without calls; None if the task can read an answer in it."""
    if task.read(reply).answer is not None:
        return None
    tools = [] if toolbox is None else [spec.name for spec in toolbox.specs]
    answer_format = task.answer_format(agent).strip()
    return agent.texts.message("nudge", empty=not reply.strip(), tools=tools, answer=ANSWER, format=answer_format)


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


_OWNERS: Mapping[Role, tuple[str, ...]] = {
    "label": ("node",),
    "relationship_type": ("relationship",),
    "entity_name": ("node", "relationship"),
}
"""Role → kinds of the entities that a parameter names."""


class NamesInTools(ToolboxWrapper):
    """Tools whose labels, types and properties are those of the schema, if these are few."""

    def __init__(self, inner: GraphToolbox, agent: AgentConfig) -> None:
        super().__init__(inner)
        self._graph, self._most = inner, agent.names_in_tools

    @property
    def specs(self) -> Sequence[ToolSpec]:
        schema, specs = self._graph.schema, self._graph.specs
        properties = {name for _, _, names in _entities(schema) for name in names}
        if len(schema.nodes) + len(schema.relationships) + len(properties) > self._most:
            return specs
        return tuple(self._named(spec, self._graph.tools[spec.name], schema) for spec in specs)

    def _named(self, spec: ToolSpec, tool: Tool, schema: Schema) -> ToolSpec:
        values = {name: names for owner in tool.with_role(*_OWNERS) for name, names in _values(tool, owner, schema)}
        properties = {
            name: {**form, "enum": list(dict.fromkeys(values[name]))} if name in values else form
            for name, form in spec.parameters["properties"].items()
        }
        return replace(spec, parameters={**spec.parameters, "properties": properties})


def _values(tool: Tool, owner: str, schema: Schema) -> Iterator[tuple[str, list[str]]]:
    """Yield parameters with the names that they allow: `owner`, and those for its kind and its properties.

    Properties are left out where the schema may lack some of them.
    """
    entities: list[NodeType | RelationshipType] = [*schema.nodes, *schema.relationships]
    complete = not any(entity.limited for entity in entities)
    parameter = tool.parameters[owner]
    properties = [name for name in tool.with_role("property") if tool.parameters[name].of == owner and complete]
    chosen = [
        (kind, name, names)
        for kind, name, names in _entities(schema)
        if kind in _OWNERS[parameter.role] and (names or not properties)
    ]
    yield owner, [name for _, name, _ in chosen]
    if parameter.of:
        yield parameter.of, [kind for kind, _, _ in chosen]
    for name in properties:
        yield name, [one for _, _, names in chosen for one in names]


def _entities(schema: Schema) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield kind, name and properties of all labels and types."""
    for node in schema.nodes:
        yield "node", node.label, tuple(one.name for one in node.properties)
    for relationship in schema.relationships:
        yield "relationship", relationship.type, tuple(one.name for one in relationship.properties)
