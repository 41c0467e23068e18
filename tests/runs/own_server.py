"""A Neo4j of one's own, to be killed, frozen, emptied and started again; and a proxy that cuts connections."""

import asyncio
import os
import shutil
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

from graphwalk import database
from graphwalk.stores.neo4j.connection import connect
from graphwalk.variables import Variables
from tests.neo4j_servers import SMALL, server_settings


class OwnServer:
    """A server of the jars; its process is ours alone."""

    def __init__(self, home: Path, release: str) -> None:
        self.settings = server_settings(home, release)
        self._home = Variables({"GRAPHWALK_HOME": str(home)})
        self._release = release
        server = database.status(self._home).server
        assert server is not None
        self._server = server

    def kill(self) -> None:
        os.kill(self._pid(), signal.SIGKILL)

    def freeze(self) -> None:
        os.kill(self._pid(), signal.SIGSTOP)

    def thaw(self) -> None:
        os.kill(self._pid(), signal.SIGCONT)

    async def start(self) -> None:
        port = self._server.port
        await asyncio.to_thread(
            database.up, self._home, with_="jars", release=self._release, port=port, heap="512m", conf=SMALL
        )

    async def restart(self, *, empty: bool = False) -> None:
        """Kill it and start it again; `empty`: with a new home, in which there is nothing but the same password."""
        self.kill()
        if empty:
            shutil.rmtree(self._server.folder / "data")
        await self.start()

    async def run(self, cypher: str) -> int:
        """The first value of the first row."""
        connection = await connect(self.settings, wait_seconds=30)
        try:
            rows = await connection.write(cypher)
            return int(next(iter(rows[0].values()))) if rows else 0
        finally:
            await connection.close()

    def _pid(self) -> int:
        server = database.status(self._home).server
        assert server is not None
        assert server.pid is not None
        return server.pid


@contextmanager
def own_server(home: Path, release: str) -> Iterator[OwnServer]:
    """Started, and gone with its data at the end."""
    server = OwnServer(home, release)
    try:
        yield server
    finally:
        with suppress(ProcessLookupError):
            server.thaw()
        database.down(server._home, delete=True)


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
