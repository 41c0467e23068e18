"""Tools with levers, each switched by a field of `agent` (docs/method.md, Levers)."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import NoneType
from typing import Any, NamedTuple

from graphwalk.agent.prompt import AnswerForm
from graphwalk.config.agent import AgentConfig
from graphwalk.graphs.answers import parse_answer_json
from graphwalk.graphs.schema import Schema
from graphwalk.models.chat import ToolCall, ToolSpec
from graphwalk.models.trajectory import ToolResult
from graphwalk.tools.graph_toolbox import GraphToolbox
from graphwalk.tools.tool import Role, Tool
from graphwalk.tools.toolbox import Toolbox, ToolboxWrapper

ANSWER = "answer"
"""The name of the tool."""
ROWS = "rows"
"""Its argument."""
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
        self._form = form
        self._text = agent.texts.message

    @property
    def specs(self) -> Sequence[ToolSpec]:
        # {"type": "array", "items": {"type": "object", "properties": {"name": …}}}, or items of type string, for keys
        rows = dict(self._form.schema)
        rows["description"] = self._text("answer_items", fields=list(rows["items"].get("properties", ())))
        parameters = {"type": "object", "properties": {ROWS: rows}, "required": [ROWS], "additionalProperties": False}
        return (*self.inner.specs, ToolSpec(ANSWER, self._text("answer_tool"), parameters))

    async def call(self, call: ToolCall) -> ToolResult:
        if call.name != ANSWER:
            return await self.inner.call(call)

        # {"rows": [{"name": "Ida"}, {"name": "Bo"}]}
        arguments = parse_answer_json(call.arguments)
        has_only_rows = isinstance(arguments, dict) and arguments.keys() == {ROWS}
        if has_only_rows and _fits(arguments[ROWS], self._form.schema):
            return ToolResult(call, self._form.write(arguments[ROWS]), final=True)

        items = json.dumps(self._form.schema["items"])
        return ToolResult(call, self._text("answer_refused", argument=ROWS, items=items), "bad_answer")


def _fits(value: Any, form: Mapping[str, Any]) -> bool:
    """Return True if a value fits the JSON schema of an answer."""
    # "string", or ["string", "null"]
    names = form["type"]
    if isinstance(names, str):
        names = [names]
    if not any(type(value) in _TYPES[name] for name in names):
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
        self._graph = inner
        self._most = agent.names_in_tools

    @property
    def specs(self) -> Sequence[ToolSpec]:
        schema = self._graph.schema
        specs = self._graph.specs
        entities = _entities(schema)

        properties: set[str] = set()
        for entity in entities:
            properties.update(entity.properties)
        if len(entities) + len(properties) > self._most:
            return specs
        return tuple(_with_names(spec, self._graph.tools[spec.name], entities) for spec in specs)


class _Entity(NamedTuple):
    """A label or a relationship type of the schema."""

    kind: str
    """`node` or `relationship`."""
    name: str
    properties: tuple[str, ...]
    has_all_properties: bool
    """False where the schema may lack some of them."""


def _entities(schema: Schema) -> list[_Entity]:
    entities = []
    for node in schema.nodes:
        properties = tuple(each.name for each in node.properties)
        entities.append(_Entity("node", node.label, properties, not node.limited))
    for relationship in schema.relationships:
        properties = tuple(each.name for each in relationship.properties)
        entities.append(_Entity("relationship", relationship.type, properties, not relationship.limited))
    return entities


def _with_names(spec: ToolSpec, tool: Tool, entities: Sequence[_Entity]) -> ToolSpec:
    """Return the description of a tool with an `enum` for each parameter that takes a name of the schema.

    {"label": {"type": "string"}} → {"label": {"type": "string", "enum": ["Person", "City"]}}
    """
    names: dict[str, list[str]] = {}
    for owner in tool.with_role(*_OWNERS):
        names.update(_allowed_names(tool, owner, entities))

    properties = dict(spec.parameters["properties"])
    for parameter, form in properties.items():
        if parameter in names:
            distinct_names = list(dict.fromkeys(names[parameter]))
            properties[parameter] = {**form, "enum": distinct_names}
    return replace(spec, parameters={**spec.parameters, "properties": properties})


def _allowed_names(tool: Tool, owner: str, entities: Sequence[_Entity]) -> dict[str, list[str]]:
    """Return the names that parameters allow: `owner`, and those for its kind and its properties.

    Properties are left out where the schema may lack some of them. A parameter may get the same name several times.
    """
    parameter = tool.parameters[owner]
    property_parameters: list[str] = []
    if all(entity.has_all_properties for entity in entities):
        property_parameters = [name for name in tool.with_role("property") if tool.parameters[name].of == owner]

    allowed = []
    for entity in entities:
        # Nothing can be asked about the properties of an entity without any.
        is_askable = bool(entity.properties) or not property_parameters
        if entity.kind in _OWNERS[parameter.role] and is_askable:
            allowed.append(entity)

    names = {owner: [entity.name for entity in allowed]}
    if parameter.of:
        names[parameter.of] = [entity.kind for entity in allowed]
    for name in property_parameters:
        names[name] = []
        for entity in allowed:
            names[name].extend(entity.properties)
    return names
