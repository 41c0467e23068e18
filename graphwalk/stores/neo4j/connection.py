"""A connection to Neo4j that limits the time of every query and explains errors."""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Literal
from urllib.parse import urlsplit

from neo4j import AsyncGraphDatabase, Query, unit_of_work
from neo4j.exceptions import AuthError, DriverError, Neo4jError

from graphwalk.errors import QueryLimitError, StoreError
from graphwalk.stores.base import Closing
from graphwalk.stores.neo4j.local_server import local_server
from graphwalk.variables import Variables

GRACE_SECONDS = 1.5
"""Time beyond the server's own limit before the client gives up."""
FIRST_ANSWER_SECONDS = 30.0
"""For the first query: a server that has just started on a busy machine needs several seconds."""
PING_SECONDS = 5.0
WRITING_SECONDS = 120.0
ACQUISITION_SECONDS = 60.0
"""To wait for a free connection of the pool."""
IDLE_SECONDS = 30.0
"""A connection that was idle for longer is tried before it is used: the network may have closed it."""
POOL_SIZE = 64
SLOW = "ask for fewer hops or a smaller graph, or give it more time: -o limits.store_seconds=120"
_START = "graphwalk db up   (or set NEO4J_URI to a running server)"
_TOO_LARGE = ("OutOfMemory", "TransactionMemoryLimit")
"""Codes of a query that exceeds the server's memory limit."""
_NOWHERE = logging.NullHandler()

NamesAndValues = list[tuple[list[str], list[Any]]]
"""Rows as (names, values)."""


class Connection(Closing):
    """Queries against one database of one server; many tasks may send them at the same time."""

    def __init__(self, driver: Any, place: str, database: str | None) -> None:
        self.place = place
        self._driver = driver
        self._database = database
        # Any member of a cluster may answer a read, and must know first what this process has written.
        self.bookmarks = AsyncGraphDatabase.bookmark_manager() if place.startswith("neo4j") else None

    async def rows(self, cypher: str, seconds: float = 30.0, **parameters: Any) -> list[list[Any]]:
        """Return the values of each row of a query in READ mode."""
        return [values for _, values in await self.read(cypher, parameters, seconds)]

    async def read(
        self, cypher: str, parameters: Mapping[str, Any], seconds: float, most: int | None = None
    ) -> NamesAndValues:
        """Return the rows of a query in READ mode, in which the server refuses writes.

        `most`: rows to fetch; the server computes no more than it must. Raise QueryLimitError for a query that is too
        slow, StoreError if the server refuses it or does not answer.
        """
        async with self._session("READ", cypher, seconds) as session:
            # An auto-commit statement takes half the round trips of an explicit transaction.
            result = await session.run(Query(cypher, timeout=seconds), parameters)
            names = list(result.keys())
            if most is None:
                records = [record async for record in result]
            else:
                records = await result.fetch(most)
                await result.consume()
            # `record.values()` refuses the record if the driver cannot hold one of its values.
            return [(names, list(tuple.__iter__(record))) for record in records]

    async def write(self, cypher: str, **parameters: Any) -> list[dict[str, Any]]:
        """Return the rows of a statement. The driver repeats it after a deadlock."""

        @unit_of_work(timeout=WRITING_SECONDS)
        async def work(transaction: Any) -> list[dict[str, Any]]:
            result = await transaction.run(cypher, parameters)
            return list(await result.data())

        async with self._session("WRITE", cypher, WRITING_SECONDS) as session:
            return list(await session.execute_write(work))

    @asynccontextmanager
    async def _session(self, mode: Literal["READ", "WRITE"], cypher: str, seconds: float) -> AsyncIterator[Any]:
        """Open a session for one query, and explain its errors."""
        try:
            async with (
                asyncio.timeout(seconds + GRACE_SECONDS),
                self._driver.session(
                    database=self._database, default_access_mode=mode, bookmark_manager=self.bookmarks
                ) as session,
            ):
                yield session
        except TimeoutError as error:
            raise await self._unanswered(cypher, seconds) from error
        except (DriverError, Neo4jError, OSError) as error:
            raise store_error(error, self.place, cypher, self._database) from error

    async def _unanswered(self, cypher: str, seconds: float) -> StoreError:
        """Return the error for a query without an answer: it is slow, or the server is away."""
        problem = f"Neo4j at {self.place} has not answered for {seconds:g} s"
        try:
            async with asyncio.timeout(PING_SECONDS):
                await self._driver.verify_connectivity()
        except (TimeoutError, DriverError, Neo4jError, OSError):
            return StoreError(problem, hint=_start(self.place))
        return QueryLimitError(f"{problem}\n{cypher}", hint=SLOW)

    async def close(self) -> None:
        await self._driver.close()


