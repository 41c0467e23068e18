"""A client that asked for it hears that its call is still running."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from mcp.server.session import ServerSession

PAUSE_SECONDS = 1.0


@asynccontextmanager
async def reported(session: ServerSession) -> AsyncIterator[None]:
    """Tells the client, once a second, for how many seconds its call has been running; nothing if it did not ask."""

    async def report() -> None:
        clock = asyncio.get_running_loop().time
        begun = clock()
        while True:
            seconds = round(clock() - begun, 1)
            await session.report_progress(seconds, message=f"the call has been running for {seconds:g} s")
            await asyncio.sleep(PAUSE_SECONDS)

    task = asyncio.create_task(report())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
