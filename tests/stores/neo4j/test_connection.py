"""Connections to a Neo4j: what is wrong with the settings, or with the server."""

import asyncio
import uuid

import neo4j
import pytest

import graphwalk
from graphwalk.errors import StoreError
from graphwalk.stores.neo4j.connection import connect
from graphwalk.variables import Variables

pytestmark = pytest.mark.neo4j


@pytest.mark.parametrize(
    ("change", "message", "hint"),
    [
        ({"NEO4J_PASSWORD": "wrong-password"}, "refuses the user name or password", "NEO4J_PASSWORD"),
        ({"NEO4J_DATABASE": "nosuch"}, "has no database 'nosuch'", "NEO4J_DATABASE"),
        ({"NEO4J_URI": "neo4j://127.0.0.1:9"}, "cannot be reached", "graphwalk db up"),
        ({"NEO4J_URI": "http://127.0.0.1:7474"}, "is not the address of a Neo4j", "bolt://"),
    ],
)
async def test_errors_name_the_cause(neo4j_server: Variables, change: dict[str, str], message: str, hint: str) -> None:
    with pytest.raises(StoreError, match=message) as raised:
        await connect(Variables({**neo4j_server.values, **change}))
    assert hint in raised.value.hint
    assert "wrong-password" not in str(raised.value)


async def test_an_object_of_the_driver_signs_in(neo4j_server: Variables, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEO4J_URI", neo4j_server.get("NEO4J_URI") or "")
    monkeypatch.setenv("NEO4J_PASSWORD", "wrong-password")
    auth = neo4j.basic_auth("neo4j", neo4j_server.get("NEO4J_PASSWORD") or "")
    async with graphwalk.aopen_store({"neo4j": "neo4j"}, neo4j_auth=auth) as store:
        assert await store.run("RETURN 1 AS one") == [{"one": 1}]
    with pytest.raises(StoreError, match="refuses the user name or password"):
        async with graphwalk.aopen_store({"neo4j": "neo4j"}, neo4j_auth=neo4j.bearer_auth("token")):
            pass


async def test_too_many_wrong_passwords_are_told_from_a_wrong_one(neo4j_server: Variables) -> None:
    user, uri = f"limited_{uuid.uuid4().hex[:8]}", neo4j_server.get("NEO4J_URI") or ""
    owner = ("neo4j", neo4j_server.get("NEO4J_PASSWORD") or "")
    settings = Variables({**neo4j_server.values, "NEO4J_USERNAME": user, "NEO4J_PASSWORD": "wrong-password"})
    async with neo4j.AsyncGraphDatabase.driver(uri, auth=owner) as driver:
        await driver.execute_query(f"CREATE USER {user} SET PASSWORD 'only-for-this-user'", database_="system")
        try:
            refusals = await asyncio.gather(*[connect(settings) for _ in range(12)], return_exceptions=True)
        finally:
            await driver.execute_query(f"DROP USER {user}", database_="system")
    assert {type(refusal) for refusal in refusals} == {StoreError}
    messages = " ".join(map(str, refusals))
    assert "refuses the user name or password" in messages
    assert "takes no password for some seconds" in messages
