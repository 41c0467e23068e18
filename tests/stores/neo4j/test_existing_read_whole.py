"""A Neo4j read out whole, on a server of each release that holds nothing else than what the test puts there."""

import re
from collections.abc import AsyncIterator
from datetime import date, datetime, time, timedelta, timezone

import pytest
import pytz
from neo4j.spatial import WGS84Point
from neo4j.time import Duration, Time

from graphwalk.settings import Settings
from graphwalk.stores.neo4j import existing
from graphwalk.stores.neo4j.connection import Connection, connect
from graphwalk.stores.neo4j.existing import read_whole
from graphwalk.stores.neo4j.existing_names import read_dialect
from graphwalk.types.graph import Node, Relationship
from graphwalk.types.values import Point, Temporal

pytestmark = pytest.mark.neo4j
LABEL = "ReadOut"


@pytest.fixture
async def connection(neo4j_server: Settings) -> AsyncIterator[Connection]:
    """Nodes of the test have the label ReadOut, and are removed."""
    opened = await connect(neo4j_server, wait_seconds=10)
    yield opened
    await opened.write(f"MATCH (n:{LABEL}) DETACH DELETE n")
    await opened.write("DROP CONSTRAINT read_out_name IF EXISTS")
    await opened.close()


async def test_every_value_label_and_relationship(connection: Connection) -> None:
    offset = timezone(timedelta(hours=2))
    values = {
        "date": date(2001, 4, 25),
        "time": Time(12, 30, 0, 0, pytz.FixedOffset(120)),
        "local_time": time(12, 30, 1, 500_000),
        "datetime": datetime(2001, 4, 25, 12, 30, tzinfo=offset),
        "local_datetime": datetime(2001, 4, 25, 12, 30),
        "duration": Duration(months=14, days=3, seconds=-1, nanoseconds=500_000_000),
        "point": WGS84Point((12.5, 55.7)),
        "bytes": b"\x00\xff",
        "list": [1, 2, 3],
        "dates": [date(2001, 4, 25)],
        "big": 2**63 - 1,
        "infinite": float("inf"),
        "empty": "",
    }
    await connection.write(
        f"CREATE (a:{LABEL}:Zoo:Ark $values)-[:`IS A` {{since: $since}}]->(b:{LABEL}), (b)-[:LOOP]->(b), (b)-[:LOOP]->(b)",
        values=values,
        since=date(1999, 1, 1),
    )
    graph = await read_whole(connection, await read_dialect(connection, [LABEL], None))
    first, second = graph.nodes()
    assert first.labels == ("Ark", LABEL, "Zoo")
    assert first.properties == {
        "date": Temporal("date", "2001-04-25"),
        "time": Temporal("time", "12:30:00+02:00"),
        "local_time": Temporal("local time", "12:30:01.5"),
        "datetime": Temporal("datetime", "2001-04-25T12:30:00+02:00"),
        "local_datetime": Temporal("local datetime", "2001-04-25T12:30:00"),
        "duration": Temporal("duration", "P1Y2M3DT-0.5S"),
        "point": Point(4326, (12.5, 55.7)),
        "bytes": b"\x00\xff",
        "list": (1, 2, 3),
        "dates": (Temporal("date", "2001-04-25"),),
        "big": 2**63 - 1,
        "infinite": float("inf"),
        "empty": "",
    }
    assert first.key.isdecimal()
    loop = Relationship("LOOP", second.key, second.key, {})
    since = {"since": Temporal("date", "1999-01-01")}
    assert sorted(graph.relationships(), key=lambda r: r.type) == [
        Relationship("IS A", first.key, second.key, since),
        loop,
        loop,
    ]


async def test_durations_and_times_are_written_as_the_server_writes_them(connection: Connection) -> None:
    texts = ["P14M", "PT-1.5S", "PT-0.5S", "P1Y-14M", "P-1DT1H", "PT3661.25S", "P1W", "PT0S", "PT1M-0.5S"]
    await connection.write(
        f"UNWIND $texts AS text CREATE (:{LABEL} {{value: duration(text), said: toString(duration(text))}})",
        texts=texts,
    )
    zoned = "2001-04-25T12:00[Europe/Berlin]"
    await connection.write(f"CREATE (:{LABEL} {{value: datetime($text), said: toString(datetime($text))}})", text=zoned)
    for node in (await read_whole(connection, await read_dialect(connection, [LABEL], None))).nodes():
        value = node.properties["value"]
        assert isinstance(value, Temporal)
        assert value.text == node.properties["said"]


async def test_unique_property_becomes_the_key(connection: Connection) -> None:
    await connection.write(f"CREATE CONSTRAINT read_out_name FOR (n:{LABEL}) REQUIRE n.name IS UNIQUE")
    await connection.write(
        f"CREATE (:{LABEL} {{name: 'Ada', key: 'piano'}}), (:{LABEL} {{name: 7}}), (:{LABEL} {{name: '#'}})"
    )
    nodes = list((await read_whole(connection, await read_dialect(connection, [LABEL], None))).nodes())
    assert nodes[0] == Node("Ada", (LABEL,), {"name": "Ada", "key_": "piano"})
    assert nodes[1].properties == {"name": 7}
    assert re.fullmatch(r"#\d+", nodes[1].key), "texts make the names of this label, so that 7 makes none"
    assert re.fullmatch(r"#\d+", nodes[2].key), "nor does a text that looks like an element id"


async def test_types_are_chosen_and_pages_are_joined(connection: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    await connection.write(f"UNWIND range(1, 25) AS n CREATE (:{LABEL} {{n: n}})-[:A]->(:{LABEL})-[:B]->(:Elsewhere)")
    monkeypatch.setattr(existing, "PAGE", 7)
    graph = await read_whole(connection, await read_dialect(connection, [LABEL], ["A"]))
    assert (graph.node_count, graph.relationship_count) == (50, 25)
    assert sorted(node.properties["n"] for node in graph.nodes() if node.properties) == list(range(1, 26))
    assert (await read_whole(connection, await read_dialect(connection, [LABEL], ["B"]))).relationship_count == 0
    assert (await read_whole(connection, await read_dialect(connection, [LABEL], ["A"]))).digest == graph.digest
    await connection.write("MATCH (n:Elsewhere) DETACH DELETE n")


async def test_loaded_graphs_are_left_out(connection: Connection) -> None:
    await connection.write(
        f"CREATE (:{LABEL} {{n: 1}}), (:{LABEL}:gw_3f2a90c1d77e), (:{LABEL}:GraphWalkLoad {{scope: 'x'}})"
    )
    assert [
        node.properties
        for node in (await read_whole(connection, await read_dialect(connection, [LABEL], None))).nodes()
    ] == [{"n": 1}]
