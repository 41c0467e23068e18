"""An existing Neo4j: the names of nodes, omitted parts, and that nothing changes."""

import re
from pathlib import Path
from typing import Any

import pytest

from graphwalk.config.graph_source import GraphSource
from graphwalk.errors import ConfigError, StoreError
from graphwalk.stores.neo4j import existing_schema
from graphwalk.stores.neo4j.connection import Connection
from graphwalk.stores.neo4j.existing import ExistingStore
from graphwalk.stores.sources import open_source
from graphwalk.types.encodings import decode_rows
from graphwalk.variables import Variables
from tests.stores.neo4j.existing import MARK, OwnDatabase, call, find

pytestmark = pytest.mark.neo4j


async def test_names_come_from_unique_properties_and_element_ids(own: OwnDatabase) -> None:
    await own.unique("st_person", "StPerson", "name")
    await own.unique("st_film", "StFilm", "title")
    await own.write(
        f"CREATE (:{MARK}:StPerson {{name: 'Ida'}})-[:ST_MADE]->(:{MARK}:StFilm {{title: 'Fog', key: 'piano'}})"
        f"-[:ST_SHOWN]->(:{MARK}:StHall {{seats: 90}}), (:{MARK}:StPerson:StFilm {{name: 'Bo', title: 'Both'}})"
    )
    store = await own.open([MARK])
    [ida] = await find(store, "StPerson", "key", "Ida")
    assert ida == {"labels": ["StPerson", MARK], "properties": {"key": "Ida", "name": "Ida"}}
    rows = await find(store, "StFilm", "key", "Fog", near=True)
    hall, person = sorted(rows, key=lambda row: row["type"], reverse=True)
    assert (person["neighbor_properties"]["key"], hall["neighbor_labels"]) == ("Ida", ["StHall", MARK])
    key = hall["neighbor_properties"]["key"]
    [back] = await find(store, "StHall", "key", key, near=True)
    title = store.dialect.key_title or ""
    assert back["neighbor_properties"] == {"key": "Fog", title: "piano", "title": "Fog"}
    assert len(await find(store, "StFilm", title, "piano")) == 1
    plain = store.render('MATCH (n:{{ "StFilm" | label }}) RETURN n.{{ title | property }} AS value', {"title": title})
    assert {"value": "piano"} in await store.run(plain), "a query names the property as the schema does"
    assert await find(store, "StPerson", "key", "Both"), (
        "of several labels with unique properties the first by name gives the key"
    )
    graph = await store.read_graph()
    assert {"Ida", "Fog", "Both", key} <= set(graph.keys)
    assert key.count(":") == 2, "the element id"


async def test_a_key_that_is_the_name_is_no_other_property_too(own: OwnDatabase) -> None:
    await own.unique("st_person", "StPerson", "key")
    await own.unique("st_film", "StFilm", "key")
    await own.write(f"CREATE (:{MARK}:StPerson {{key: 'Ida'}})-[:ST_MADE]->(:{MARK}:StFilm {{key: 'Fog'}})")
    store = await own.open([MARK])
    person = (await store.schema()).node("StPerson")
    assert person is not None
    assert [property_.name for property_ in person.properties] == ["key"]
    [row] = await find(store, "StPerson", "key", "Ida", near=True)
    assert row["neighbor_properties"] == {"key": "Fog"}


async def test_a_key_that_two_nodes_share_is_an_error_and_another_property_can_be_chosen(own: OwnDatabase) -> None:
    await own.unique("st_person", "StPerson", "name")
    await own.unique("st_dog", "StDog", "name")
    await own.write(f"CREATE (:{MARK}:StPerson {{name: 'Ida', number: 7}}), (:{MARK}:StDog {{name: 'Ida', number: 8}})")
    store = await own.open([MARK])
    with pytest.raises(StoreError, match="two nodes have the key 'Ida'") as raised:
        await store.read_graph()
    assert "--key" in raised.value.hint
    assert [row["labels"][0] for row in await find(store, "StDog", "key", "Ida")] == ["StDog"]
    chosen = await own.open([MARK], key="number")
    assert sorted((await chosen.read_graph()).keys) == ["7", "8"]
    assert len(await find(chosen, "StDog", "key", 8)) == 1
    with pytest.raises(ConfigError, match="nosuch"):
        await own.open([MARK], key="nosuch")


