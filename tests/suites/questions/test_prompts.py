"""The prompts of questions hold the graph; `tests/test_golden.py` holds the prompts of whole runs."""

import pytest

from graphwalk.config.agent import AgentConfig
from graphwalk.graphs.graph import Node, PropertyGraph, Relationship
from graphwalk.graphs.schema import NodeType, PropertyType, Schema
from graphwalk.suites.graph_prompts import _FORMATS as FORMATS
from graphwalk.suites.graph_prompts import tools_system, whole_graph

GRAPH = PropertyGraph.from_rows(
    [Node("z1", ("Zorep",), {"hue": "vark"}), Node("b1", ("Blick",), {})],
    [Relationship("DRAP", "b1", "z1", {"cost": 0.5})],
)


@pytest.mark.parametrize("encoding", FORMATS)
def test_without_tools_every_encoding_holds_the_graph(encoding: str) -> None:
    agent = AgentConfig.model_validate({"graph_encoding": encoding})
    text = whole_graph(GRAPH, agent).content or ""
    assert all(word in text for word in ["z1", "b1", "Zorep", "Blick", "DRAP", "hue", "vark", "cost", "0.5"])
    assert f"written as {FORMATS[encoding]}:" in text


def test_hostile_text_stays_text() -> None:
    """Text of a graph or a question is never read as a template."""
    hostile = "{{ 7 * 7 }}{% endfor %}</form>"
    schema = Schema((NodeType(hostile, (PropertyType(hostile, (hostile,), True),)),), ())
    system = tools_system(schema, AgentConfig())
    assert (system.content or "").count(hostile) == 4
