"""One pace for all conversations with a model: calls at a time, requests and tokens per minute, pauses.

The number of calls at a time adapts as TCP does: halved when the server is overloaded (once for all calls that were
under way), and one more for each round of calls that went well, up to the limit given.
"""

import asyncio
from collections import deque
from collections.abc import Sequence

from graphwalk.errors import ModelError
from graphwalk.models.backends.failure import OverloadedError
from graphwalk.models.model import Model
from graphwalk.types.chat import CallOptions, Message, Reply, ToolSpec

_CHARACTERS_PER_TOKEN = 4


class RateLimiter:
    """Shared by everything that calls one model; belongs to one event loop.

    Requests are spaced evenly, so that no window of a minute holds more than `requests_per_minute`. Tokens are known
    only afterwards: a call starts when all earlier ones are paid off at `tokens_per_minute`, itself with an estimate.
    """

    def __init__(
        self,
        max_concurrency: int,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
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

    @property
    def concurrency(self) -> int:
        """Calls allowed at a time, now."""
        return int(self._allowed)

    def expected_tokens(self, messages: Sequence[Message]) -> int:
        """An estimate of what a call takes; 0 where nobody counts."""
        if not self._token_seconds:
            return 0
        return sum(len(message.content or "") for message in messages) // _CHARACTERS_PER_TOKEN

    async def enter(self, tokens: int) -> int:
        """Wait for a place, the end of a pause, the next slot; returns the epoch, for `succeeded` and `overloaded`."""
        await self._take_place()
        try:
            await self._pace(tokens)
        except BaseException:
            self.leave()
            raise
        return self._epoch

    def leave(self) -> None:
        self._running -= 1
        self._admit()

    def succeeded(self, epoch: int) -> None:
        if epoch == self._epoch and self._allowed < self._most:
            self._allowed = min(self._most, self._allowed + 1.0 / self._allowed)
            self._admit()

    def overloaded(self, epoch: int, retry_after: float | None) -> None:
        """Slow everybody down. Calls that were under way at the last slowdown do not slow it down again."""
        if epoch == self._epoch:
            self._epoch += 1
            self._allowed = max(1.0, self._allowed / 2.0)
        if retry_after is not None:
            self._paused_until = max(self._paused_until, asyncio.get_running_loop().time() + retry_after)

    def settle(self, expected: int, used: int) -> None:
        """Correct an estimate by what the provider reports."""
        self._next_tokens += (used - expected) * self._token_seconds

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
                self.leave()
            raise

    def _admit(self) -> None:
        while self._waiting and self._running < self.concurrency:
            place = self._waiting.popleft()
            if not place.done():
                self._running += 1
                place.set_result(None)

    async def _pace(self, tokens: int) -> None:
        now = asyncio.get_running_loop().time
        if not (self._request_seconds or self._token_seconds) and self._paused_until <= now():
            return
        async with self._line:
            while True:
                # Looked at again after every sleep: another call may have been told to pause in the meantime.
                start = now()
                wait = max(self._paused_until, self._next_request, self._next_tokens) - start
                if wait <= 0:
                    break
                await asyncio.sleep(wait)
            self._next_request = start + self._request_seconds
            self._next_tokens = max(start, self._next_tokens) + tokens * self._token_seconds


class RateLimitedModel:
    """Keeps the pace of a limiter, and tells it how the calls went."""

    def __init__(self, model: Model, limiter: RateLimiter) -> None:
        self.name = model.name
        self._model = model
        self._limiter = limiter

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        limiter = self._limiter
        expected, used = limiter.expected_tokens(messages), 0
        epoch = await limiter.enter(expected)
        try:
            reply = await self._model.complete(messages, tools, options)
            used = reply.usage.total_tokens or expected
            limiter.succeeded(epoch)
        except ModelError as error:
            if isinstance(error, OverloadedError) or error.retry_after is not None:
                limiter.overloaded(epoch, error.retry_after)
            raise
        finally:
            limiter.settle(expected, used)
            limiter.leave()
        return reply

    async def close(self) -> None:
        await self._model.close()