async def test_keys_are_looked_up_by_index_or_element_id(own: OwnDatabase) -> None:
    await own.unique("st_person", "StPerson", "name")
    await own.write(f"UNWIND range(1, 50) AS n CREATE (:{MARK}:StPerson {{name: 'p' + n}})")
    store = await own.open()
    query = 'MATCH (n:{{ "StPerson" | label }}) WHERE {{ "key" | of("n", "StPerson") }} = $key RETURN n.name'
    for cypher, given in (
        (store.dialect.lookup, {"values": ["p7"]}),
        (store.render(query, {}), {"gw_id_of_key": ["4:x:7"], "key": "p7"}),
    ):
        async with store.connection._driver.session(default_access_mode="READ") as session:
            result = await session.run(f"EXPLAIN {cypher}", given)
            plan = str((await result.consume()).plan)
        assert "IndexSeek" in plan or "NodeByElementIdSeek" in plan
        assert "Scan" not in plan, plan


@pytest.mark.parametrize("name", ["Ünï `tick`", "q\"uote's x:y"])
async def test_odd_names_are_walked(own: OwnDatabase, name: str) -> None:
    quoted = "`" + name.replace("`", "``") + "`"
    await own.write(
        f"CREATE (:{MARK}:{quoted} {{{quoted}: date('2001-04-25')}})-[:{quoted} {{{quoted}: 2}}]->(:{MARK})"
    )
    store = await own.open()
    key = (await (await own.open([name])).read_graph()).keys[0]
    [row] = await find(store, name, "key", key)
    assert row["properties"] == {"key": key, name: "2001-04-25"}
    assert name in {node.label for node in (await store.schema()).nodes}
    values = await call(
        store, "get_unique_property_values", entity_name=name, entity_type="relationship", property_name=name
    )
    assert decode_rows(values.content) == [{"values": 2}]


async def test_a_filter_hides_nodes_also_as_neighbors(own: OwnDatabase) -> None:
    await own.write(
        f"CREATE (a:{MARK}:StIn {{n: 1}})-[:ST_YES]->(:{MARK}:StIn {{n: 2}}), (a)-[:ST_NO]->(:{MARK}:StIn {{n: 3}}), "
        f"(a)-[:ST_YES]->(:{MARK}:StOut {{n: 4}})"
    )
    store = await own.open(["StIn"], ["ST_YES"])
    assert [row["neighbor_properties"]["n"] for row in await find(store, "StIn", "n", 1, near=True)] == [2]
    schema = await store.schema()
    assert [node.label for node in schema.nodes] == ["StIn", MARK]
    assert [(r.type, r.pairs) for r in schema.relationships] == [
        ("ST_YES", tuple((a, b) for a in ("StIn", MARK) for b in ("StIn", MARK)))
    ]
    graph = await store.read_graph()
    assert (graph.node_count, graph.relationship_count) == (3, 1)
    with pytest.raises(ConfigError, match="StNowhere"):
        await own.open(["StNowhere"])


async def test_our_own_nodes_are_not_there(own: OwnDatabase) -> None:
    await own.write(f"CREATE (:{MARK}:StSeen {{n: 1}}), (:{MARK}:StSeen:gw_0123456789ab {{n: 1}})")
    store = await own.open()
    assert len(await find(store, "StSeen", "n", 1)) == 1
    schema = await store.schema()
    # By name: another test may load a graph between the two reads.
    assert not {node.label for node in schema.nodes} & {"gw_0123456789ab"}
    assert (await (await own.open([MARK])).read_graph()).node_count == 1


async def test_a_database_is_opened_by_its_name(neo4j_server: Variables) -> None:
    with pytest.raises(StoreError, match="no database 'nowhere'"):
        await ExistingStore.open(GraphSource(neo4j="nowhere"), neo4j_server)
    async with open_source(GraphSource(neo4j="neo4j"), neo4j_server) as opened:
        assert (opened.name, opened.graph, opened.store.kind) == ("neo4j", None, "neo4j")


