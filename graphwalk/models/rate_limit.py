"""One pace for all conversations with a model: calls at a time, requests and tokens per minute, pauses.

The number of calls at a time adapts as TCP does: halved when the server is overloaded (once for all calls that were
under way), and one more for each round of calls that went well, up to the limit given.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from graphwalk.errors import ModelError
from graphwalk.models.failures import OverloadedError
from graphwalk.models.tokens import count_messages
from graphwalk.types.chat import Message

_LONG_PAUSE = 60.0
_LONGEST_SLEEP = 1.0


@dataclass
class Slot:
    """One call's share of the pace, in tokens: what it is expected to take, and what it took (0 where it failed)."""

    expected: int
    used: int = 0


class RateLimiter:
    """Shared by everything that calls one model; belongs to one event loop.

    Requests are spaced evenly, so that no window of a minute holds more than `requests_per_minute`. Tokens are known
    only afterwards: a call starts when all earlier ones are paid off at `tokens_per_minute`, itself with an estimate.
    `check` is called while a call waits, and may raise to end the wait. `announce` is told the seconds of every pause
    of more than a minute that a server asks for.
    """

    def __init__(
        self,
        max_concurrency: int,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        *,
        check: Callable[[], None] = lambda: None,
        announce: Callable[[float], object] = lambda seconds: None,
    ) -> None:
        self._most = float(max_concurrency)
        self._allowed = self._most
        self._request_seconds = 60.0 / requests_per_minute if requests_per_minute else 0.0
        self._token_seconds = 60.0 / tokens_per_minute if tokens_per_minute else 0.0
        self._running = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._line = asyncio.Lock()
        self._next_request = self._next_tokens = self._paused_until = 0.0
        self._epoch = 0
        self._check, self._announce = check, announce

    @property
    def concurrency(self) -> int:
        """Calls allowed at a time, now."""
        return int(self._allowed)

    @asynccontextmanager
    async def slot(self, messages: Sequence[Message]) -> AsyncIterator[Slot]:
        """Wait for a place, for the end of a pause and for the call's turn.

        The body makes the call and fills in its usage. A ModelError in it that says that the server is overloaded slows
        all calls down.
        """
        slot = Slot(self._expected_tokens(messages))
        await self._take_place()
        try:
            await self._pace(slot.expected)
            epoch = self._epoch
            try:
                yield slot
                self._succeeded(epoch)
            except ModelError as error:
                if isinstance(error, OverloadedError) or error.retry_after is not None:
                    self._overloaded(epoch, error.retry_after)
                raise
            finally:
                # The estimate is corrected by what the provider reports.
                self._next_tokens += (slot.used - slot.expected) * self._token_seconds
        finally:
            self._leave()

    def _expected_tokens(self, messages: Sequence[Message]) -> int:
        """An estimate of what a call takes; 0 where tokens are not limited."""
        if not self._token_seconds:
            return 0
        return count_messages(messages)

    def _succeeded(self, epoch: int) -> None:
        if epoch == self._epoch and self._allowed < self._most:
            self._allowed = min(self._most, self._allowed + 1.0 / self._allowed)
            self._admit()

    def _overloaded(self, epoch: int, retry_after: float | None) -> None:
        """Slow everybody down. Calls that were under way at the last slowdown do not slow it down again."""
        if epoch == self._epoch:
            self._epoch += 1
            self._allowed = max(1.0, self._allowed / 2.0)
        if retry_after is not None:
            now = asyncio.get_running_loop().time()
            # Many calls are told of the same pause; it is announced once, and again where it grows by so much.
            if now + retry_after - max(now, self._paused_until) > _LONG_PAUSE:
                self._announce(retry_after)
            self._paused_until = max(self._paused_until, now + retry_after)

    def _leave(self) -> None:
        self._running -= 1
        self._admit()

    async def _take_place(self) -> None:
        if self._running < self.concurrency and not self._waiting:
            self._running += 1
            return
        place = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if not place.cancelled():
                self._leave()
            raise

    def _admit(self) -> None:
        while self._waiting and self._running < self.concurrency:
            place = self._waiting.popleft()
            if not place.done():
                self._running += 1
                place.set_result(None)

    async def _pace(self, tokens: int) -> None:
        now = asyncio.get_running_loop().time
        if not (self._request_seconds or self._token_seconds or self._paused_until > now()):
            return
        async with self._line:
            # A pause may begin or grow while this call waits.
            while (wait := max(self._paused_until, self._next_request, self._next_tokens) - now()) > 0:
                self._check()
                await asyncio.sleep(min(wait, _LONGEST_SLEEP))
            self._next_request = now() + self._request_seconds
            self._next_tokens = max(now(), self._next_tokens) + tokens * self._token_seconds
