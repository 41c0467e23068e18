"""The contract of stores: the embedded engine and each release of Neo4j give the same answers."""

import pytest

from graphwalk.settings import Settings
from graphwalk.stores.base import Database
from graphwalk.stores.embedded import EmbeddedDatabase, EmbeddedStore
from graphwalk.stores.graph_schema import schema_of
from graphwalk.testing import STORE_CHECKS, check_store
from graphwalk.types.graph import Node, PropertyGraph, Relationship
from graphwalk.types.values import Row

HOSTILE = ("`) DETACH DELETE n //", "``", "x`:`y", "ünïcödé", "'quote\"", "$x", "{{ x }}", "}-[]->(", "-- /*")


@pytest.mark.parametrize("name", STORE_CHECKS)
async def test_store_contract(name: str, any_database: Database) -> None:
    await STORE_CHECKS[name](any_database)


async def test_hostile_names_are_names(any_database: Database) -> None:
    """The embedded engine refuses most of these, and so knows them under others."""
    graph = PropertyGraph.from_rows(
        [Node(name, (name,), {name: 1}) for name in HOSTILE],
        [Relationship(name, name, name, {name: 2}) for name in HOSTILE],
    )
    store = await any_database.load(graph)
    assert await store.schema(2) == schema_of(graph, 2)
    template = (
        "MATCH (n:{{ x | label }})-[r:{{ x | type }} { {{ x | property }}: 2 }]->() RETURN n.{{ x | property }} AS p, r"
    )
    for name in HOSTILE:
        rows = await store.run(store.render(template, {"x": name}))
        assert rows == [{"p": 1, "r": {"type": name, "properties": {name: 2}}}]


async def test_a_bad_store_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    async def open_lossy(settings: Settings, **seconds: object) -> EmbeddedDatabase:
        return EmbeddedDatabase()

    await check_store(open_lossy)
    run = EmbeddedStore.run
    calls = 0

    async def every_other_row(self: EmbeddedStore, *query: object) -> list[Row]:
        nonlocal calls
        calls += 1
        rows = await run(self, *query)  # type: ignore[arg-type]
        return rows[:-1] if calls % 2 else rows

    monkeypatch.setattr(EmbeddedStore, "run", every_other_row)
    with pytest.raises(AssertionError, match="differs"):
        await check_store(open_lossy)
