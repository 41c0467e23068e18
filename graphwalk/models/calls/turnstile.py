"""Episodes go on one after the other where many could at once.

An event loop takes turns among all that can go on, so that replies which arrive together are worked off together: their
next requests are sent at the end, all at once, and a server that always takes as long answers all at once again. Each
pause of the program makes such a bunch larger, and nothing makes it smaller. One after the other, the first request is
sent while the others wait, and the next replies come apart.
"""

import asyncio
from collections import deque

_ROUNDS = 4
"""Rounds of the event loop before the next one is let through. From a reply to the next request it takes some ten, so
that two or three overlap, which costs less than to leave rounds empty. Nobody who waits for something else, such as a
database, holds the others up."""


class Turnstile:
    """Lets one through after the other, in the order in which they come; belongs to one event loop."""

    def __init__(self) -> None:
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._taken = False

    async def through(self) -> None:
        """Return when it is one's turn: at once where nobody is before."""
        loop = asyncio.get_running_loop()
        if self._taken:
            turn = loop.create_future()
            self._waiting.append(turn)
            await turn
        else:
            self._take(loop)

    def _take(self, loop: asyncio.AbstractEventLoop) -> None:
        self._taken = True
        loop.call_soon(self._pass_on, loop, _ROUNDS)

    def _pass_on(self, loop: asyncio.AbstractEventLoop, rounds: int) -> None:
        """Let the next one through after so many rounds of the loop. Whoever was cancelled meanwhile has no turn."""
        if rounds > 0:
            loop.call_soon(self._pass_on, loop, rounds - 1)
            return
        self._taken = False
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                self._take(loop)
                return
