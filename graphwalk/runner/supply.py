"""Episodes waiting to be played: those that are planned, and those that are still being planned."""

import asyncio
from collections.abc import AsyncIterator, Iterable

from graphwalk.runner.plan import PlannedEpisode


class Supply:
    """Shared by all workers of a run: each episode is given out once, in the order of the plan."""

    def __init__(self) -> None:
        self._waiting: asyncio.Queue[PlannedEpisode | None] = asyncio.Queue()

    def add(self, episodes: Iterable[PlannedEpisode]) -> None:
        """More to play."""
        for planned in episodes:
            self._waiting.put_nowait(planned)

    def close(self) -> None:
        """There will be no more."""
        self._waiting.put_nowait(None)

    async def __aiter__(self) -> AsyncIterator[PlannedEpisode]:
        while (planned := await self._waiting.get()) is not None:
            yield planned
        self.close()  # the others wait for the end too
