"""What every tool that ships has to keep."""

import json
import re

import pytest

from graphwalk.config.agent import AgentConfig
from graphwalk.stores.cypher import render_cypher
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.toolbox.graph_toolbox import GRAPH_TOOLS, GraphToolbox
from graphwalk.toolbox.operations import OPERATIONS
from graphwalk.toolbox.tool import Tool, load_tools, tool_names
from graphwalk.types.chat import ToolCall
from graphwalk.types.graph import Node, PropertyGraph

WRITES = re.compile(r"\b(CREATE|MERGE|DELETE|SET|REMOVE|CALL|LOAD|DROP|FOREACH)\b", re.IGNORECASE)
TOOLS = load_tools([name for name in tool_names() if name in GRAPH_TOOLS])


def test_the_papers_four_tools_ship() -> None:
    assert set(GRAPH_TOOLS) <= set(tool_names())


@pytest.mark.parametrize("tool", load_tools(tool_names()), ids=lambda tool: tool.name)
class TestEveryTool:
    def test_tells_when_to_use_it_and_what_comes_back(self, tool: Tool) -> None:
        assert "When to use it:" in tool.description
        assert "What comes back:" in tool.description

    def test_runs_a_known_operation_or_a_query_that_only_reads(self, tool: Tool) -> None:
        if tool.operation is not None:
            assert tool.operation in OPERATIONS
        for cypher in (tool.cypher, tool.matches):
            assert not WRITES.search(cypher or "")

    @pytest.mark.parametrize("entity_type", ["node", "relationship"])
    @pytest.mark.parametrize("switch", [True, False])
    def test_quotes_every_name_and_confines_every_node(self, tool: Tool, entity_type: str, switch: bool) -> None:
        names = dict.fromkeys(tool.resolution, "x y") | dict.fromkeys(tool.with_role("entity_type"), entity_type)
        switches = {"direction": switch, "relationship_properties": switch}
        for template in filter(None, (tool.cypher, tool.matches)):
            cypher = render_cypher(template, {**names, **switches}, scope="gw_1")
            assert cypher.count("x y") == cypher.count("`x y`")
            nodes = re.findall(r"(?<!\w)\(\w*(?::`[^`]+`)*\)", cypher)
            assert nodes
            assert all("`gw_1`" in node for node in nodes)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
async def test_the_example_is_a_call_that_works_as_shown(tool: Tool) -> None:
    """On a graph without the example's names it is refused as such; the arguments themselves are fine."""
    store = await EmbeddedDatabase().load(PropertyGraph.from_rows([Node("a", "Zorep", {})], []))
    toolbox = GraphToolbox(store, await store.schema(), [tool], AgentConfig())
    result = await toolbox.call(ToolCall("1", tool.name, json.dumps(tool.example.arguments)))
    assert result.error == (None if tool.operation else "unknown_name")
