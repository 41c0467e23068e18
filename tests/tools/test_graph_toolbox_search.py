"""Search by the tools: rows, messages, and what other tools offer where search is offered."""

import json
from typing import Any

import pytest

from graphwalk.analysis.observed import observed_graph
from graphwalk.config.agent import AgentConfig
from graphwalk.graphs.schema import Schema
from graphwalk.models.chat import ToolCall
from graphwalk.models.trajectory import ToolResult
from graphwalk.stores.base import GraphStore
from graphwalk.tools.encodings import decode_notes, read_rows
from graphwalk.tools.graph_toolbox import GRAPH_TOOLS, OWN_GRAPH_TOOLS, GraphToolbox
from graphwalk.tools.tool import load_tools

SEARCH, NODES, NEIGHBORS, _, _, _ = OWN_GRAPH_TOOLS
Z1 = {"label": "Zorep", "property_name": "key", "property_value": "z1"}


class Caller:
    """Calls of the tools for a user's own graph."""

    def __init__(self, store: GraphStore, schema: Schema) -> None:
        self.store, self.schema = store, schema

    def toolbox(self, agent: AgentConfig | None = None, tools: tuple[str, ...] = OWN_GRAPH_TOOLS) -> GraphToolbox:
        return GraphToolbox(self.store, self.schema, load_tools(tools), agent)

    async def __call__(self, tool: str, agent: AgentConfig | None = None, **arguments: Any) -> ToolResult:
        return await self.toolbox(agent).call(ToolCall("1", tool, json.dumps(arguments)))


@pytest.fixture
def own(store: GraphStore, schema: Schema) -> Caller:
    return Caller(store, schema)


async def test_a_search_shows_the_best_nodes(own: Caller) -> None:
    result = await own(SEARCH, text="vrak")
    assert read_rows(result.content) == [
        {"key": key, "labels": ["Zorep"], "property": "hue", "value": "vark", "relationships": count, "match": match}
        for key, count, match in (("z1", 4, "typing errors"), ("z2", 3, "typing errors"))
    ]
    assert result.rows == 2
    cut = await own(SEARCH, AgentConfig(result_tokens=40), text="vrak")
    assert (len(read_rows(cut.content)), cut.rows) == (1, 2)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"text": "nothing"}, None, 'no text of a node is like "nothing".'),
        ({"text": "\ud800"}, None, "no text of a node is like"),
        ({"text": " \n "}, "bad_arguments", "The text for search_nodes is empty."),
        ({"text": "x" * 1000}, "bad_arguments", "has 1,000 characters; it can have at most 300."),
        ({"text": "x", "label": "Zorp"}, "unknown_name", "Did you mean Zorep?"),
    ],
)
async def test_what_is_not_found_is_explained(
    own: Caller, arguments: dict[str, Any], error: str | None, message: str
) -> None:
    result = await own(SEARCH, **arguments)
    assert (result.error, result.rows) == (error, None if error else 0)
    assert message in result.content


@pytest.mark.parametrize(
    ("arguments", "rows"),
    [
        ({"relationship_type": "FLIN"}, 0),
        ({"direction": "outgoing"}, 3),
        ({"direction": " Incoming "}, 2),
        ({"relationship_type": "DRAP", "direction": "incoming"}, 2),
    ],
)
async def test_neighbors_of_one_type_or_direction(own: Caller, arguments: dict[str, Any], rows: int) -> None:
    result = await own(NEIGHBORS, **Z1, **arguments)
    assert result.rows == rows, result.content
    few = AgentConfig(result_tokens=40, call_seconds=10)
    assert (await own(NEIGHBORS, few, **Z1, **arguments)).rows == rows
    seen = observed_graph([result])
    assert seen.complete_nodes() == set(), "a filtered result does not show all relationships"
    assert observed_graph([await own(NEIGHBORS, **Z1)]).complete_nodes() == {"z1"}


async def test_an_empty_result_names_the_filter(own: Caller) -> None:
    result = await own(NEIGHBORS, **Z1, relationship_type="FLIN", direction="incoming")
    assert decode_notes(result.content) == [
        'nodes with label Zorep and key = "z1" exist, but have no incoming relationships of type FLIN.'
    ]
    wrong = await own(NEIGHBORS, **Z1, direction="up")
    assert (wrong.error, "outgoing" in wrong.content) == ("unknown_name", True)


async def test_without_search_the_tools_are_those_of_the_paper(own: Caller) -> None:
    toolbox = own.toolbox(tools=GRAPH_TOOLS)
    assert [list(spec.parameters["properties"]) for spec in toolbox.specs[:2]] == [list(Z1)] * 2
    refused = await toolbox.call(ToolCall("1", NEIGHBORS, json.dumps({**Z1, "direction": "outgoing"})))
    assert (refused.error, "has no argument" in refused.content) == ("bad_arguments", True)
    undirected = own.toolbox(AgentConfig(direction=False)).specs[2].parameters["properties"]
    assert list(undirected) == [*Z1, "relationship_type"]


async def test_rows_of_a_search_show_nodes(own: Caller) -> None:
    result = await own(SEARCH, text="vrak")
    logged = ToolResult(result.call, result.content, rows=result.rows)
    for one in (result, logged):
        seen = observed_graph([one])
        assert {n.key: (n.labels, n.properties) for n in seen.nodes.values()} == {
            "z1": (("Zorep",), {"hue": "vark"}),
            "z2": (("Zorep",), {"hue": "vark"}),
        }
        assert seen.understood
    key = observed_graph([await own(SEARCH, text="z3")])
    assert {node.key: node.properties for node in key.nodes.values()} == {"z3": {}}
