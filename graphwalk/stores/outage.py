"""Waiting for a database that is away: once for all who need it, said aloud, and not for ever.

a query gets no answer ─→ Gate.passed ─→ does everybody answer? ─→ is everything there that was? ─→ on it goes
                              ↑ no: said once, asked again and again      └ no: StoreError, the end
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Protocol, runtime_checkable

from graphwalk.errors import StoreAwayError, StoreError

DOUBT_SECONDS = 5.0
"""A query silent for so long makes us ask whether the database is there at all."""
HICCUP_SECONDS = 1.0
"""A database that takes so long for an answer to nothing was away for a moment."""
_LOGGER = logging.getLogger("graphwalk")
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 2.0


class Member(Protocol):
    """A connection whose queries wait at the gate. Neither method waits there itself."""

    async def look(self) -> None:
        """StoreAwayError where the database does not answer."""
        ...

    async def prove(self, *, thoroughly: bool) -> None:
        """StoreError unless it holds what it held, or does so again; `thoroughly`: to the last value."""
        ...


@runtime_checkable
class Waits(Protocol):
    """A database or store that can be away, and waits for its return together with others."""

    def wait_at(self, gate: "Gate", digest: str | None = None) -> None:
        """From now on, wait at this gate. `digest`: of what it holds, for one that holds a single graph."""
        ...


class Gate:
    """Where all queries of a run wait while a database is away. One task looks after it, however many wait."""

    def __init__(self, seconds: float, note: Callable[[str], object] = _LOGGER.warning) -> None:
        """`seconds`: how long the database is waited for; `note` is told when the waiting begins and ends."""
        self.seconds = seconds
        self.note = note
        self.outages = 0
        """How often it was away. A query that ran meanwhile and took too long says nothing by that."""
        self.lost: StoreError | None = None
        """Why the last waiting was in vain; None where it was not."""
        self.flying: set[asyncio.Timeout] = set()
        """The time limits of the queries under way: an outage ends them, so that they are sent again."""
        self._members: list[Member] = []
        self._waiting: asyncio.Task[None] | None = None

    def join(self, member: Member) -> None:
        """Have a member asked before the gate opens."""
        self._members.append(member)

    def doubt(self) -> None:
        """Look after the database, without waiting for what comes of it."""
        if self._waiting is None:
            self._waiting = asyncio.create_task(self._opens())
            self._waiting.add_done_callback(self._opened)

    async def passed(self) -> None:
        """Return when every database answers and holds what it held. StoreError where that does not come to pass."""
        self.doubt()
        await self.settled()

    async def settled(self) -> None:
        """The same where somebody waits already; return at once where nobody does."""
        if self._waiting is not None:
            await asyncio.shield(self._waiting)

    def _opened(self, task: "asyncio.Task[None]") -> None:
        self._waiting = None
        error = None if task.cancelled() else task.exception()
        self.lost = error if isinstance(error, StoreError) else None

    async def leave(self, member: Member) -> None:
        """Ask a member no more; whoever waits now waits in vain."""
        self._members.remove(member)
        if self._waiting is not None:
            self._waiting.cancel()
            await asyncio.wait([self._waiting])

    async def _opens(self) -> None:
        clock = asyncio.get_running_loop().time
        begun, pause, away = clock(), _FIRST_PAUSE, False
        while (problem := await self._problem(away)) is not None:
            if not away:
                away = True
                self.outages += 1
                self.note(f"{_cause(problem)}: waiting for it, up to {self.seconds:g} s")
                for limit in self.flying:
                    limit.reschedule(clock())
            if clock() - begun + pause > self.seconds:
                raise StoreError(
                    f"{_cause(problem)}, and has not come back within {self.seconds:g} s",
                    hint=f"{problem.hint}; to wait longer: -o limits.store_wait_seconds=…",
                ) from problem
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        if away:
            self.note(f"the database answers again after {clock() - begun:.0f} s, and holds what it held: on it goes")
        elif clock() - begun > HICCUP_SECONDS:
            self.outages += 1

    async def _problem(self, away: bool) -> StoreAwayError | None:
        """Why the gate stays closed; None where everybody answers and has shown what it holds."""
        try:
            for member in list(self._members):
                await member.look()
            for member in list(self._members):
                await member.prove(thoroughly=away)
        except StoreAwayError as error:
            return error
        return None


def _cause(problem: StoreAwayError) -> str:
    return str(problem).splitlines()[0].rstrip(": ")
