"""Connections to a Neo4j: what is wrong with the settings, or with the server."""

import asyncio
import ssl

import neo4j
import pytest
from neo4j.exceptions import ServiceUnavailable

import graphwalk
from graphwalk.errors import StoreAwayError, StoreError
from graphwalk.stores.neo4j.connection import connect, store_error
from graphwalk.variables import Variables

pytestmark = pytest.mark.neo4j


@pytest.mark.parametrize(
    ("change", "message", "hint"),
    [
        ({"NEO4J_PASSWORD": ""}, "requires a password", "export NEO4J_PASSWORD=…"),
        ({"NEO4J_PASSWORD": "wrong-password"}, "refuses the user name or password", "NEO4J_PASSWORD"),
        ({"NEO4J_DATABASE": "nosuch"}, "has no database 'nosuch'", "NEO4J_DATABASE"),
        ({"NEO4J_URI": "neo4j://127.0.0.1:9"}, "cannot be reached: .*Connect call failed", "graphwalk db up"),
        ({"NEO4J_URI": "http://127.0.0.1:7474"}, "is not the address of a Neo4j", "bolt://"),
    ],
)
async def test_errors_name_the_cause(neo4j_server: Variables, change: dict[str, str], message: str, hint: str) -> None:
    with pytest.raises(StoreError, match=message) as raised:
        await connect(Variables({**neo4j_server.values, **change}))
    assert hint in raised.value.hint
    assert "wrong-password" not in str(raised.value)


def test_a_server_elsewhere_cannot_be_reached() -> None:
    """The tests reach no other machine: these are the exceptions of the driver, which raises a group for neo4j://."""
    error = ServiceUnavailable("Unable to retrieve routing information")
    error.__cause__ = ExceptionGroup("All routing table requests failed", [ssl.SSLError("self-signed")])
    raised = store_error(error, "neo4j+s://h.test:7687", "RETURN 1", None)
    assert isinstance(raised, StoreAwayError)
    assert "cannot be reached: " in str(raised)
    assert "self-signed" in str(raised)
    assert raised.hint.startswith("start that server, or correct host, port and encryption")


async def test_an_object_of_the_driver_signs_in(neo4j_server: Variables, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEO4J_URI", neo4j_server.get("NEO4J_URI") or "")
    monkeypatch.setenv("NEO4J_PASSWORD", "wrong-password")
    auth = neo4j.basic_auth("neo4j", neo4j_server.get("NEO4J_PASSWORD") or "")
    async with graphwalk.aopen_store({"neo4j": "neo4j"}, neo4j_auth=auth) as store:
        assert await store.run("RETURN 1 AS one") == [{"one": 1}]
    with pytest.raises(StoreError, match="refuses the user name or password"):
        async with graphwalk.aopen_store({"neo4j": "neo4j"}, neo4j_auth=neo4j.bearer_auth("token")):
            pass


async def test_a_web_server_is_no_neo4j() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(20)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server:
        with pytest.raises(StoreError, match="is not a Neo4j"):
            await connect(Variables({"NEO4J_URI": f"bolt://127.0.0.1:{port}"}))
