"""Any property graph comes back from the embedded engine as it went in."""

import asyncio

from hypothesis import HealthCheck, given, settings

from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.stores.schema_queries import schema_of
from graphwalk.stores.whole import read_whole
from graphwalk.types.graph import PropertyGraph
from tests.stores.any_graph import any_graphs


def by_key(graph: PropertyGraph) -> PropertyGraph:
    """The same graph with its nodes in the order of their keys, as it is read out."""
    return PropertyGraph.from_rows(sorted(graph.nodes(), key=lambda node: node.key), graph.relationships())


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(any_graphs())
def test_what_goes_in_comes_out(graph: PropertyGraph) -> None:
    async def check() -> None:
        store = await EmbeddedDatabase().load(graph)
        assert (await read_whole(store)).digest == by_key(graph).digest
        for samples in (0, 2):
            assert await store.schema(samples) == schema_of(graph, samples)

    asyncio.run(check())
