"""A connection to Neo4j that waits out restarts, bounds every query in time, and says what went wrong."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from copy import copy
from typing import Any, Literal
from urllib.parse import urlsplit

from neo4j import AsyncGraphDatabase, Auth, Query
from neo4j.exceptions import DriverError, Neo4jError

from graphwalk.environment import Environment
from graphwalk.errors import QueryLimitError, StoreAwayError, StoreError
from graphwalk.stores.cypher import quote
from graphwalk.stores.neo4j.errors import SLOW, query_refused, silent, store_error, timed_out
from graphwalk.stores.neo4j.local_server import compose_server, read_state
from graphwalk.stores.outage import DOUBT_SECONDS, Gate

GRACE_SECONDS = 1.5
"""How long we wait beyond the server's own time limit before we hang up."""
FIRST_ANSWER_SECONDS = 30.0
"""For the first query: a server that has just started on a busy machine needs several seconds."""
LOOK_SECONDS = 5.0
"""For the question whether the server is there at all."""
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 2.0
SETTLING_SECONDS = 60.0
"""For a constraint that the server was asked to make twice."""
_BEING_MADE = ("Neo.ClientError.Schema.IndexWithNameAlreadyExists", "Neo.ClientError.Schema.IndexAlreadyExists")
POOL_SIZE = 64
SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")
_NOWHERE = logging.NullHandler()

NamesAndValues = list[tuple[list[str], list[Any]]]
"""Rows as (names, values)."""
Proof = Callable[[bool], Awaitable[None]]
"""Raises a StoreError unless the database holds what it held; True: to the last value."""


