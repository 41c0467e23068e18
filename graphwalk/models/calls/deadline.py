"""A deadline for every single call."""

import asyncio
from collections.abc import Sequence

from graphwalk.errors import ModelError
from graphwalk.models.model import Model
from graphwalk.types.chat import CallOptions, Message, Reply, ToolSpec


class DeadlineModel:
    """Gives a call `seconds`, then closes its connection; ModelError (retryable) for a server that hangs or dawdles."""

    def __init__(self, model: Model, seconds: float) -> None:
        self.name = model.name
        self._model = model
        self._seconds = seconds

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        try:
            async with asyncio.timeout(self._seconds):
                return await self._model.complete(messages, tools, options)
        except TimeoutError:
            raise ModelError(f"{self.name} gave no reply within {self._seconds:g} s", retryable=True) from None

    async def close(self) -> None:
        await self._model.close()
