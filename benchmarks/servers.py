"""A Neo4j to measure against."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from graphwalk.errors import StoreError
from graphwalk.stores.neo4j.local_server import DEFAULT_PASSWORD
from graphwalk.stores.neo4j.server import DEFAULT_RELEASE, RELEASES, await_answer, start_jars, stop_jars
from graphwalk.variables import Variables, read_variables


@contextmanager
def neo4j_server() -> Iterator[Variables | str]:
    """The environment of NEO4J_URI if it is set, else of a throw-away server, or the reason why there is none."""
    server: Variables | str = read_variables()
    with ExitStack() as stack:
        if isinstance(server, Variables) and not server.get("NEO4J_URI"):
            try:
                server = stack.enter_context(throw_away_server())
            except StoreError as error:
                server = str(error).splitlines()[0]
        yield server


@contextmanager
def throw_away_server(release: str = DEFAULT_RELEASE) -> Iterator[Variables]:
    """The environment that reaches a Neo4j of the jars, removed at the end."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with TemporaryDirectory(prefix="graphwalk-bench-") as home:
        folder = Path(home) / "neo4j"
        start_jars(folder, RELEASES[release], port, DEFAULT_PASSWORD, variables=read_variables())
        try:
            await_answer(port, DEFAULT_PASSWORD)
            yield Variables({"NEO4J_URI": f"bolt://127.0.0.1:{port}", "NEO4J_PASSWORD": DEFAULT_PASSWORD})
        finally:
            stop_jars(folder, at_once=True)
