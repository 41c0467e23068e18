"""A Neo4j of one's own, to be killed, frozen and started again; and a proxy that cuts connections."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

from graphwalk.database.server import RELEASES, await_answer, server_in, start_jars, stop_jars
from graphwalk.stores.neo4j.connection import connect
from graphwalk.variables import Variables, read_variables
from tests.neo4j_servers import PASSWORD, SMALL, server_settings


class OwnServer:
    """A server of the jars; its process is ours alone."""

    def __init__(self, home: Path, release: str) -> None:
        self.settings = server_settings(home, release)
        self.folder = home / "neo4j"
        self._release = RELEASES[release]

    def kill(self) -> None:
        stop_jars(self.folder, at_once=True)

    def start(self) -> None:
        port = int((self.settings.neo4j_uri or "").rpartition(":")[2])
        start_jars(self.folder, self._release, port, PASSWORD, variables=read_variables(), heap="512m", conf=SMALL)
        await_answer(port, PASSWORD)

    def send(self, signum: signal.Signals) -> None:
        server = server_in(self.folder)
        assert server is not None
        os.kill(server.pid, signum)

    async def run(self, cypher: str) -> int:
        """The first value of the first row."""
        async with await connect(self.settings) as connection:
            rows = await connection.write(cypher)
        return int(next(iter(rows[0].values()))) if rows else 0


@contextmanager
def own_server(home: Path, release: str) -> Iterator[OwnServer]:
    """Started, and stopped at the end."""
    server = OwnServer(home, release)
    try:
        yield server
    finally:
        server.kill()


class Proxy:
    """Passes on what is sent to a port of this machine, until `cut` resets all connections."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._open: set[asyncio.StreamWriter] = set()

    def cut(self) -> int:
        """Reset every connection; how many there were."""
        cut = len(self._open)
        for writer in self._open:
            writer.transport.abort()
        self._open.clear()
        return cut

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", self._port)
        self._open |= {writer, back}
        with suppress(ConnectionError):
            await asyncio.gather(self._pass(reader, back), self._pass(there, writer))
        self._open -= {writer, back}
        for end in (writer, back):
            end.transport.abort()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while part := await reader.read(1 << 16):
                writer.write(part)
                await writer.drain()
        finally:
            writer.transport.abort()


@asynccontextmanager
async def proxied(variables: Variables) -> AsyncIterator[tuple[Proxy, Variables]]:
    """A proxy in front of the server of `settings`, and the Environment that reach the server through it."""
    uri = variables.neo4j_uri or ""
    proxy = Proxy(int(uri.rpartition(":")[2]))
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        yield proxy, Variables({**variables.values, "NEO4J_URI": f"bolt://127.0.0.1:{port}"})
    finally:
        server.close()
        proxy.cut()
