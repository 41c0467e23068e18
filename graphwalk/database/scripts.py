"""Read graph files of every format; a Cypher script runs in a temporary Neo4j."""

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

from graphwalk.database.server import down, up
from graphwalk.errors import ConfigError, StoreError
from graphwalk.graphs.files import CYPHER, load_graph
from graphwalk.graphs.formats.common import Undirected, checked_labels, read_text, reading
from graphwalk.stores.cypher_check import CypherNotAllowedError, Token, check_cypher, tokens_in
from graphwalk.stores.neo4j.connection import Connection, connect
from graphwalk.stores.neo4j.existing import read_whole
from graphwalk.stores.neo4j.existing_names import read_dialect
from graphwalk.types.graph import PropertyGraph
from graphwalk.variables import Variables

SECONDS = 300.0
"""For one statement."""
_CLOSED = {"dbms.security.allow_csv_import_from_file_urls": "false", "server.memory.pagecache.size": "64m"}


class Statement(NamedTuple):
    """A statement of a script; `line`: its first line, from 1."""

    cypher: str
    line: int


async def read_any(path: Path, variables: Variables, undirected: Undirected = "refuse") -> PropertyGraph:
    """Return the graph in a file or folder; see `run_script` for a Cypher script.

    Raise ConfigError for a file that cannot be read, StoreError if a Neo4j is needed and cannot be started.
    """
    if path.suffix.lower() == CYPHER:
        return await run_script(path, variables)
    return await asyncio.to_thread(load_graph, path, undirected)


async def run_script(path: Path, variables: Variables) -> PropertyGraph:
    """Return the graph that a script creates in a temporary Neo4j, which takes some ten seconds to start.

    NEO4J_URI and the server of `db up` are not used. Raise ConfigError with the line of a statement that Neo4j
    refuses, StoreError if no Neo4j can be started.
    """
    with reading(path):
        script = list(statements(read_text(path)))
        if not script:
            raise ValueError("it contains no statement")
        for statement in script:
            try:
                check_cypher(statement.cypher, writes=True)
            except CypherNotAllowedError as error:
                raise ValueError(f"the statement in line {statement.line}: {error}") from error
    async with _scratch(variables) as connection:
        for statement in script:
            await _run(path, statement, connection)
        with reading(path):  # GraphWalk's own labels would be taken for its graphs, and left out
            for (label,) in await connection.rows("MATCH (n) UNWIND labels(n) AS l RETURN DISTINCT l", SECONDS):
                checked_labels("a node", [label])
        return await read_whole(connection, await read_dialect(connection))


@asynccontextmanager
async def _scratch(variables: Variables) -> AsyncIterator[Connection]:
    with tempfile.TemporaryDirectory(prefix="graphwalk-script-", ignore_cleanup_errors=True) as folder:
        others = {name: value for name, value in variables.values.items() if not name.startswith("NEO4J_")}
        own = Variables({**others, "GRAPHWALK_HOME": folder})
        read_end, write_end = os.pipe()
        try:
            # Docker would need a second project next to that of `db up`, so only the jars are used.
            await asyncio.to_thread(up, own, with_="jars", port=None, heap="512m", conf=_CLOSED, pipe=read_end)
            async with await connect(own, wait_seconds=30.0) as connection:
                yield connection
        finally:
            os.write(write_end, b"\n")
            os.close(write_end)
            os.close(read_end)
            await asyncio.to_thread(down, own, delete=True)


async def _run(path: Path, statement: Statement, connection: Connection) -> None:
    try:
        # Once, since it may not be idempotent.
        await connection.read(statement.cypher, {}, SECONDS, mode="WRITE", once=True)
    except StoreError as error:
        cause = str(error).partition("\n")[0]
        cause = cause.partition(" refused a query: ")[2] or cause
        raise ConfigError(
            f"cannot read the graph {path}: line {statement.line}: Neo4j refused the statement: {cause}",
            hint="correct the statement, or run the script in a Neo4j of your own and use --database",
        ) from error


def statements(script: str) -> Iterator[Statement]:
    """Yield the statements between `;` in order. Raise ValueError for a command of a shell, for example `:param`."""
    start: int | None = None
    for token in (*tokens_in(script), Token("sign", ";", len(script))):
        if token.text == ";" and start is not None:
            yield Statement(script[start : token.at].rstrip(), script.count("\n", 0, start) + 1)
            start = None
        elif token.text != ";" and start is None:
            start = token.at
            if token.text == ":":
                command, line = script[start:].split(None, 1)[0], script.count("\n", 0, start) + 1
                raise ValueError(f"line {line}: {command} is a command of a shell, not Cypher: remove the line")
