"""A client that no longer wants an answer ends the query, on the server too."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from graphwalk.stores.neo4j.connection import Connection, connect
from graphwalk.variables import Variables
from tests.own_graph.mcp.servers import over_stdio

SLOW = """
name: slow_count
description: Counts for minutes.
example: {arguments: {rest: 1}, rows: [{n: 1}]}
parameters:
  rest: {type: number, role: value, description: Any number.}
cypher: UNWIND range(1, 9000000000) AS x WITH x WHERE x % 7 = $rest RETURN count(x) AS n
no_match: nothing
"""
RUNNING = (
    "SHOW TRANSACTIONS YIELD currentQuery WHERE currentQuery STARTS WITH 'UNWIND range(1, 9000000000)' "
    "RETURN count(*) AS n"
)


@pytest.fixture
async def connection(neo4j_server: Variables) -> AsyncIterator[Connection]:
    connection = await connect(neo4j_server)
    yield connection
    await connection.close()


async def until(connection: Connection, number: int) -> None:
    """Waits until that many slow queries run on the server."""
    async with asyncio.timeout(60):
        while (await connection.read(RUNNING, {}, 10))[0][1] != [number]:  # noqa: ASYNC110 - another process is watched
            await asyncio.sleep(0.05)


async def test_a_client_that_goes_away_leaves_no_query_behind(
    neo4j_server: Variables, connection: Connection, tmp_path: Path
) -> None:
    (tmp_path / "slow_count.yaml").write_text(SLOW)
    words = ("--database", "neo4j", "--tool", f"{tmp_path}/slow_count.yaml")
    async with over_stdio(*words, **neo4j_server.values) as client:
        call = asyncio.create_task(client.call_tool("slow_count", {"rest": 2}))
        await until(connection, 1)
        call.cancel()
    await until(connection, 0)