class Connection:
    """Queries against one database of one server; many tasks may send them at the same time."""

    def __init__(self, driver: Any, place: str, database: str | None, gate: Gate, notices: list[str] | None) -> None:
        self.place = place
        self.gate = gate
        self.proofs: list[Proof] = []
        """What has to hold when the server comes back."""
        self._driver = driver
        self._database = database
        self._notices = notices
        self._waits = True
        # Of a cluster, any member may answer a read: it has to know first what this process has written.
        routed = place.startswith("neo4j")
        self.bookmarks = AsyncGraphDatabase.bookmark_manager() if routed else None
        gate.join(self)

    def wait_at(self, gate: Gate) -> None:
        """See `Waits`."""
        self.gate = gate
        gate.join(self)

    def at_once(self) -> "Connection":
        """The same connection for those who look after the gate: its queries wait for nothing."""
        other = copy(self)
        other._waits = False
        return other

    async def look(self) -> None:
        """See `Member`."""
        await self.at_once().read("RETURN 1 AS ready", {}, LOOK_SECONDS)

    async def prove(self, *, thoroughly: bool) -> None:
        """See `Member`."""
        for proof in list(self.proofs):
            await proof(thoroughly)

    async def read(
        self,
        cypher: str,
        parameters: Mapping[str, Any],
        seconds: float,
        *,
        once: bool = False,
        most: int | None = None,
    ) -> NamesAndValues:
        """Rows of a query in READ mode, in which the server refuses writes.

        `once`: do not wait for a restart. `most`: rows to fetch; of others the server makes no more than it must.
        """
        return await self._patiently("READ", cypher, parameters, seconds, once=once, rows=most)

    async def write(self, cypher: str, seconds: float = 120.0, **parameters: Any) -> list[dict[str, Any]]:
        """Rows of a statement that may be sent twice: it must change nothing the second time."""
        found = await self._patiently("WRITE", cypher, parameters, seconds)
        return [dict(zip(names, values, strict=True)) for names, values in found]

    async def constrain(self, name: str, what: str, seconds: float = 120.0) -> None:
        """A constraint, unless it is there; `what` is such as `FOR (n:A) REQUIRE n.key IS UNIQUE`.

        Where the answer got lost, and the server is still at work on what it was sent first, there is an index of that
        name already and no constraint yet: it will be there soon.
        """
        deadline = asyncio.get_running_loop().time() + SETTLING_SECONDS
        while True:
            try:
                await self.write(f"CREATE CONSTRAINT {quote(name)} IF NOT EXISTS {what}", seconds)
                return
            except StoreError as error:
                code = getattr(error.__cause__, "code", None)
                if code not in _BEING_MADE or asyncio.get_running_loop().time() > deadline:
                    raise
            await asyncio.sleep(FIRST_PAUSE)

    async def write_once(self, cypher: str, parameters: Mapping[str, Any], seconds: float) -> None:
        """Somebody's own statement, sent once: nobody knows what it would change the second time."""
        await self._patiently("WRITE", cypher, parameters, seconds, once=True)

    async def ask(self, cypher: str, parameters: Mapping[str, Any], seconds: float, rows: int) -> NamesAndValues:
        """Up to `rows` rows of a query that a model wrote, in READ mode. It is sent again only after a lost connection.

        QueryRefused where the server finds fault with it, or where it takes too long or too much; StoreError otherwise.
        """
        try:
            return await self._patiently("READ", cypher, parameters, seconds, rows=rows)
        except StoreError as error:
            if error.__cause__ is not None and (refused := query_refused(error.__cause__, seconds)) is not None:
                raise refused from error
            raise

    async def close(self) -> None:
        await self.gate.leave(self)
        await self._driver.close()

    async def _patiently(
        self,
        mode: Literal["READ", "WRITE"],
        cypher: str,
        parameters: Mapping[str, Any],
        seconds: float,
        *,
        once: bool = False,
        rows: int | None = None,
    ) -> NamesAndValues:
        """Try until there is an answer, or the gate's patience is over; with `rows`, no more rows are fetched.

        A query that took too long while the database was away is sent again: the time was not its own.
        """
        query, gate = Query(cypher, timeout=seconds), self.gate
        clock = asyncio.get_running_loop().time
        deadline, pause = clock() + gate.seconds, FIRST_PAUSE
        while True:
            outages = gate.outages
            try:
                return await self._in_time(mode, query, parameters, rows)
            except TimeoutError as error:
                cause: Exception = error
                failed: StoreError = QueryLimitError(
                    f"Neo4j at {self.place} is silent for {seconds:g} s\n{cypher}", hint=SLOW
                )
            except (DriverError, Neo4jError, OSError, TypeError, ValueError) as error:
                cause, failed = error, store_error(error, self.place, cypher, self._database)
            late = isinstance(failed, QueryLimitError) and failed.kind == "timeout"
            if late and not self._waits:
                raise silent(self.place, seconds) from cause
            if once or not self._waits or not (late or isinstance(failed, StoreAwayError)):
                raise failed from cause
            arrived = clock()
            await (gate.settled() if late else gate.passed())
            deadline += clock() - arrived
            if clock() + pause > deadline or (late and gate.outages == outages):
                raise failed from cause
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    async def _in_time(
        self, mode: str, query: Query, parameters: Mapping[str, Any], rows: int | None
    ) -> NamesAndValues:
        """TimeoutError where the server keeps silent, or is found to be away; that is looked into in good time."""
        seconds = (query.timeout or 0.0) + GRACE_SECONDS
        if not self._waits:
            async with asyncio.timeout(seconds):
                return await self._send(mode, query, parameters, rows)
        await self.gate.settled()
        loop, pause = asyncio.get_running_loop(), min(DOUBT_SECONDS, seconds / 2)
        doubt: asyncio.TimerHandle

        def look_after() -> None:
            nonlocal doubt
            self.gate.doubt()
            doubt = loop.call_later(pause, look_after)

        doubt = loop.call_later(pause, look_after)
        limit = asyncio.timeout(seconds)
        try:
            async with limit:
                self.gate.flying.add(limit)
                return await self._send(mode, query, parameters, rows)
        finally:
            doubt.cancel()
            self.gate.flying.discard(limit)

    async def _send(self, mode: str, query: Any, parameters: Mapping[str, Any], most: int | None) -> NamesAndValues:
        # An auto-commit statement takes half the round trips of an explicit transaction.
        async with self._driver.session(
            database=self._database, default_access_mode=mode, bookmark_manager=self.bookmarks
        ) as session:
            result = await session.run(query, parameters)
            names = list(result.keys())
            if most is None:
                rows = [(names, record.values()) async for record in result]
            else:
                rows = [(names, record.values()) for record in await result.fetch(most)]
                await result.consume()
            if self._notices is not None:
                told = (await result.consume()).gql_status_objects
                self._notices += [f"{n.raw_classification}: {n.status_description}" for n in told if n.is_notification]
            return rows


