"""The tool run_cypher on the embedded engine: one graph, in time, and in words."""

import json
from collections.abc import AsyncIterator

import pytest

from graphwalk.config.agent import AgentConfig
from graphwalk.graphs.generate import GraphSpec, generate_graph
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.tools.graph_toolbox import GraphToolbox
from graphwalk.tools.tool import load_tools
from graphwalk.types.chat import ToolCall
from graphwalk.types.encodings import decode_notes, decode_rows
from graphwalk.types.episode import ToolResult
from graphwalk.types.graph import PropertyGraph

SECONDS = 2.0


class Asker:
    def __init__(self, graph: PropertyGraph, toolbox: GraphToolbox) -> None:
        self.graph, self.toolbox = graph, toolbox

    async def __call__(self, query: str) -> ToolResult:
        return await self.toolbox.call(ToolCall("1", "run_cypher", json.dumps({"query": query})))


@pytest.fixture
async def ask() -> AsyncIterator[Asker]:
    graph = generate_graph(GraphSpec(nodes=40), 1, 0)
    store = await EmbeddedDatabase().load(graph)
    agent = AgentConfig(call_seconds=SECONDS)
    yield Asker(graph, GraphToolbox(store, await store.schema(), load_tools(["run_cypher"]), agent))
    await store.drop()


async def test_nothing_but_the_graph_is_seen(ask: Asker) -> None:
    counted = await ask("MATCH (n) RETURN count(n) AS n")
    assert decode_rows(counted.content) == [{"n": ask.graph.node_count}]
    counted = await ask("MATCH ()-[r]->() RETURN count(r)")
    assert decode_rows(counted.content) == [{"count(r)": ask.graph.relationship_count}]
    labels = await ask("MATCH (n) UNWIND labels(n) AS l RETURN DISTINCT l")
    assert {row["l"] for row in decode_rows(labels.content)} == {table.label for table in ask.graph.node_tables}


async def test_rows_keep_their_order_and_a_note_counts_the_rest(ask: Asker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphwalk.tools.graph_toolbox.MOST_ROWS", 20)
    ordered = await ask("MATCH (n) RETURN n.key ORDER BY n.key DESC")
    expected = sorted(ask.graph.keys, reverse=True)[:20]
    assert [row["n.key"] for row in decode_rows(ordered.content)] == expected
    assert "first 20 rows" in decode_notes(ordered.content)[0]
    rest = await ask("MATCH (n) RETURN n.key ORDER BY n.key DESC SKIP 20 LIMIT 20")
    assert [row["n.key"] for row in decode_rows(rest.content)] == sorted(ask.graph.keys, reverse=True)[20:40]


@pytest.mark.parametrize(
    "query",
    [
        "MATCH (a)-[*1..30]-(b) RETURN count(*)",
        "RETURN [x IN range(1, 10000000000) | x] AS l",
        "WITH 'xxxxxxxxxx' AS s " + "WITH s + s AS s " * 60 + "RETURN size(s) AS n",
        *(
            pytest.param(query, marks=pytest.mark.extended)
            for query in (
                "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b RETURN collect(a + b) AS l",
                "RETURN reduce(l = [], x IN range(1, 100000000) | l + x) AS l",
                "WITH [1, 1] AS s " + "WITH [s, s, s, s, s, s, s, s] AS s " * 60 + "RETURN s",
            )
        ),
        "RETURN " + "(" * 1900 + "1" + ")" * 1900,
    ],
)
async def test_a_bomb_ends_in_time_and_the_next_query_is_answered(ask: Asker, query: str) -> None:
    """Each ends by a limit of the engine."""
    result = await ask(query)
    assert result.error in ("timeout", "too_large", "query_error", None)
    assert (await ask("RETURN 1 AS one")).rows == 1


async def test_query_errors_become_tool_text(ask: Asker) -> None:
    unbound = await ask("MATCH (n) RETURN m")
    assert unbound.error == "query_error"
    assert "gw_" not in unbound.content
    assert (await ask("MATCH (n) DETACH DELETE n")).error == "write_refused"
    empty = await ask("MATCH (n {key: 'nobody'}) RETURN n")
    assert empty.error is None
    assert "no rows" in empty.content
