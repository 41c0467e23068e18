"""A connection to Neo4j that limits the time of every query and explains errors."""

import asyncio
import logging
from collections.abc import Iterator, Mapping
from typing import Any, Literal
from urllib.parse import urlsplit

from neo4j import AsyncGraphDatabase, Query
from neo4j.exceptions import AuthError, DriverError, Neo4jError, ServiceUnavailable, UnsupportedServerProduct

from graphwalk.errors import QueryLimitError, StoreAwayError, StoreError
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
PAUSES = (0.1, 0.5, 2.0)
"""Seconds before each retry of a query whose connection was lost."""
POOL_SIZE = 64
SLOW = "ask for fewer hops or a smaller graph, or give it more time: -o limits.store_seconds=120"
_START = "graphwalk db up   (or set NEO4J_URI to a running server)"
_TOO_LARGE = ("OutOfMemory", "TransactionMemoryLimit")
"""Codes of a query that exceeds the server's memory limit; a retry would exceed it too."""
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

    async def write(self, cypher: str, *, once: bool = False, **parameters: Any) -> list[dict[str, Any]]:
        """Return the rows of a statement; `once`: it is not idempotent, and not sent twice."""
        records = await self.read(cypher, parameters, WRITING_SECONDS, mode="WRITE", once=once)
        return [dict(zip(names, values, strict=True)) for names, values in records]

    async def close(self) -> None:
        await self._driver.close()

    async def read(
        self,
        cypher: str,
        parameters: Mapping[str, Any],
        seconds: float,
        *,
        mode: Literal["READ", "WRITE"] = "READ",
        once: bool = False,
        most: int | None = None,
    ) -> NamesAndValues:
        """Return the rows of a query, by default in READ mode, in which the server refuses writes.

        A query whose connection is lost is sent again up to three times; `once`: never. `most`: rows to fetch; the
        server computes no more than it must. Raise QueryLimitError for a query that is too slow, StoreAwayError if the
        server does not answer.
        """
        query, pauses = Query(cypher, timeout=seconds), list(() if once else PAUSES)
        while True:
            try:
                async with asyncio.timeout(seconds + GRACE_SECONDS):
                    return await self._send(mode, query, parameters, most)
            except TimeoutError as error:
                raise await self._unanswered(cypher, seconds) from error
            except (DriverError, Neo4jError, OSError, TypeError, ValueError) as error:
                failure = store_error(error, self.place, cypher, self._database)
                if not pauses or not isinstance(failure, StoreAwayError):
                    raise failure from error
            await asyncio.sleep(pauses.pop(0))

    async def _unanswered(self, cypher: str, seconds: float) -> StoreError:
        """Return the error for a query without an answer: it is slow, or the server is away."""
        problem = f"Neo4j at {self.place} has not answered for {seconds:g} s"
        try:
            async with asyncio.timeout(PING_SECONDS):
                await self._send("READ", "RETURN 1", {}, None)
        except (TimeoutError, DriverError, Neo4jError, OSError):
            return StoreAwayError(problem, hint=_start(self.place))
        return QueryLimitError(f"{problem}\n{cypher}", hint=SLOW)

    async def _send(self, mode: str, query: Any, parameters: Mapping[str, Any], most: int | None) -> NamesAndValues:
        # An auto-commit statement takes half the round trips of an explicit transaction.
        async with self._driver.session(
            database=self._database, default_access_mode=mode, bookmark_manager=self.bookmarks
        ) as session:
            result = await session.run(query, parameters)
            names = list(result.keys())
            records = [record async for record in result] if most is None else await result.fetch(most)
            if most is not None:
                await result.consume()
            # `record.values()` refuses the record if the driver cannot hold one of its values.
            return [(names, list(tuple.__iter__(record))) for record in records]


