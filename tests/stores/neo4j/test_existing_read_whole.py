"""A Neo4j read out whole, on a server of each release that holds nothing else than what the test puts there."""

import math
from uuid import UUID

import pytest
from neo4j.vector import Vector

from graphwalk.graphs.values import Point, Temporal, Value, read_temporal
from graphwalk.stores.neo4j.values import as_plain_value
from tests.stores.neo4j.existing import OwnDatabase

pytestmark = pytest.mark.neo4j

TEMPORALS = [
    *(f"duration('{text}')" for text in ("P14M", "PT-1.5S", "P1Y-14M", "P-1DT1H", "PT3661.25S", "P1W", "PT0S")),
    "duration({months: -5, days: 106751991167300, seconds: -3})",
    *(f"date('{text}')" for text in ("2001-04-25", "0001-01-01", "9999-12-31")),
    "localtime('01:02:03.000000004')",
    "time('10:00Z')",
    "time('10:00-18:00')",
    "localdatetime('2001-04-25T12:00')",
    "datetime('2001-04-25T12:00Z')",
    "datetime('2001-10-28T02:30+02:00[Europe/Paris]')",
    "datetime('2001-10-28T02:30+01:00[Europe/Paris]')",
]
OTHERS: dict[str, Value] = {
    **{"true": True, "-9223372036854775808": -(2**63), "0.1": 0.1, "1.0/0.0": math.inf, "''": "", "'ﷺ'": "ﷺ"},
    **{"$bytes": b"\x00\xff", "[]": (), "[1, 2]": (1, 2), "[true]": (True,), "['a', '']": ("a", "")},
    "point({x: 1.0, y: 2.0})": Point(7203, (1.0, 2.0)),
    "point({x: 1, y: 2, z: 3})": Point(9157, (1.0, 2.0, 3.0)),
    "point({latitude: 1, longitude: 2})": Point(4326, (2.0, 1.0)),
    "point({latitude: 1, longitude: 2, height: 3})": Point(4979, (2.0, 1.0, 3.0)),
    "[point({x: 1, y: 2})]": (Point(7203, (1.0, 2.0)),),
}


async def test_values_of_all_types_are_read_as_the_server_writes_them_and_twice_the_same(own: OwnDatabase) -> None:
    for value in TEMPORALS:
        await own.write(f"CREATE (:{own.mark} {{value: {value}, list: [{value}], text: toString({value})}})")
        await own.write(f"CREATE (:{own.mark})-[:AT {{value: {value}, text: toString({value})}}]->(:{own.mark})")
    for number, value in enumerate(OTHERS):
        await own.write(
            f"CREATE (:{own.mark} {{other: {value}, number: {number}}})-[:OF {{value: {value}}}]->(:{own.mark} {{nan: 0.0/0.0}})",
            bytes=b"\x00\xff",
        )
    store = await own.open()
    graph = await store.read_graph()
    temporals = [
        entity.properties for entity in (*graph.nodes(), *graph.relationships()) if "text" in entity.properties
    ]
    assert len(temporals) == 2 * len(TEMPORALS)
    for properties in temporals:
        value = properties["value"]
        assert isinstance(value, Temporal)
        assert value.text == properties["text"]
        assert read_temporal(value.text, value.kind) == value
        assert properties.get("list", (value,)) == (value,)
    others = {
        node.properties["number"]: node.properties["other"] for node in graph.nodes() if "other" in node.properties
    }
    assert [others[number] for number in range(len(OTHERS))] == list(OTHERS.values())
    assert (await (await own.open()).read_graph()).digest == graph.digest


@pytest.mark.parametrize(("value", "plain_value"), [(Vector([1, 2], "i8"), [1, 2]), (UUID(int=1), str(UUID(int=1)))])
def test_vectors_and_uuids_become_lists_and_texts(value: object, plain_value: object) -> None:
    assert as_plain_value(value, None) == plain_value


async def test_types_are_chosen(own: OwnDatabase) -> None:
    await own.write(
        f"UNWIND range(1, 25) AS n CREATE (:{own.mark} {{n: n}})-[:A]->(b:{own.mark})-[:A]->(b), (b)-[:A]->(b), (b)-[:B]->(b)"
    )
    graph = await (await own.open(types=["A"])).read_graph()
    assert (graph.node_count, graph.relationship_count) == (50, 75), "also loops and parallel ones"
    assert sorted(node.properties["n"] for node in graph.nodes() if node.properties) == list(range(1, 26))