async def connect(
    environment: Environment, *, wait_seconds: float, notices: list[str] | None = None, database: str | None = None
) -> Connection:
    """A connection to NEO4J_URI, else to what `graphwalk db up` started, after the first answer.

    If the server is silent, return without an answer: the first query waits for it. If it refuses, raise at once.

    `database`: None for NEO4J_DATABASE, else the server's own choice. `notices` collects the server's warnings
    (deprecations, …); without it the server sends none. StoreError where nothing answers, the password is wrong, the
    database does not exist, or the server is not a Neo4j.
    """
    uri, auth = _address(environment)
    if urlsplit(uri).scheme not in SCHEMES:
        known = ", ".join(f"{scheme}://" for scheme in SCHEMES)
        bare = uri.rpartition("@")[2] if "://" not in uri else "127.0.0.1:7687"
        raise StoreError(
            f"NEO4J_URI is not the address of a Neo4j: it must begin with one of {known}",
            hint=f"NEO4J_URI=bolt://{bare}",
        )
    database = database or environment.neo4j_database
    if database is not None and database.casefold() == "system":
        raise StoreError(
            "the database system holds users and databases, and no graph",
            hint="unset NEO4J_DATABASE, or name another database",
        )
    # What the driver logs about lost connections is said by us, where a person should know of it.
    logging.getLogger("neo4j").addHandler(_NOWHERE)
    try:
        driver = AsyncGraphDatabase.driver(
            uri,
            auth=auth,
            max_connection_pool_size=POOL_SIZE,
            connection_acquisition_timeout=wait_seconds,
            connection_timeout=10.0,
            keep_alive=True,
            notifications_min_severity="OFF" if notices is None else "INFORMATION",
            warn_notification_severity="OFF",
        )
    except (DriverError, ValueError) as error:
        raise StoreError(f"{_place(uri)} is not the address of a Neo4j: {error}", hint="correct NEO4J_URI") from error
    connection = Connection(driver, _place(uri), database, Gate(wait_seconds), notices)
    try:
        await connection.read("RETURN 1 AS ready", {}, FIRST_ANSWER_SECONDS, once=True)
    except StoreError as error:
        if not timed_out(error):
            await connection.close()
            raise
    except BaseException:
        await connection.close()
        raise
    return connection


def _address(environment: Environment) -> tuple[str, Any]:
    """The address, and what the driver takes as `auth`."""
    if environment.neo4j_uri:
        environment.check_receiver("NEO4J_URI", "NEO4J_PASSWORD")
        return environment.neo4j_uri, environment.neo4j_auth or _auth(environment)
    server = read_state(environment)
    if server is None and (found := compose_server(environment)) is not None:
        return found[0], environment.neo4j_auth or ("neo4j", found[1])
    if server is None:
        raise StoreError("no Neo4j is known", hint="graphwalk db up   (or set NEO4J_URI and NEO4J_PASSWORD)")
    return server.uri, environment.neo4j_auth or ("neo4j", server.password)


def _auth(environment: Environment) -> Auth | None:
    """The variables as the driver has them: a token or ticket is in the place of the password."""
    scheme, secret = environment.neo4j_authentication.lower(), environment.neo4j_password
    if not secret or scheme == "none":
        return None
    if scheme in ("bearer", "kerberos"):
        return Auth(scheme, "", secret)
    return Auth(scheme, environment.neo4j_username, secret)


def _place(uri: str) -> str:
    """The address without user information and options: either may hold a password, of any characters."""
    scheme, _, rest = uri.partition("://")
    host = rest.rpartition("@")[2]
    return f"{scheme}://{urlsplit(f'//{host}').netloc}"
