"""Queries spell out safe names, which mean the same on the embedded engine as on Neo4j."""

from typing import Any

import pytest

from graphwalk.errors import ConfigError, StoreError
from graphwalk.graphs.graph import Node, PropertyGraph, Relationship
from graphwalk.stores.base import Database
from graphwalk.stores.embedded import EmbeddedDatabase

PERSON = {"name": "Ida", "title": "Dr", "type": "lead", "id": 7, "label": "x", "année": 3, "gw_odd": 4, "born": 1}
GRAPH = PropertyGraph.from_rows(
    [
        Node("p1", ("Person",), PERSON),
        Node("p2", ("Person",), {"born": 2}),
        Node("m1", ("Movie",), {"title": "name: p.name", "type": "long"}),
    ],
    [Relationship("ACTED_IN", "p1", "m1", {"type": "guest", "name": "Ann"})],
)
QUERIES: dict[str, list[dict[str, Any]]] = {
    "MATCH (p:Person {name: 'Ida'})-[r:ACTED_IN]->(m:Movie) RETURN p.name, m.title_, r.type_ AS role": [
        {"p.name": "Ida", "m.title_": "name: p.name", "role": "guest"}
    ],
    "MATCH (p:Person {born: 1, id_: 7}) RETURN p.id_ AS id, p . type_ AS type, p.`label_` AS label": [
        {"id": 7, "type": "lead", "label": "x"}
    ],
    "MATCH (name:Person) WHERE name.name IS NULL RETURN name.key AS name, name.title_ AS title": [
        {"name": "p2", "title": None}
    ],
    "MATCH (p:Person)-[{name: 'Ann'}]->(m) RETURN p.annee AS b, p.gw_odd AS c": [{"b": 3, "c": 4}],
    "MATCH (p:Person) WITH {name: p.name, born: p.born} AS m WHERE m.born < 2 RETURN m.name AS name, m": [
        {"name": "Ida", "m": {"born": 1, "name": "Ida"}}
    ],
    "MATCH (p:Person)-[*1..2]->(m) WHERE p.name IN ['name', 'Ida'] RETURN p {.name, .born} AS p": [
        {"p": {"born": 1, "name": "Ida"}}
    ],
    "MATCH (p:Person) RETURN toUpper(p['name']) AS name ORDER BY p.born LIMIT 1": [{"name": "IDA"}],
    'MATCH (p:Person) WHERE p.{{ name | property }} = p.name RETURN {{ name | of("p", "Person") }} AS name': [
        {"name": "Ida"}
    ],
}


@pytest.mark.parametrize("query", QUERIES)
async def test_names_mean_the_same_on_both_engines(query: str, any_database: Database) -> None:
    store = await any_database.load(GRAPH)
    assert await store.run(store.render(query, {"name": "name"})) == QUERIES[query]


@pytest.mark.parametrize(
    "query", ["MATCH (p) RETURN p.title", "MATCH (p {`id`: 7}) RETURN p", "MATCH (p) RETURN p {.type}"]
)
async def test_a_reserved_name_is_refused_with_the_name_to_write(query: str) -> None:
    store = await EmbeddedDatabase().load(GRAPH)
    with pytest.raises(ConfigError, match="a meaning of its own") as refused:
        store.render(query, {})
    assert "_, which the property is called here" in refused.value.hint


async def test_a_refusal_has_the_query() -> None:
    store = await EmbeddedDatabase().load(GRAPH)
    with pytest.raises(StoreError, match=r"'born' on Movie(.|\n)*\{born: 1\}"):
        await store.run(store.render("MATCH (m:Movie {born: 1}) RETURN m.key AS key", {}))