async def test_values_are_looked_up_as_shown(own: OwnDatabase) -> None:
    await own.write(
        f"CREATE (:{MARK}:StOdd {{nan: 0.0/0.0, `not a number`: 0.0/0.0, most: 1.0/0.0, day: date('2001-04-25'), at: datetime('2001-04-25T10:00+02:00'), "
        "clock: localtime('10:00'), took: duration('P1DT2H'), "
        "names: ['a', 'b'], large: 9007199254740993, nothing: ''})"
    )
    store = await own.open([MARK])
    [row] = await find(store, "StOdd", "nothing", "")
    shown = {name: value for name, value in row["properties"].items() if name != "key"}
    assert shown["nan"] == "NaN"
    assert shown["day"] == "2001-04-25"
    for name, value in shown.items():
        assert len(await find(store, "StOdd", name, value)) == 1, f"{name} = {value!r}"


PAGE = Path(__file__).parents[3] / "docs" / "own_graph.md"


async def test_the_minimal_role_covers_what_is_called(own: OwnDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[str] = []
    send = Connection._send

    async def noted(self: Connection, mode: str, query: Any, *rest: Any) -> Any:
        sent.append(query.text)
        return await send(self, mode, query, *rest)

    monkeypatch.setattr(Connection, "_send", noted)
    await own.unique("st_person", "StPerson", "name")
    await own.write(f"CREATE (:StPerson:{MARK} {{name: 'Ida', born: 1}})-[:ST_KNOWS]->(:StPerson:{MARK})")
    await own.write("CREATE FULLTEXT INDEX st_index FOR (n:StPerson) ON EACH [n.name]")
    await own.write("CALL db.awaitIndexes(60)")
    sent.clear()
    store = await own.open()
    assert [row["key"] for row in (await store.search("ida", "StPerson")).rows] == ["Ida"]
    await own.write("DROP INDEX st_index")
    await store.schema(3)
    await call(store, "get_all_nearest_neighbors", label="StPerson", property_name="name", property_value="Ida")
    text = "\n".join(sent)
    called = set(re.findall(r"\bCALL\s+([a-zA-Z.]+)", text))
    shown = set(re.findall(r"\bSHOW\s+([A-Z]+)", text))
    search = "db.index.fulltext.queryNodes"
    assert called == {"db.labels", "db.propertyKeys", "db.relationshipTypes", search}
    assert shown == {"CONSTRAINTS", "INDEXES"}
    page = PAGE.read_text()
    assert all(name in page for name in called | {"GRANT SHOW INDEX ON"})


async def test_schema_of_a_label_is_read_up_to_a_limit(own: OwnDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(existing_schema, "MOST", 20)
    await own.write(
        f"UNWIND range(1, 30) AS n CREATE (:{MARK}:StBig {{name: 'b' + n}})-[:ST_BIG {{days: n}}]->(:{MARK}:StBig) "
    )
    await own.write("MATCH (n:StBig {name: 'b29'})-[r]->() SET n.rare = 'x', r.`rare one` = 7")
    await own.write(f"CREATE (:{MARK}:StFew {{title: 'few', born: 1}})")
    store = await own.open([MARK])
    schema = await store.schema(2)
    few, big = schema.node("StFew"), schema.node("StBig")
    assert few is not None
    assert big is not None
    assert [(p.name, p.kinds) for p in few.properties] == [
        ("key", ("text",)),
        ("born", ("integer",)),
        ("title", ("text",)),
    ]
    assert [p.samples for p in few.properties[1:]] == [(1,), ("few",)]
    assert (few.limited, big.limited) == (False, True)
    wrong = await call(store, "get_node_by_property", label="StFew", property_name="titlle", property_value="x")
    assert (wrong.error, "Did you mean title?" in wrong.content) == ("unknown_name", True)
    rare = await call(store, "get_node_by_property", label="StBig", property_name="rare", property_value="x")
    assert (rare.error, rare.rows) == (None, 1), "the schema lacks it, a node has it"
    before = await own.digest()
    for name in ("no such", "`}) DETACH DELETE n //", "n.name = n.name OR `x"):
        none = await call(store, "get_node_by_property", label="StBig", property_name=name, property_value="x")
        assert (none.error, none.rows) == (None, 0), name
    for name in ("a\\u0060b", "\0", "\ud800", "", "x" * 1000):
        refused = await call(store, "get_node_by_property", label="StBig", property_name=name, property_value="x")
        assert refused.error == "unknown_name", name
    assert await own.digest() == before
    for name, rows in (("rare one", 1), ("alien", 0)):
        arguments = {"entity_type": "relationship", "entity_name": "ST_BIG", "property_name": name}
        assert (await call(store, "get_unique_property_values", **arguments)).rows == rows
