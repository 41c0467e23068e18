"""The schema of your own graph for a model: complete, or an overview of names."""

from collections.abc import Sequence

from graphwalk.config.agent import AgentConfig
from graphwalk.graphs.schema import NodeType, RelationshipType, Schema
from graphwalk.models.tokens import count_tokens


def schema_text(schema: Schema, agent: AgentConfig) -> str:
    """Return the schema in at most `agent.schema_tokens` tokens: complete, or as many names as fit."""
    text = _render(schema.nodes, schema.relationships, schema, agent, whole=True)
    most = len(schema.nodes) + len(schema.relationships)
    while most > 0 and not _fits(text, agent):
        nodes = schema.nodes[:most]
        text = _render(nodes, schema.relationships[: most - len(nodes)], schema, agent, whole=False)
        most = most * 9 // 10  # by a tenth: of 10,000 names, 90 renderings reach one, not 10,000
    return text


def schema_fits(schema: Schema, agent: AgentConfig) -> bool:
    """Return whether `schema_text` is the complete schema."""
    if agent.schema_tokens is None:
        return True
    return _fits(_render(schema.nodes, schema.relationships, schema, agent, whole=True), agent)


def entity_text(schema: Schema, kind: str, name: str, agent: AgentConfig) -> str:
    """Return the full description of a label ("node") with its relationship types, or of a type."""
    if kind == "relationship":
        types = [each for each in schema.relationships if each.type == name]
        return _render([], types, schema, agent, whole=True)

    labels = [node for node in schema.nodes if node.label == name]
    touching = []
    for relationship in schema.relationships:
        if any(name in pair for pair in relationship.pairs):
            touching.append(relationship)
    return _render(labels, touching, schema, agent, whole=True)


def _render(
    nodes: Sequence[NodeType],
    relationships: Sequence[RelationshipType],
    schema: Schema,
    agent: AgentConfig,
    whole: bool,
) -> str:
    return agent.render(
        "graph_schema.j2",
        nodes=nodes,
        relationships=relationships,
        labels=len(schema.nodes),
        types=len(schema.relationships),
        whole=whole,
    ).strip()


def _fits(text: str, agent: AgentConfig) -> bool:
    return agent.schema_tokens is None or count_tokens(text) <= agent.schema_tokens
