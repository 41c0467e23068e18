"""Nodes that look like entries of loaded graphs make GraphWalk neither remove anything nor fail."""

import uuid
from typing import Any

import pytest

from graphwalk import database
from graphwalk.settings import Settings
from graphwalk.stores.neo4j.loaded import Neo4jDatabase
from tests.stores.loader import chain

pytestmark = pytest.mark.neo4j
ENTRY = {
    "scope": "gw_0123456789ab",
    "run_id": "run",
    "digest": "0" * 64,
    "nodes": 1,
    "relationships": 0,
    "state": "complete",
    "owner": "0" * 32,
    "kept": False,
    "created": 0,
    "heartbeat": 0,
}
FOREIGN: list[dict[str, Any]] = [
    {},
    {**ENTRY, "scope": "Person"},
    {**ENTRY, "scope": "gw_0123456789AB"},
    {**ENTRY, "scope": ["gw_0123456789ab"]},
    {**ENTRY, "owner": "nobody"},
    {**ENTRY, "state": "mine"},
    {**ENTRY, "created": 2**62},
    {**ENTRY, "kept": None},
]


async def test_foreign_entries_are_left_alone(neo4j_server: Settings) -> None:
    mark = uuid.uuid4().hex
    neo4j = await Neo4jDatabase.open(neo4j_server, run_id=mark)
    connection = neo4j._connection
    await connection.write("UNWIND range(1, 50) AS i CREATE (:Person {mark: $mark})", mark=mark)
    try:
        for entry in FOREIGN:
            await connection.write("CREATE (l:GraphWalkLoad) SET l += $entry, l.mark = $mark", entry=entry, mark=mark)
            await database.clean(neo4j_server, kept=True)
            listed = await database.list_loads(neo4j_server)
            assert entry.get("scope", "") not in [load.scope for load in listed]
            await connection.write("MATCH (l:GraphWalkLoad {mark: $mark}) DELETE l", mark=mark)
        (left,) = await connection.write("MATCH (n:Person {mark: $mark}) RETURN count(n) AS n", mark=mark)
        assert left["n"] == 50
        await (await neo4j.load(chain(3))).drop()
    finally:
        await connection.write("MATCH (n {mark: $mark}) DETACH DELETE n", mark=mark)
        await neo4j.close()


async def test_control_characters_of_a_run_are_not_shown(neo4j_server: Settings) -> None:
    neo4j = await Neo4jDatabase.open(neo4j_server, run_id="test\x1b]0;owned\x07\n")
    store = await neo4j.load(chain(3))
    (load,) = [load for load in await neo4j.loads() if load.scope == store.scope]
    assert load.run_id == r"test\x1b]0;owned\x07\n"
    await store.drop()
    await neo4j.close()
