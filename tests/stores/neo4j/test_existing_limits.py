"""Limits on an existing Neo4j: large results, large schemas, long values, slow queries."""

import pytest

from graphwalk.config.graph_source import GraphSource
from graphwalk.errors import QueryLimitError
from graphwalk.stores.sources import open_source
from graphwalk.types.encodings import decode_notes, decode_rows, next_pages
from graphwalk.variables import Variables
from tests.stores.neo4j.existing import MARK, OwnDatabase, call

pytestmark = pytest.mark.neo4j


@pytest.mark.extended
async def test_a_node_with_many_neighbors_is_answered_by_a_page(own: OwnDatabase) -> None:
    await own.unique("st_hub", "StHub", "name")
    await own.write(f"CREATE (:{MARK}:StHub {{name: 'hub'}})")
    await own.write(f"MATCH (h:StHub) UNWIND range(1, 100000) AS n CREATE (:{MARK}:StLeaf {{n: n}})-[:ST_AT]->(h)")
    store = await own.open()
    hub = {"label": "StHub", "property_name": "key", "property_value": "hub"}
    first = await call(store, "get_all_nearest_neighbors", **hub)
    second = await call(store, "get_all_nearest_neighbors", page=2, **hub)
    rows, total = await store.first("MATCH (:StHub)--(n) RETURN properties(n) AS p", {}, rows=50, seconds=60)
    assert (len(rows), total) == (50, None), "the other neighbors are not fetched"
    assert first.rows == second.rows == 100_000
    assert "of 100000 in all" in decode_notes(first.content)[0]
    assert next_pages(first.content)[0] == 2
    rows = [*decode_rows(first.content), *decode_rows(second.content)]
    assert len({row["neighbor_properties"]["n"] for row in rows}) == len(rows) == 100
    beyond = await call(store, "get_all_nearest_neighbors", page=40, **hub)
    assert len(decode_rows(beyond.content)) == 50, "pages go on after what is fetched at once"


async def test_the_limit_of_a_query_is_that_of_the_experiment(own: OwnDatabase, neo4j_server: Variables) -> None:
    await own.write(f"CREATE (:{MARK}:StSlow)")
    source = GraphSource(neo4j=neo4j_server.neo4j_database or "neo4j")
    async with open_source(source, neo4j_server, timeout_seconds=0.5) as opened:
        with pytest.raises(QueryLimitError):
            await opened.store.run("UNWIND range(1, 1000000000000) AS n WITH n WHERE n < 0 RETURN n")
