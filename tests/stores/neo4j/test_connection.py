"""Connections to a Neo4j: what is wrong with the settings, or with the server."""

import asyncio
import socket
import ssl

import neo4j
import pytest
from neo4j.exceptions import ServiceUnavailable

import graphwalk
from graphwalk.errors import StoreAwayError, StoreError
from graphwalk.stores.neo4j.connection import connect, store_error
from graphwalk.variables import Variables

pytestmark = pytest.mark.neo4j
WITHOUT_PASSWORD = {"NEO4J_PASSWORD": ""}


@pytest.mark.parametrize(
    ("change", "message", "hint"),
    [
        (WITHOUT_PASSWORD, "requires a password, and NEO4J_PASSWORD is not set", "export NEO4J_PASSWORD=…"),
        ({"NEO4J_AUTHENTICATION": "none"}, "password, and NEO4J_AUTHENTICATION is none", "unset NEO4J_AUTHENTICATION"),
        ({"NEO4J_PASSWORD": "wrong-password"}, "refuses the user name or password", "NEO4J_PASSWORD"),
        ({"NEO4J_DATABASE": "nosuch"}, "has no database 'nosuch'", "NEO4J_DATABASE"),
        ({"NEO4J_DATABASE": "System"}, "cannot read the database system", "NEO4J_DATABASE"),
        ({"NEO4J_AUTHENTICATION": "bearer"}, "does not accept this authentication: .*bearer", "NEO4J_AUTHENTICATION"),
        ({"NEO4J_AUTHENTICATION": "kerberos"}, "does not accept this authentication: .*kerberos", "basic"),
        ({"NEO4J_URI": "bolt://127.0.0.1:9"}, "cannot be reached", "graphwalk db up"),
        ({"NEO4J_URI": "neo4j://127.0.0.1:9"}, "cannot be reached: .*Connect call failed", "graphwalk db up"),
        ({"NEO4J_URI": "http://127.0.0.1:7474"}, "is not the address of a Neo4j", "bolt://"),
    ],
)
async def test_errors_name_the_cause(neo4j_server: Variables, change: dict[str, str], message: str, hint: str) -> None:
    with pytest.raises(StoreError, match=message) as raised:
        await connect(Variables({**neo4j_server.values, **change}))
    assert hint in raised.value.hint
    assert "wrong-password" not in str(raised.value)


@pytest.mark.parametrize("scheme", ["bolt+s", "bolt+ssc", "neo4j+s"])
async def test_a_server_without_tls(neo4j_server: Variables, scheme: str) -> None:
    uri = f"{scheme}://{(neo4j_server.neo4j_uri or '').partition('://')[2]}"
    with pytest.raises(StoreError, match="it does not accept an encrypted connection") as raised:
        await connect(Variables({**neo4j_server.values, "NEO4J_URI": uri}))
    assert raised.value.hint == f"if it has no TLS: NEO4J_URI={uri.replace(scheme, scheme.partition('+')[0])}"


@pytest.mark.parametrize(
    ("cause", "message", "hint"),
    [
        (socket.gaierror(-2, "Name or service not known"), "the host name cannot be resolved", "Aura"),
        (
            ssl.SSLCertVerificationError("self-signed"),
            "its certificate is not valid",
            "NEO4J_URI=neo4j+ssc://h.test:7687",
        ),
        (ConnectionRefusedError(111, "Connect call failed"), "Connect call failed", "start that server, or correct"),
    ],
)
@pytest.mark.parametrize("routed", [False, True])
def test_a_server_elsewhere_cannot_be_reached(cause: Exception, message: str, hint: str, routed: bool) -> None:
    """The tests reach no other machine: these are the exceptions of the driver, which raises a group for neo4j://."""
    error = ServiceUnavailable("Unable to retrieve routing information")
    error.__cause__ = ExceptionGroup("All routing table requests failed", [cause]) if routed else cause
    raised = store_error(error, "neo4j+s://h.test:7687", "RETURN 1", None)
    assert isinstance(raised, StoreAwayError)
    assert message in str(raised)
    assert hint in raised.hint
    assert "db up" not in raised.hint


async def test_an_object_of_the_driver_signs_in(neo4j_server: Variables, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEO4J_URI", neo4j_server.neo4j_uri or "")
    monkeypatch.setenv("NEO4J_PASSWORD", "wrong-password")
    auth = neo4j.basic_auth("neo4j", neo4j_server.neo4j_password or "")
    async with graphwalk.aopen_store({"neo4j": "neo4j"}, neo4j_auth=auth) as store:
        assert await store.run("RETURN 1 AS one") == [{"one": 1}]
    with pytest.raises(StoreError, match="does not accept this authentication"):
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