async def connect(variables: Variables, *, database: str | None = None) -> Connection:
    """Connect to NEO4J_URI, else to the server of `graphwalk db up`, and wait for the first answer.

    `database`: default NEO4J_DATABASE, else the server's default. The server sends no warnings about queries.

    Raise StoreError if no server answers, the password is wrong, the database is missing, or it is not a Neo4j.
    """
    uri, auth = _address(variables)
    if urlsplit(uri).scheme.partition("+")[0] not in ("bolt", "neo4j"):
        hint = "NEO4J_URI=bolt://127.0.0.1:7687"
        raise StoreError("NEO4J_URI is not the address of a Neo4j, which begins with bolt:// or neo4j://", hint=hint)
    database = database or variables.get("NEO4J_DATABASE")
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
            notifications_min_severity="OFF",
            warn_notification_severity="OFF",
        )
    except (DriverError, ValueError) as error:
        raise StoreError(f"{_place(uri)} is not the address of a Neo4j: {error}", hint="correct NEO4J_URI") from error
    connection = Connection(driver, _place(uri), database)
    try:
        await connection.read("RETURN 1 AS ready", {}, FIRST_ANSWER_SECONDS, once=True)
    except BaseException as error:
        await connection.close()
        if auth is None and isinstance(error.__cause__, AuthError):
            hint = "export NEO4J_PASSWORD=…   (or set it in .env)"
            raise StoreError(f"Neo4j at {connection.place} requires a password", hint=hint) from error.__cause__
        raise
    return connection


def _address(variables: Variables) -> tuple[str, Any]:
    """Return the address and the driver's `auth`."""
    if address := variables.get("NEO4J_URI"):
        variables.check_receiver("NEO4J_URI", "NEO4J_PASSWORD")
        password = variables.get("NEO4J_PASSWORD")
        auth = (variables.get("NEO4J_USERNAME") or "neo4j", password) if password else None
        return address, variables.neo4j_auth or auth
    if server := local_server(variables):
        uri, password = server
        return uri, variables.neo4j_auth or ("neo4j", password)
    raise StoreError("no Neo4j server is configured", hint="graphwalk db up   (or set NEO4J_URI and NEO4J_PASSWORD)")


def _place(uri: str) -> str:
    """Return the address without user information and options: either may hold a password."""
    scheme, _, rest = uri.partition("://")
    return f"{scheme}://{urlsplit('//' + rest.rpartition('@')[2]).netloc}"


def may_pass(error: Exception) -> bool:
    """Return True if a retry may help: after a restart, a lost connection or a deadlock."""
    if isinstance(error, DriverError | Neo4jError):
        if any(reason in (getattr(error, "code", None) or "") for reason in _TOO_LARGE):
            return False
        return isinstance(error, ServiceUnavailable) or error.is_retryable()
    return isinstance(error, ConnectionError)


def store_error(error: Exception, place: str, cypher: str, database: str | None) -> StoreError:
    """Return the StoreError for an error of the driver; `place` is the address of the server."""
    code = getattr(error, "code", None) or ""
    if isinstance(error, AuthError):
        problem = f"Neo4j at {place} refuses the user name or password"
        return StoreError(problem, hint="set NEO4J_USERNAME and NEO4J_PASSWORD")
    if code.endswith("DatabaseNotFound"):
        return StoreError(
            f"Neo4j at {place} has no database {database!r}", hint="correct NEO4J_DATABASE; SHOW DATABASES lists them"
        )
    if "TransactionTimedOut" in code:
        return QueryLimitError(f"a query took too long on Neo4j at {place}\n{cypher}", hint=SLOW)
    if any(reason in code for reason in _TOO_LARGE):
        problem = f"a query needs more memory than Neo4j at {place} gives it\n{cypher}"
        return QueryLimitError(problem, hint=SLOW, kind="too_large")
    if isinstance(error, Neo4jError) and not may_pass(error):
        return StoreError(f"Neo4j at {place} refused a query: {error.message}\n{cypher}")
    if isinstance(error, TypeError | ValueError):
        return StoreError(f"a query parameter has a type that Neo4j does not support: {error}\n{cypher}")
    if isinstance(error, UnsupportedServerProduct) or "looks like HTTP" in str(error):
        return StoreError(f"the server at {place} is not a Neo4j: {error}", hint=_start(place))
    problem = next((str(cause) for cause in _causes(error) if isinstance(cause, OSError) and str(cause)), str(error))
    kind = StoreAwayError if may_pass(error) else StoreError
    return kind(f"Neo4j at {place} cannot be reached: {problem or type(error).__name__}", hint=_start(place))


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the error and its causes. The driver raises a group if all members of a cluster fail."""
    yield error
    for cause in (error.__cause__ or error.__context__, *getattr(error, "exceptions", ())):
        if cause is not None:
            yield from _causes(cause)


def _start(place: str) -> str:
    here = urlsplit(place).hostname in ("localhost", "127.0.0.1", "::1")
    return _START if here else "start that server, or correct host, port and encryption (+s, +ssc) in NEO4J_URI"
