"""Another database in the place of the one that the server of `up` has, and what has to be certain before."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from graphwalk.database.aside import NAME, given_up, last_written, put_aside
from graphwalk.database.server import Stopped, by_jars, stopped
from graphwalk.environment import Environment
from graphwalk.errors import StoreError
from graphwalk.stores.neo4j.connection import Connection, connect

WAIT_SECONDS = 10.0
SECONDS = 30.0
_OTHERS_SECONDS = 2.0
"""A connection that was closed is counted for a moment longer."""
_CONNECTIONS = "CALL dbms.listConnections() YIELD userAgent, clientAddress RETURN userAgent, clientAddress"
SCHEMA = (
    (
        "indexes of its own",
        "SHOW INDEXES YIELD type, owningConstraint WHERE type <> 'LOOKUP' AND owningConstraint IS NULL RETURN count(*)",
    ),
    (
        "constraints of its own",
        "SHOW CONSTRAINTS YIELD name, labelsOrTypes, properties WHERE NOT (name = 'graphwalk_load_scope' OR "
        "name =~ 'gw_[0-9a-f]{12}' AND labelsOrTypes = [name] AND properties = ['key']) RETURN count(*)",
    ),
)
"""What a database can have beside its nodes, and how to count it without what GraphWalk made."""


@dataclass(frozen=True, slots=True)
class Watched:
    """A connection to the database that is to be replaced; `since`: what had been written when it was first seen."""

    connection: Connection
    since: dict[str, tuple[int, int]]


def own_folder(environment: Environment, ordinary: str) -> Path:
    """The folder of the server that `up` started from the jars. StoreError where the server is another.

    `ordinary`: what a person can do instead.
    """
    if environment.neo4j_uri:
        raise StoreError(
            "NEO4J_URI names a server of somebody's own, which is never stopped",
            hint=f"unset NEO4J_URI to use the one of `graphwalk db up`, or {ordinary}",
        )
    return by_jars(environment).folder


@asynccontextmanager
async def watched(environment: Environment, folder: Path, ordinary: str) -> AsyncIterator[Watched]:
    """A database to look at, to which nobody else is connected. StoreError where others are.

    What was written is noted first: of a transaction that ends later, the log tells; any other can be seen.
    """
    connection = await connect(environment, wait_seconds=WAIT_SECONDS, database=NAME)
    try:
        since = last_written(folder)
        deadline = time.monotonic() + _OTHERS_SECONDS
        while others := await _others(connection):
            if time.monotonic() > deadline:
                agents = ", ".join(sorted(others))
                raise StoreError(
                    f"others are connected to this Neo4j, which has to be stopped for that: {agents}",
                    hint=f"end them first, or {ordinary}",
                )
            await asyncio.sleep(0.1)
        yield Watched(connection, since)
    finally:
        await connection.close()


@contextmanager
def replaced(
    environment: Environment, tell: Callable[[str], object], *, since: dict[str, tuple[int, int]] | None = None
) -> Iterator[Stopped]:
    """The server of `up` stopped and without its database while the block runs; then it starts with what is there now.

    Where the block puts nothing there, Neo4j makes an empty database. Whatever fails, the start too, the old database
    is back in its place; it is removed only after the server answered with the new one. StoreError where anything was
    written to it after `since`.
    """
    with stopped(environment, tell) as halted:
        folder = halted.server.folder
        if since is not None and last_written(folder) != since:
            raise StoreError(
                "somebody wrote to the database just before it was to be replaced; nothing was touched",
                hint="run the command again",
            )
        put_aside(folder)
        yield halted
        with given_up(folder):
            halted.start()


async def count(connection: Connection, query: str, seconds: float = SECONDS) -> int:
    """The one number that a query returns."""
    [(_, (number,))] = await connection.read(query, {}, seconds)
    return int(number)


async def _others(connection: Connection) -> set[str]:
    """Programs that are connected to the server, apart from this process."""
    ours = {socket.laddr.port for socket in psutil.Process().net_connections("tcp") if socket.laddr}
    found = await connection.read(_CONNECTIONS, {}, SECONDS)
    return {agent for _, (agent, address) in found if int(address.rpartition(":")[2]) not in ours}
