"""Names of the schema as the values that a tool's JSON schema allows (`agent.names_in_tools`)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from graphwalk.config.agent import AgentConfig
from graphwalk.tools.graph_toolbox import GraphToolbox
from graphwalk.tools.tool import Role, Tool
from graphwalk.tools.toolbox import ToolboxWrapper
from graphwalk.types.chat import ToolSpec
from graphwalk.types.schema import NodeType, RelationshipType, Schema

Values = Mapping[str, Sequence[Any]]
"""Parameter → values that it allows."""
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
        self._pairs = agent.tool_protocol == "json"
        """A label and its properties are alternatives, which only this protocol can hold a model to."""

    @property
    def specs(self) -> Sequence[ToolSpec]:
        schema, specs = self._graph.schema, self._graph.specs
        properties = {name for _, _, names in _entities(schema) for name in names}
        if len(schema.nodes) + len(schema.relationships) + len(properties) > self._most:
            return specs
        return tuple(self._named(spec, self._graph.tools[spec.name], schema) for spec in specs)

    def _named(self, spec: ToolSpec, tool: Tool, schema: Schema) -> ToolSpec:
        every: dict[str, list[str]] = {}
        pairs: list[Values] = []
        for owner in tool.with_role(*_OWNERS):
            groups = _groups(tool, owner, schema)
            pairs = pairs if pairs or len(groups) < 2 else groups
            for name, names in chain.from_iterable(group.items() for group in groups):
                every[name] = list(dict.fromkeys([*every.get(name, ()), *names]))
        named = with_values(spec, every)
        if not self._pairs or not pairs:
            return named
        alternatives = [dict(with_values(named, values).parameters) for values in pairs]
        return replace(named, parameters={**named.parameters, "anyOf": alternatives})


def with_values(spec: ToolSpec, values: Values) -> ToolSpec:
    """Return the tool with these values allowed, also in its alternatives."""

    def narrowed(form: Mapping[str, Any]) -> dict[str, Any]:
        enums = {name: {"enum": list(values[name])} for name in form["properties"].keys() & values.keys()}
        return {
            **form,
            "properties": {name: {**one, **enums.get(name, {})} for name, one in form["properties"].items()},
        }

    parameters = narrowed(spec.parameters)
    if "anyOf" in parameters:
        parameters["anyOf"] = [narrowed(form) for form in parameters["anyOf"]]
    return replace(spec, parameters=parameters)


def _groups(tool: Tool, owner: str, schema: Schema) -> list[Values]:
    """Return names that go together: those of entities with the same properties, and these properties.

    Properties are left out where the schema may lack some of them.
    """
    entities: list[NodeType | RelationshipType] = [*schema.nodes, *schema.relationships]
    complete = not any(entity.limited for entity in entities)
    kinds, of = _OWNERS[tool.parameters[owner].role], tool.parameters[owner].of
    properties = [name for name in tool.with_role("property") if tool.parameters[name].of == owner and complete]
    groups: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for kind, name, names in _entities(schema):
        if kind in kinds and (names or not properties):
            groups.setdefault((kind, names if properties else ()), []).append(name)
    return [
        {owner: owners, **({of: [kind]} if of else {}), **dict.fromkeys(properties, names)}
        for (kind, names), owners in groups.items()
    ]


def _entities(schema: Schema) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield kind, name and properties of all labels and types."""
    for node in schema.nodes:
        yield "node", node.label, tuple(one.name for one in node.properties)
    for relationship in schema.relationships:
        yield "relationship", relationship.type, tuple(one.name for one in relationship.properties)
