"""Names of the schema as the values that a tool's JSON schema allows (`agent.names_in_tools`)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from graphwalk.config.agent import AgentConfig
from graphwalk.graphs.schema import NodeType, RelationshipType, Schema
from graphwalk.models.chat import ToolSpec
from graphwalk.tools.graph_toolbox import GraphToolbox
from graphwalk.tools.tool import Role, Tool
from graphwalk.tools.toolbox import ToolboxWrapper

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
