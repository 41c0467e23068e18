"""Trying again: exponential backoff with full jitter, never earlier than the server allows."""

import asyncio
import random
from collections.abc import Sequence

from graphwalk.errors import ModelError
from graphwalk.models.model import Model
from graphwalk.types.chat import CallOptions, Message, Reply, ToolSpec


class RetryingModel:
    """Tries a call up to `retries` more times where that may help, then raises the last ModelError.

    The n-th wait is drawn uniformly from 0 to min(longest, first · 2ⁿ) seconds, on top of what the server asks for,
    however long that is: the deadline of the episode bounds it from outside.
    """

    def __init__(
        self, model: Model, retries: int, draw: random.Random, *, first: float = 0.5, longest: float = 60.0
    ) -> None:
        self.name = model.name
        self._model = model
        self._retries = retries
        self._draw = draw
        self._first = first
        self._longest = longest

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        for attempt in range(self._retries):
            try:
                return await self._model.complete(messages, tools, options)
            except ModelError as error:
                if not error.retryable:
                    raise
                asked = error.retry_after or 0.0
            await asyncio.sleep(asked + self._draw.uniform(0.0, min(self._longest, self._first * 2.0**attempt)))
        return await self._model.complete(messages, tools, options)

    async def close(self) -> None:
        await self._model.close()
