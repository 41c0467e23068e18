"""Reconnecting to a database that is away: one health check for all queries that wait, up to a limit.

A query without an answer starts the check. It asks every connection whether its server answers, and then whether the
server still holds what it held; queries wait for the result. StoreError where the database does not come back in time.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Protocol

from graphwalk.errors import StoreAwayError, StoreError

SILENT_SECONDS = 5.0
"""A query without an answer for so long starts the check."""
HICCUP_SECONDS = 1.0
"""A database that takes so long to answer nothing was away for a moment."""
_LOGGER = logging.getLogger("graphwalk")
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 2.0


class Checked(Protocol):
    """A connection that is checked. Neither method waits for the health check itself."""

    async def ping(self) -> None:
        """Raise StoreAwayError if the database does not answer."""
        ...

    async def check_content(self, *, thoroughly: bool) -> None:
        """Raise StoreError unless the database holds what it held; `thoroughly`: compare every value."""
        ...


class HealthCheck:
    """The health check of all databases of a run. One task does it, however many queries wait."""

    def __init__(self, seconds: float, note: Callable[[str], object] = _LOGGER.warning) -> None:
        """`seconds`: how long to wait for the database; `note` is called when the waiting begins and ends."""
        self.seconds = seconds
        self.note = note
        self.outages = 0
        """How often the database was away. A query that took too long meanwhile may not be slow."""
        self.failure: StoreError | None = None
        """Why the last check failed; None if it did not."""
        self.running: set[asyncio.Timeout] = set()
        """The time limits of the queries under way: an outage ends them, so that they are sent again."""
        self._connections: list[Checked] = []
        self._task: asyncio.Task[None] | None = None

    def add(self, connection: Checked) -> None:
        self._connections.append(connection)

    async def remove(self, connection: Checked) -> None:
        """Check a connection no more; a check under way is cancelled."""
        self._connections.remove(connection)
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    def start(self) -> None:
        """Start a check, unless one is under way."""
        if self._task is None:
            self._task = asyncio.create_task(self._reconnect())
            self._task.add_done_callback(self._done)

    async def finished(self) -> None:
        """Wait for the check under way, if any. StoreError where it fails."""
        if self._task is not None:
            await asyncio.shield(self._task)

    async def passed(self) -> None:
        """Return when every database answers and holds what it held. StoreError where that fails."""
        self.start()
        await self.finished()

    def _done(self, task: "asyncio.Task[None]") -> None:
        self._task = None
        error = None if task.cancelled() else task.exception()
        self.failure = error if isinstance(error, StoreError) else None

    async def _reconnect(self) -> None:
        clock = asyncio.get_running_loop().time
        begun, pause, away = clock(), _FIRST_PAUSE, False
        while (problem := await self._problem(away)) is not None:
            cause = str(problem).splitlines()[0].rstrip(": ")
            if not away:
                away = True
                self.outages += 1
                self.note(f"{cause}: waiting for it, up to {self.seconds:g} s")
                for limit in self.running:
                    limit.reschedule(clock())
            if clock() - begun + pause > self.seconds:
                raise StoreError(
                    f"{cause}, and has not come back within {self.seconds:g} s",
                    hint=f"{problem.hint}; to wait longer: -o limits.store_wait_seconds=…",
                ) from problem
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
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