async def connect(variables: Variables, *, database: str | None = None) -> Connection:
    """Connect to NEO4J_URI, else to the server of `graphwalk db up`, and wait for the first answer.

    `database`: default NEO4J_DATABASE, else the server's default. The server sends no warnings about queries.

    Raise StoreError if no server answers, the password is wrong, the database is missing, or it is not a Neo4j.
    """
    uri, auth = _address(variables)
    if not uri.startswith(("bolt", "neo4j")):  # the driver would try HTTP
        hint = "NEO4J_URI=bolt://127.0.0.1:7687"
        raise StoreError("NEO4J_URI is not the address of a Neo4j, which begins with bolt:// or neo4j://", hint=hint)
    # Lost connections are reported as errors; the driver would log each of them again.
    logging.getLogger("neo4j").addHandler(_NOWHERE)
    try:
        driver = AsyncGraphDatabase.driver(
            uri,
            auth=auth,
            max_connection_pool_size=POOL_SIZE,
            connection_acquisition_timeout=ACQUISITION_SECONDS,
            connection_timeout=10.0,
            keep_alive=True,
            liveness_check_timeout=IDLE_SECONDS,
            notifications_min_severity="OFF",
            warn_notification_severity="OFF",
        )
    except (DriverError, ValueError) as error:
        raise StoreError(f"{_place(uri)} is not the address of a Neo4j: {error}", hint="correct NEO4J_URI") from error
    connection = Connection(driver, _place(uri), database or variables.get("NEO4J_DATABASE"))
    try:
        await connection.read("RETURN 1 AS ready", {}, FIRST_ANSWER_SECONDS)
    except BaseException:
        await connection.close()
        raise
    return connection


def _address(variables: Variables) -> tuple[str, Any]:
    """Return the address and the driver's `auth`."""
    address = variables.get("NEO4J_URI")
    if address:
        variables.check_receiver("NEO4J_URI", "NEO4J_PASSWORD")
        auth: Any = variables.neo4j_auth
        password = variables.get("NEO4J_PASSWORD")
        if not auth and password:
            auth = (variables.get("NEO4J_USERNAME") or "neo4j", password)
        return address, auth

    server = local_server(variables)
    if server is not None:
        uri, local_password = server
        return uri, variables.neo4j_auth or ("neo4j", local_password)
    raise StoreError("no Neo4j server is configured", hint="graphwalk db up   (or set NEO4J_URI and NEO4J_PASSWORD)")


def _place(uri: str) -> str:
    """Return the address without user information and options: either may hold a password."""
    # neo4j+s://user:secret@host:7687?policy=eu → neo4j+s://host:7687
    scheme, _, rest = uri.partition("://")
    without_user = rest.rpartition("@")[2]
    return f"{scheme}://{urlsplit('//' + without_user).netloc}"


def store_error(error: Exception, place: str, cypher: str, database: str | None) -> StoreError:
    """Return the StoreError for an error of the driver; `place` is the address of the server."""
    code = getattr(error, "code", None) or ""
    if isinstance(error, AuthError):
        problem = f"Neo4j at {place} refuses the user name or password"
        return StoreError(problem, hint="set NEO4J_USERNAME and NEO4J_PASSWORD (or in .env)")
    if code.endswith("AuthenticationRateLimit"):
        problem = f"Neo4j at {place} takes no password for some seconds, after too many wrong ones"
        return StoreError(problem, hint="run the command again in 10 seconds, with the right NEO4J_PASSWORD")
    if code.endswith("DatabaseNotFound"):
        return StoreError(
            f"Neo4j at {place} has no database {database!r}", hint="correct NEO4J_DATABASE; SHOW DATABASES lists them"
        )
    if "TransactionTimedOut" in code:
        return QueryLimitError(f"a query took too long on Neo4j at {place}\n{cypher}", hint=SLOW)
    if any(reason in code for reason in _TOO_LARGE):
        problem = f"a query needs more memory than Neo4j at {place} gives it\n{cypher}"
        return QueryLimitError(problem, hint=SLOW, kind="too_large")
    if isinstance(error, Neo4jError):
        return StoreError(f"Neo4j at {place} refused a query: {error.message}\n{cypher}")
    return StoreError(f"Neo4j at {place} cannot be reached: {error}", hint=_start(place))


def _start(place: str) -> str:
    here = urlsplit(place).hostname in ("localhost", "127.0.0.1", "::1")
    return _START if here else "start that server, or correct host, port and encryption (+s, +ssc) in NEO4J_URI"
