"""Read typed lines without blocking the event loop."""

import asyncio
import os
import threading
from contextlib import suppress


class LineReader:
    """A reader of lines of a file descriptor, in a thread, so that a signal ends the command at once."""

    def __init__(self, descriptor: int = 0) -> None:
        self._descriptor = descriptor
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._thread: threading.Thread | None = None

    async def __call__(self) -> str | None:
        """Return the next line without its line break, None at the end of input."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._pump, args=(asyncio.get_running_loop(),), daemon=True)
            self._thread.start()
        return await self._lines.get()

    def _pump(self, loop: asyncio.AbstractEventLoop) -> None:
        rest = b""
        with suppress(RuntimeError):  # the command has ended, and its event loop is closed
            # Not a file object: its lock, held by this thread, would keep the interpreter from ending.
            while block := os.read(self._descriptor, 4096):
                *whole, rest = (rest + block).split(b"\n")
                for line in whole:
                    loop.call_soon_threadsafe(self._lines.put_nowait, line.decode("utf-8", "replace"))
            if rest:
                loop.call_soon_threadsafe(self._lines.put_nowait, rest.decode("utf-8", "replace"))
            loop.call_soon_threadsafe(self._lines.put_nowait, None)
