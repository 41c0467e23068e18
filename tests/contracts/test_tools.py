"""The contract of tools, checked for each one that ships."""

import json
import re
from itertools import product

import pytest

from graphwalk.config.resources import data_path
from graphwalk.graphs.graph import Node, PropertyGraph
from graphwalk.models.chat import ToolCall
from graphwalk.stores.cypher import Dialect, render_cypher
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.mazes.toolbox import MAZE_TOOLS
from graphwalk.tools.graph_toolbox import GraphToolbox
from graphwalk.tools.tool import GRAPH_SWITCHES, SWITCHES, Tool, load_tool, load_tools, tool_names

TOOLS = load_tools(tool_names())
NODE = re.compile(r"(?<!\w)\(\w*(?::`[^`]+`)*\)")


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_the_file_has_no_mistake(tool: Tool) -> None:
    """A run reads it without this check."""
    assert load_tool(data_path("tools") / f"{tool.name}.yaml") == tool


@pytest.mark.parametrize("tool", [tool for tool in TOOLS if tool.cypher is not None], ids=lambda tool: tool.name)
def test_queries_quote_every_name_and_stay_in_their_graph(tool: Tool) -> None:
    for entity_type, switch in product(("node", "relationship"), (True, False)):
        values: dict[str, str | bool] = {}
        for name in tool.with_role("label", "relationship_type", "direction", "entity_name", "property"):
            values[name] = "x y"
        for name in tool.with_role("entity_type"):
            values[name] = entity_type
        for name in (*SWITCHES, *GRAPH_SWITCHES):
            values[name] = switch
        cypher = render_cypher(tool.cypher or "", values, Dialect("gw_1"))
        assert cypher.count("x y") == cypher.count("`x y`"), cypher
        # "(n:`gw_1`:`x y`)"
        assert all("`gw_1`" in node for node in NODE.findall(cypher)), cypher


@pytest.mark.parametrize("tool", [tool for tool in TOOLS if tool.name not in MAZE_TOOLS], ids=lambda tool: tool.name)
async def test_an_example_is_refused_only_for_its_unknown_names(tool: Tool) -> None:
    assert tool.example is not None
    store = await EmbeddedDatabase().load(PropertyGraph.from_rows([Node("a", ("Zorep",), {})], []))
    toolbox = GraphToolbox(store, await store.schema(), [tool])
    result = await toolbox.call(ToolCall("1", tool.name, json.dumps(tool.example.arguments)))
    assert result.error in (None, "unknown_name"), result.content
