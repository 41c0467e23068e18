"""Any property graph comes back from a real Neo4j as it went in, and what tools show can be looked up."""

import asyncio
import uuid

import pytest
from hypothesis import HealthCheck, Phase, example, given
from hypothesis import settings as hypothesis_settings

from graphwalk.errors import ConfigError
from graphwalk.graphs.graph import Node, PropertyGraph
from graphwalk.graphs.schema import schema_of
from graphwalk.graphs.values import Temporal, Value
from graphwalk.stores.loading import with_safe_names
from graphwalk.stores.neo4j.loaded import Neo4jDatabase
from graphwalk.variables import Variables
from tests.stores.any_graph import any_graphs, holds_as_shown, is_found_as_shown

pytestmark = pytest.mark.neo4j


TEXTS = ('\0{"$date": "2001-04-25"}', "gw_none", "a")
SPECIAL: dict[str, Value] = {
    **{"one": TEXTS[0], "list": TEXTS, "time": Temporal("time", "12:00:00Z")},
    "moment": Temporal("datetime", "2001-04-25T12:00:00Z"),
}
"""Texts that look like tagged ones, and times in UTC."""


@pytest.mark.parametrize("graphs", [1, pytest.param(12, marks=pytest.mark.extended)])
def test_round_trip_and_lookup(neo4j_server: Variables, graphs: int) -> None:
    loop = asyncio.new_event_loop()
    opening = Neo4jDatabase.open(neo4j_server, run_id=f"test-{uuid.uuid4().hex}")
    database = loop.run_until_complete(opening)

    # Graphs of a server are made slowly: what fails is shown as it was drawn.
    @hypothesis_settings(
        deadline=None,
        max_examples=graphs,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.explicit, Phase.generate],
    )
    @example(PropertyGraph.from_rows([Node("a", ("A",), SPECIAL)], []))
    @given(any_graphs())
    def check(graph: PropertyGraph) -> None:
        loop.run_until_complete(checked(graph))

    async def checked(graph: PropertyGraph) -> None:
        store = await database.load(graph)
        graph = with_safe_names(graph)
        try:
            ordered = PropertyGraph.from_rows(sorted(graph.nodes(), key=lambda node: node.key), graph.relationships())
            assert (await store.read_graph()).digest == ordered.digest
            await holds_as_shown(store, graph)
            await is_found_as_shown(store, graph)
            await schema_is_read_from_the_server(neo4j_server, store.scope, graph)
        finally:
            await store.drop()

    try:
        check()
    finally:
        loop.run_until_complete(database.close())
        loop.close()


async def schema_is_read_from_the_server(server: Variables, scope: str, graph: PropertyGraph) -> None:
    """The schema of a graph that another process loaded is that of the graph in memory."""
    async with await Neo4jDatabase.open(server, run_id=f"test-{uuid.uuid4().hex}") as other:
        store = await other.loaded(scope)
        for samples in (0, 2):
            assert repr(await store.schema(samples)) == repr(schema_of(graph, samples))  # NaN equals nothing


async def test_our_labels_are_refused(neo4j_server: Variables) -> None:
    async with await Neo4jDatabase.open(neo4j_server, run_id=f"test-{uuid.uuid4().hex}") as database:
        with pytest.raises(ConfigError, match="reserves in Neo4j"):
            await database.load(PropertyGraph.from_rows([Node("a", ("A", "gw_0123456789ab"), {})], []))
