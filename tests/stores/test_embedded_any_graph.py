"""Any property graph comes back from the embedded engine as it went in, and what tools show can be looked up."""

import asyncio

from hypothesis import given, settings

from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.types.graph import Node, PropertyGraph, Relationship
from tests.stores.any_graph import any_graphs, comes_back, is_found_as_shown

HIDDEN = ("gw_node", "gw_none", "gw__")


@settings(deadline=None, max_examples=100)
@given(any_graphs())
def test_round_trip_and_lookup(graph: PropertyGraph) -> None:
    async def check() -> None:
        store = await EmbeddedDatabase().load(graph)
        await comes_back(store, graph)
        await is_found_as_shown(store, graph)

    asyncio.run(check())


async def test_a_query_of_a_models_own_sees_the_names_of_the_graph() -> None:
    graph = PropertyGraph.from_rows(
        [Node("a", ("Größe", "Ort"), {"1st": 2, "name": "x"}), Node("b", (), {})],
        [Relationship("führt zu", "a", "b", {})],
    )
    store = await EmbeddedDatabase().load(graph)
    query = (
        "MATCH (a:`Größe`)-[r:`führt zu`]->(b) WHERE type(r) = 'führt zu' AND 'Ort' IN labels(a) AND a.`1st` = 2 "
        "RETURN labels(a) AS la, size(labels(b)) AS lb, type(r) AS t, keys(a) AS k, a"
    )
    result = await store.ask(query, seconds=5.0, rows=10)
    await store.drop()
    (row,) = result.rows
    assert sorted(row.pop("k")) == ["1st", "key", "name"]
    properties = {"1st": 2, "key": "a", "name": "x"}
    node = {"labels": ["Größe", "Ort"], "properties": properties}
    assert row == {"la": ["Größe", "Ort"], "lb": 0, "t": "führt zu", "a": node}
    text = str(await everything(graph))
    assert not any(name in text for name in HIDDEN)


async def everything(graph: PropertyGraph) -> object:
    store = await EmbeddedDatabase().load(graph)
    return await store.schema(5), await store.run("MATCH (n)-[r]-(m) RETURN labels(n), n, r, type(r), properties(m)")
