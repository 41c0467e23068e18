from graphwalk.config.agent import AgentConfig
from graphwalk.graphs.generate import GraphSpec, generate_graph
from graphwalk.graphs.schema import schema_of
from graphwalk.tools.schema_text import schema_text


def test_the_schema_keeps_to_its_tokens() -> None:
    schema = schema_of(generate_graph(GraphSpec(preset="paper-100"), 1), 3)
    whole, cut = schema_text(schema, AgentConfig()), schema_text(schema, AgentConfig(schema_tokens=40))
    assert all(node.label in whole for node in schema.nodes)
    assert len(cut) < len(whole)
