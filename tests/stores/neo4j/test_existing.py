"""An existing Neo4j: the names of nodes, omitted parts, limits, and that nothing changes."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from graphwalk.config.graph_source import GraphSource
from graphwalk.errors import ConfigError, QueryLimitError, StoreError
from graphwalk.stores.neo4j import existing_schema
from graphwalk.stores.neo4j.connection import Connection
from graphwalk.stores.neo4j.existing import ExistingStore
from graphwalk.stores.open import OpenGraphs
from graphwalk.tools.encodings import decode_notes, next_pages, read_rows
from graphwalk.variables import Variables
from tests.forked_commands import graphwalk
from tests.stores.neo4j.existing import OwnDatabase, call, find

pytestmark = pytest.mark.neo4j
PAGE = Path(__file__).parents[3] / "docs" / "own_graph.md"


async def test_names_come_from_unique_properties_and_element_ids(own: OwnDatabase) -> None:
    person, film, hall = own.labels("Person", "Film", "Hall")
    await own.unique(person, "name")
    await own.unique(film, "title")
    await own.write(
        f"CREATE (:{own.mark}:{person} {{name: 'Ida'}})-[:MADE]->(:{own.mark}:{film} {{title: 'Fog'}})"
        f"-[:SHOWN]->(:{own.mark}:{hall} {{seats: 90}}), (:{own.mark}:{person}:{film} {{name: 'Bo', title: 'Both'}})"
    )
    store = await own.open()
    [ida] = await find(store, person, "key", "Ida")
    assert ida == {"labels": [person, own.mark], "properties": {"key": "Ida", "name": "Ida"}}
    rows = await find(store, film, "key", "Fog", near=True)
    to_hall, to_person = sorted(rows, key=lambda row: row["type"], reverse=True)
    assert (to_person["neighbor_properties"]["key"], to_hall["neighbor_labels"]) == ("Ida", [hall, own.mark])
    key = to_hall["neighbor_properties"]["key"]
    assert key.count(":") == 2, "the element id"
    [back] = await find(store, hall, "key", key, near=True)
    assert back["neighbor_properties"] == {"key": "Fog", "title": "Fog"}
    assert await find(store, person, "key", "Both"), "of several unique properties that of the first label is the key"
    assert set((await store.read_graph()).keys) == {"Ida", "Fog", "Both", key}


async def test_a_property_that_is_called_key_is_hidden_with_a_warning(own: OwnDatabase) -> None:
    await own.write(f"CREATE (:{own.mark} {{key: 'piano', n: 1}})")
    store = await own.open()
    with pytest.warns(UserWarning, match="--key key"):
        [row] = await find(store, own.mark, "n", 1)
    assert row["properties"]["key"].count(":") == 2
    [row] = await find(await own.open(key="key"), own.mark, "key", "piano")
    assert row["properties"] == {"key": "piano", "n": 1}


async def test_a_key_that_two_nodes_share_is_an_error_and_another_property_can_be_chosen(own: OwnDatabase) -> None:
    person, dog = own.labels("Person", "Dog")
    await own.unique(person, "name")
    await own.unique(dog, "name")
    await own.write(
        f"CREATE (:{own.mark}:{person} {{name: 'Ida', number: 7}}), (:{own.mark}:{dog} {{name: 'Ida', number: 8}})"
    )
    store = await own.open()
    with pytest.raises(StoreError, match="two nodes have the same key 'Ida'") as raised:
        await store.read_graph()
    assert "--key" in raised.value.hint
    chosen = await own.open(key="number")
    assert sorted((await chosen.read_graph()).keys) == ["7", "8"]
    assert len(await find(chosen, dog, "key", 8)) == 1
    with pytest.raises(ConfigError, match="nosuch"):
        await own.open(key="nosuch")


async def test_keys_are_looked_up_by_index_or_element_id(own: OwnDatabase) -> None:
    [person] = own.labels("Person")
    await own.unique(person, "name")
    await own.write(f"UNWIND range(1, 50) AS n CREATE (:{own.mark}:{person} {{name: 'p' + n}})")
    store = await own.open([person])
    async with store.connection._driver.session(default_access_mode="READ") as session:
        result = await session.run(f"EXPLAIN {store.dialect.lookup}", {"values": ["p7"]})
        plan = str((await result.consume()).plan)
    assert "IndexSeek" in plan or "NodeByElementIdSeek" in plan
    assert "Scan" not in plan, plan


async def test_odd_names_are_walked(own: OwnDatabase) -> None:
    name = f"Ünï `tick` q\"uote's x:y {own.suffix}"
    quoted = "`" + name.replace("`", "``") + "`"
    await own.write(
        f"CREATE (:{own.mark}:{quoted} {{{quoted}: date('2001-04-25')}})-[:{quoted} {{{quoted}: 2}}]->(:{own.mark})"
    )
    store = await own.open()
    key = (await (await own.open([name])).read_graph()).keys[0]
    [row] = await find(store, name, "key", key)
    assert row["properties"] == {"key": key, name: "2001-04-25"}
    arguments = {"entity_name": name, "entity_type": "relationship", "property_name": name}
    assert read_rows((await call(store, "get_unique_property_values", **arguments)).content) == [{"values": 2}]


async def test_a_filter_hides_nodes_also_as_neighbors(own: OwnDatabase) -> None:
    seen, hidden = own.labels("In", "Out")
    node = f"{own.mark}:{seen}"
    await own.write(
        f"CREATE (a:{node} {{n: 1}})-[:YES]->(:{node} {{n: 2}}), (a)-[:NO]->(:{node} {{n: 3}}), "
        f"(a)-[:YES]->(:{own.mark}:{hidden} {{n: 4}}), (:{node}:gw_0123456789ab {{n: 1}})"
    )
    store = await own.open([seen], ["YES"])
    assert [row["neighbor_properties"]["n"] for row in await find(store, seen, "n", 1, near=True)] == [2]
    schema = await store.schema()
    assert [one.label for one in schema.nodes] == [seen, own.mark]
    assert [one.type for one in schema.relationships] == ["YES"]
    graph = await store.read_graph()
    assert (graph.node_count, graph.relationship_count) == (3, 1), "also without the graphs that GraphWalk loads"
    with pytest.raises(ConfigError, match="Nowhere"):
        await own.open(["Nowhere"])


async def test_a_database_is_opened_by_its_name(neo4j_server: Variables) -> None:
    with pytest.raises(StoreError, match="no database 'nowhere'"):
        await ExistingStore.open(GraphSource(neo4j="nowhere"), neo4j_server)
    async with OpenGraphs(neo4j_server) as graphs:
        store = await graphs.open(GraphSource(neo4j="neo4j"))
        assert (store.graph, store.kind) == (None, "neo4j")


async def test_values_are_looked_up_as_shown(own: OwnDatabase) -> None:
    await own.write(
        f"CREATE (:{own.mark} {{day: date('2001-04-25'), at: datetime('2001-04-25T10:00+02:00'), "
        "universal: datetime('2001-04-25T10:00Z'), clock: localtime('10:00:00.5'), written: '2001-04-25', "
        "large: 9007199254740993, nothing: ''})"
    )
    store = await own.open()
    [row] = await find(store, own.mark, "nothing", "")
    shown = {name: value for name, value in row["properties"].items() if name != "key"}
    assert shown["day"] == "2001-04-25"
    for name, value in shown.items():
        assert len(await find(store, own.mark, name, value)) == 1, f"{name} = {value!r}"


async def test_the_minimal_role_covers_what_is_called(own: OwnDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[str] = []
    read = Connection.read

    async def noted(self: Connection, cypher: str, *rest: Any) -> Any:
        sent.append(cypher)
        return await read(self, cypher, *rest)

    monkeypatch.setattr(Connection, "read", noted)
    [person] = own.labels("Person")
    await own.unique(person, "name")
    await own.write(f"CREATE (:{person}:{own.mark} {{name: 'Ida', born: 1}})-[:KNOWS]->(:{person}:{own.mark})")
    index = await own.index_texts(person, "n.name")
    sent.clear()
    store = await own.open()
    assert [row["key"] for row in (await store.search("ida", person)).rows] == ["Ida"]
    await own.write(f"DROP INDEX {index}")
    await store.schema(3)
    await find(store, person, "name", "Ida", near=True)
    text = "\n".join(sent)
    called = set(re.findall(r"\bCALL\s+([a-zA-Z.]+)", text))
    assert called == {"db.labels", "db.propertyKeys", "db.relationshipTypes", "db.index.fulltext.queryNodes"}
    assert set(re.findall(r"\bSHOW\s+([A-Z]+)", text)) == {"CONSTRAINTS", "INDEXES"}
    page = PAGE.read_text()
    assert all(name in page for name in called | {"GRANT SHOW INDEX ON"})


async def test_schema_of_a_label_is_read_up_to_a_limit(own: OwnDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(existing_schema, "MOST", 20)
    big, few = own.labels("Big", "Few")
    node = f"{own.mark}:{big}"
    await own.write(f"UNWIND range(1, 30) AS n CREATE (:{node} {{name: 'b' + n}})-[:BIG {{days: n}}]->(:{node})")
    await own.write(f"MATCH (n:{big} {{name: 'b29'}})-[r]->() SET n.rare = 'x', r.`rare one` = 7")
    await own.write(f"CREATE (:{own.mark}:{few} {{title: 'few', born: 1}})")
    store = await own.open()
    schema = {one.label: one for one in (await store.schema(2)).nodes}
    assert (schema[few].limited, schema[big].limited) == (False, True)
    assert [(p.name, p.kinds, p.samples) for p in schema[few].properties[1:]] == [
        ("born", ("integer",), (1,)),
        ("title", ("text",), ("few",)),
    ]
    wrong = await call(store, "get_node_by_property", label=few, property_name="titlle", property_value="x")
    assert (wrong.error, "Did you mean title?" in wrong.content) == ("unknown_name", True)
    before = await own.digest()
    for name, rows in (("rare", 1), ("no such", 0), ("`}) DETACH DELETE n //", 0), ("n.name = n.name OR `x", 0)):
        result = await call(store, "get_node_by_property", label=big, property_name=name, property_value="x")
        assert (result.error, result.rows) == (None, rows), f"the schema lacks {name}, a node may have it"
    for name in ("a\\u0060b", "\0", "\ud800", "", "x" * 1000):
        refused = await call(store, "get_node_by_property", label=big, property_name=name, property_value="x")
        assert refused.error == "unknown_name", name
    assert await own.digest() == before
    arguments = {"entity_type": "relationship", "entity_name": "BIG", "property_name": "rare one"}
    assert (await call(store, "get_unique_property_values", **arguments)).rows == 1


@pytest.mark.extended
async def test_a_node_with_many_neighbors_is_answered_by_a_page(own: OwnDatabase) -> None:
    [hub] = own.labels("Hub")
    await own.unique(hub, "name")
    await own.write(f"CREATE (:{own.mark}:{hub} {{name: 'hub'}})")
    await own.write(f"MATCH (h:{hub}) UNWIND range(1, 100000) AS n CREATE (:{own.mark} {{n: n}})-[:AT]->(h)")
    store = await own.open()
    arguments = {"label": hub, "property_name": "key", "property_value": "hub"}
    first = await call(store, "get_all_nearest_neighbors", **arguments)
    second = await call(store, "get_all_nearest_neighbors", page=2, **arguments)
    assert "more than 1000" in decode_notes(first.content)[0]
    assert next_pages(first.content)[0] == 2
    rows = [*read_rows(first.content), *read_rows(second.content)]
    assert len({row["neighbor_properties"]["n"] for row in rows}) == len(rows) > 50
    beyond = await call(store, "get_all_nearest_neighbors", page=40, **arguments)
    assert read_rows(beyond.content), "pages go on after what is fetched at once"


async def test_the_limit_of_a_query_is_that_of_the_experiment(neo4j_server: Variables) -> None:
    source = GraphSource(neo4j=neo4j_server.get("NEO4J_DATABASE") or "neo4j")
    async with OpenGraphs(neo4j_server, timeout_seconds=0.5) as graphs:
        store = await graphs.open(source)
        with pytest.raises(QueryLimitError):
            await store.run("UNWIND range(1, 1000000000000) AS n WITH n WHERE n < 0 RETURN n")


@pytest.mark.extended
async def test_the_expert_is_right_about_names_that_the_embedded_engine_cannot_hold(
    own: OwnDatabase, neo4j_server: Variables, tmp_path: Path
) -> None:
    name = "`Größe`"
    await own.write(
        f"UNWIND range(1, 8) AS n CREATE (a:{own.mark}:`日本 {own.suffix}` {{name: 'a' + n, {name}: n, `it's`: 'x' + n}}), "
        f"(b:{own.mark}:`A&B {own.suffix}` {{name: 'b' + n, `1st`: n * 2}}), (a)-[:`kennt & mag`]->(b)"
    )
    await own.write(
        f"MATCH (a:{own.mark} {{name: 'a1'}}), (b:{own.mark}) WHERE b.name IN ['b2', 'b3'] CREATE (a)-[:`kennt & mag`]->(b)"
    )
    database = neo4j_server.get("NEO4J_DATABASE") or "neo4j"
    labels = [own.mark, f"日本 {own.suffix}", f"A&B {own.suffix}"]
    graphs = json.dumps([{"neo4j": database, "labels": labels}], ensure_ascii=False)
    words = ("run", "own-graph", "--store", "neo4j", "--setting", "tools", "-m", "scripted/expert", "--out", "run")
    done = await asyncio.to_thread(
        graphwalk, *words, "-o", f"suite.graphs={graphs}", folder=tmp_path, **neo4j_server.values
    )
    assert done.returncode == 0, done.stderr
    records = [json.loads(line) for line in (tmp_path / "run" / "results.jsonl").read_text().splitlines()]
    assert len(records) > 10
    assert [record["task"]["question"] for record in records if not record["score"]["correct"]] == []
    questions = " ".join(record["task"]["question"] for record in records)
    assert "kennt & mag" in questions
