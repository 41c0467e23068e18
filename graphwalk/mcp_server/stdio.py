"""Over stdin and stdout: one client, which started us."""

import io
import os
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import anyio
from mcp.server import Server
from mcp.server.stdio import stdio_server


async def serve_stdio(server: Server[Any]) -> None:
    """Until stdin closes, or the work is cancelled. stdout holds the protocol and nothing else."""
    with _own_streams() as (stdin, stdout, stop):
        async with stdio_server(anyio.wrap_file(stdin), anyio.wrap_file(stdout)) as (read, write):
            try:
                await server.run(read, write, server.create_initialization_options())
            finally:
                stop()


class _Stoppable(io.RawIOBase):
    """What a descriptor gives, ended by a byte in a pipe: a thread that waits for input cannot be ended otherwise."""

    def __init__(self, descriptor: int, stop: int) -> None:
        self._descriptor = descriptor
        self._stop = stop

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        ready, _, _ = select.select([self._descriptor, self._stop], [], [])
        return 0 if self._stop in ready else os.readv(self._descriptor, [buffer])


@contextmanager
def _own_streams() -> Iterator[tuple[Any, Any, Any]]:
    """stdin, stdout, and a function that ends stdin.

    Meanwhile file descriptor 0 is empty and 1 is stderr, so that nothing else reads or disturbs the protocol.
    """
    sys.stdout.flush()
    wire_in, wire_out = os.dup(0), os.dup(1)
    heard, told = os.pipe()
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    os.dup2(2, 1)
    reader = io.TextIOWrapper(io.BufferedReader(_Stoppable(wire_in, heard)), encoding="utf-8", errors="replace")
    writer = os.fdopen(wire_out, "w", encoding="utf-8")
    try:
        yield reader, writer, lambda: os.write(told, b"x")
    finally:
        os.dup2(wire_in, 0)
        os.dup2(wire_out, 1)
        for descriptor in (wire_in, heard, told):
            os.close(descriptor)
        writer.close()
