"""The prompts of questions, word for word in `tests/data/prompts/questions.yaml`."""

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from graphwalk.config.agent import AgentConfig
from graphwalk.suites.graph_prompts import _FORMATS as FORMATS
from graphwalk.suites.graph_prompts import tools_system, whole_graph
from graphwalk.types.graph import Node, PropertyGraph, Relationship
from graphwalk.types.schema import NodeType, PropertyType, RelationshipType, Schema

TEXTS = yaml.safe_load((Path(__file__).parents[2] / "data" / "prompts" / "questions.yaml").read_text("utf-8"))
SCHEMA = Schema(
    (NodeType("Blick", ()), NodeType("Zorep", (PropertyType("hue"), PropertyType("key")))),
    (RelationshipType("DRAP", (("Blick", "Zorep"), ("Zorep", "Zorep")), (PropertyType("cost"),)),),
)
WITH_SAMPLES = Schema(
    (
        NodeType("Blick", ()),
        NodeType("Zorep", (PropertyType("hue", ('v"k', 3, True), True), PropertyType("key", ("z1", "z2"), False))),
    ),
    (RelationshipType("DRAP", (("Blick", "Zorep"),), (PropertyType("cost", (0.5,), False),)),),
)
GRAPH = PropertyGraph.from_rows(
    [Node("z1", ("Zorep",), {"hue": "vark"}), Node("b1", ("Blick",), {})],
    [Relationship("DRAP", "b1", "z1", {"cost": 0.5})],
)


def after(text: str | None, start: str) -> str:
    """Return the part of a prompt that begins with these words."""
    return (text or "")[(text or "").index(start) :]


CASES: dict[str, Callable[[], str | None]] = {
    "tools": lambda: tools_system(SCHEMA, AgentConfig()).content,
    "tools, from a schema with sample values": lambda: after(
        tools_system(WITH_SAMPLES, AgentConfig()).content, "number |"
    ),
    "no_tools": lambda: whole_graph(GRAPH, AgentConfig()).content,
    "extractor": lambda: AgentConfig().render(
        "extractor.j2", question="Q?", reply="It is 3.", answer_format='[{"count": 1}]'
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_prompts_are_these_word_for_word(name: str) -> None:
    assert CASES[name]() == TEXTS[name]


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
