"""The prompts of questions; `tests/test_golden.py` holds the prompts of whole runs."""

from graphwalk.config.agent import AgentConfig
from graphwalk.graphs.schema import NodeType, PropertyType, Schema
from graphwalk.suites.graph_prompts import tools_system


def test_hostile_text_stays_text() -> None:
    """Text of a graph or a question is never read as a template."""
    hostile = "{{ 7 * 7 }}{% endfor %}</form>"
    schema = Schema((NodeType(hostile, (PropertyType(hostile, (hostile,), True),)),), ())
    system = tools_system(schema, AgentConfig())
    assert (system.content or "").count(hostile) == 4
