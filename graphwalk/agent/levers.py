"""Tools with levers, each switched by a field of `agent` (docs/method.md, Levers)."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import NoneType
from typing import Any

from graphwalk.agent.prompt import AnswerForm
from graphwalk.config.agent import AgentConfig
from graphwalk.graphs.answers import parse_json
from graphwalk.graphs.schema import NodeType, RelationshipType, Schema
from graphwalk.models.chat import ToolCall, ToolSpec
from graphwalk.models.trajectory import ToolResult
from graphwalk.tools.graph_toolbox import GraphToolbox
from graphwalk.tools.tool import Role, Tool
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
