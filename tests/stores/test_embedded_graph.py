"""Names that the text of a query spells out mean the same on the embedded engine as on Neo4j."""

from typing import Any

import pytest

from graphwalk.errors import ConfigError, StoreError
from graphwalk.stores.base import Database
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.types.graph import Node, PropertyGraph, Relationship

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
    "MATCH (p:Person {name: 'Ida'})-[r:ACTED_IN]->(m:Movie) RETURN p.name, m.title, r.type AS role": [
        {"p.name": "Ida", "m.title": "name: p.name", "role": "guest"}
    ],
    "MATCH (p:Person {born: 1, id: 7}) RETURN p.id AS id, p . type AS type, p.`label` AS label": [
        {"id": 7, "type": "lead", "label": "x"}
    ],
    "MATCH (name:Person) WHERE name.name IS NULL RETURN name.key AS name, name.title AS title": [
        {"name": "p2", "title": None}
    ],
    "MATCH (p:Person)-[{name: 'Ann'}]->(m) RETURN p.née AS a, p.année AS b, p.gw_odd AS c": [
        {"a": None, "b": 3, "c": 4}
    ],
    "MATCH (m:Movie {title: \"name: p.name\"}) // {name: m.name}\nRETURN 'p.name' AS `m.name`, m.title AS t": [
        {"m.name": "p.name", "t": "name: p.name"}
    ],
    "MATCH (p:Person) WITH {name: p.name, id: p.born} AS m WHERE m.id < 2 RETURN m.name AS name, m": [
        {"name": "Ida", "m": {"id": 1, "name": "Ida"}}
    ],
    "MATCH (p:Person)-[*1..2]->(m) WHERE p.name IN ['name', 'Ida'] RETURN p {.name, .born} AS p": [
        {"p": {"born": 1, "name": "Ida"}}
    ],
    "MATCH (p:Person) RETURN toUpper(p.name) AS name ORDER BY p.born LIMIT 1": [{"name": "IDA"}],
    'MATCH (p:Person) WHERE p.{{ name | property }} = p.name RETURN {{ name | of("p", "Person") }} AS name': [
        {"name": "Ida"}
    ],
}


@pytest.mark.parametrize("query", QUERIES)
async def test_names_of_properties_mean_the_same_on_both_engines(query: str, any_database: Database) -> None:
    store = await any_database.load(GRAPH)
    assert await store.run(store.render(query, {"name": "name"})) == QUERIES[query]


async def test_an_index_of_text_is_refused_with_the_line_to_write() -> None:
    store = await EmbeddedDatabase().load(GRAPH)
    with pytest.raises(ConfigError, match="cannot read p") as refused:
        store.render("MATCH (p:Person) RETURN p['name'] AS name", {})
    assert refused.value.hint == "write p.name"
    assert store.render("RETURN ['name'] AS a", {}) == "RETURN ['name'] AS a"


async def test_a_refusal_has_the_names_of_the_query() -> None:
    store = await EmbeddedDatabase().load(GRAPH)
    with pytest.raises(StoreError, match=r"'name' on Movie(.|\n)*\{name: 'X'\}"):
        await store.run(store.render("MATCH (m:Movie {name: 'X'}) RETURN m.key AS key", {}))
