"""Reconnect to a database that is away: one health check for all waiting queries.

A query without an answer starts the check. It pings every connection, then compares what the servers hold with what
they held. Queries wait for the result. A database that stays away for too long raises StoreError.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Protocol

from graphwalk.errors import StoreAwayError, StoreError

WAIT_SECONDS = 10.0
"""To wait for a database while a user waits at the terminal."""
SILENT_SECONDS = 5.0
"""Time without an answer after which a query starts the check."""
HICCUP_SECONDS = 1.0
"""A ping that takes longer than this counts as an outage."""
_LOGGER = logging.getLogger("graphwalk")
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 2.0
"""Seconds between two tries: doubled after each, up to the longest."""


class CheckedConnection(Protocol):
    """A connection that is checked. Neither method waits for the health check itself."""

    async def ping(self) -> None:
        """Raise StoreAwayError if the database does not answer."""
        ...

    async def check_content(self, *, thoroughly: bool) -> None:
        """Raise StoreError if the content of the database has changed; `thoroughly`: compare every value."""
        ...


class HealthCheck:
    """The health check of all databases of a run: one task, however many queries wait."""

    def __init__(self, seconds: float, note: Callable[[str], object] = _LOGGER.warning) -> None:
        """`seconds`: how long to wait for the database; `note` is called when the waiting begins and ends."""
        self.seconds = seconds
        self.note = note
        self.outages = 0
        """Number of outages. A query that timed out during one is not necessarily slow."""
        self.failure: StoreError | None = None
        """The error of the last check, if it failed."""
        self._limits: set[asyncio.Timeout] = set()
        """The time limits of running queries: an outage ends them, so that they are sent again."""
        self._connections: list[CheckedConnection] = []
        self._task: asyncio.Task[None] | None = None

    def add(self, connection: CheckedConnection) -> None:
        self._connections.append(connection)

    async def remove(self, connection: CheckedConnection) -> None:
        """Stop checking a connection, and cancel a running check."""
        self._connections.remove(connection)
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    def start(self) -> None:
        """Start a check, unless one is running."""
        if self._task is None:
            self._task = asyncio.create_task(self._reconnect())
            self._task.add_done_callback(self._done)

    async def finished(self) -> None:
        """Wait for the running check, if any. Raise StoreError if it fails."""
        if self._task is not None:
            await asyncio.shield(self._task)

    async def passed(self) -> None:
        """Return when every database answers with unchanged content. Raise StoreError if that fails."""
        self.start()
        await self.finished()

    @asynccontextmanager
    async def watch(self, seconds: float) -> AsyncIterator[None]:
        """Limit a query to `seconds`, and start a check while it is silent.

        Raise TimeoutError when the time is over, or as soon as the check finds an outage.
        """
        await self.finished()
        pause = min(SILENT_SECONDS, seconds / 2)
        silence: asyncio.TimerHandle

        def check() -> None:
            nonlocal silence
            self.start()
            silence = loop.call_later(pause, check)

        loop = asyncio.get_running_loop()
        silence = loop.call_later(pause, check)
        limit = asyncio.timeout(seconds)
        try:
            async with limit:
                self._limits.add(limit)
                yield
        finally:
            silence.cancel()
            self._limits.discard(limit)

    def _done(self, task: "asyncio.Task[None]") -> None:
        self._task = None
        error = None if task.cancelled() else task.exception()
        self.failure = error if isinstance(error, StoreError) else None

    async def _reconnect(self) -> None:
        clock = asyncio.get_running_loop().time
        begun, pause, away = clock(), FIRST_PAUSE, False
        while (problem := await self._problem(away)) is not None:
            cause = str(problem).splitlines()[0].rstrip(": ")
            if not away:
                away = True
                self.outages += 1
                self.note(f"{cause}: waiting for it, up to {self.seconds:g} s")
                for limit in self._limits:
                    if not limit.expired():
                        limit.reschedule(clock())
            if clock() - begun + pause > self.seconds:
                raise StoreError(
                    f"{cause}, and has not come back within {self.seconds:g} s",
                    hint=f"{problem.hint}; to wait longer: -o limits.store_wait_seconds=…",
                ) from problem
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
        if away:
            self.note(f"database back after {clock() - begun:.0f} s, graphs intact: resuming")
        elif clock() - begun > HICCUP_SECONDS:
            self.outages += 1

    async def _problem(self, away: bool) -> StoreAwayError | None:
        try:
            for connection in list(self._connections):
                await connection.ping()
            for connection in list(self._connections):
                await connection.check_content(thoroughly=away)
        except StoreAwayError as error:
            return error
        return None
