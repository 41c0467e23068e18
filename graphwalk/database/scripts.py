"""Read graph files of every format; a foreign Cypher script runs in a temporary Neo4j."""

import asyncio
import os
import re
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from graphwalk.database.server import down, up
from graphwalk.errors import ConfigError, StoreError
from graphwalk.graphs.files import load_graph
from graphwalk.graphs.formats.common import Undirected, checked_labels, read_text, reading, without_packing
from graphwalk.graphs.formats.cypher import is_own_script
from graphwalk.settings import Settings
from graphwalk.stores.cypher_check import CypherNotAllowedError, check_cypher
from graphwalk.stores.neo4j.connection import Connection, connect
from graphwalk.stores.neo4j.existing import read_whole
from graphwalk.stores.neo4j.existing_names import read_dialect
from graphwalk.types.graph import PropertyGraph

SECONDS = 300.0
"""For one statement."""
_CLOSED = {"dbms.security.allow_csv_import_from_file_urls": "false", "server.memory.pagecache.size": "64m"}
_PARAMETER = re.compile(r"\s*(\w+|`[^`]+`)\s*(?:=>|:|\s)\s*(.+)", re.DOTALL)
_TOKEN = re.compile(
    r"(?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z))"
    r"|(?P<text>'(?:[^'\\]|\\.)*(?:'|\Z)|\"(?:[^\"\\]|\\.)*(?:\"|\Z)|`(?:[^`]|``)*(?:`|\Z))"
    r"|(?P<end>;)|(?P<line>\n)|(?P<other>[^'\"`;/\n]+|/)",
    re.DOTALL,
)
_SKIPPED = (":begin", ":commit", ":rollback", ":auto", ":use", ":schema")


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of a script; `line`: its first line, from 1. "param": `text` is the rest of `:param`."""

    kind: Literal["cypher", "param"]
    text: str
    line: int

    @property
    def cypher(self) -> str:
        """Return the statement, or a query whose one row holds the values of `:param`."""
        if self.kind == "cypher":
            return self.text
        match = _PARAMETER.fullmatch(self.text)
        return f"RETURN {self.text if match is None or self.text.startswith('{') else match[2]}"


async def read_any(path: Path, settings: Settings, undirected: Undirected = "refuse") -> PropertyGraph:
    """Return the graph in a file or folder; see `run_script` for a Cypher script that GraphWalk did not write.

    Raise ConfigError for a file that cannot be read, StoreError if a Neo4j is needed and cannot be started.
    """
    if without_packing(path).suffix.lower() == ".cypher" and not await asyncio.to_thread(is_own_script, path):
        return await run_script(path, settings)
    return await asyncio.to_thread(load_graph, path, undirected)


async def run_script(path: Path, settings: Settings) -> PropertyGraph:
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
    async with _scratch(settings) as connection:
        parameters: dict[str, Any] = {}
        for statement in script:
            await _run(path, statement, parameters, connection)
        with reading(path):  # GraphWalk's own labels would be taken for its graphs, and left out
            for (label,) in await connection.rows("MATCH (n) UNWIND labels(n) AS l RETURN DISTINCT l", SECONDS):
                checked_labels("a node", [label])
        return await read_whole(connection, await read_dialect(connection))


@asynccontextmanager
async def _scratch(settings: Settings) -> AsyncIterator[Connection]:
    with tempfile.TemporaryDirectory(prefix="graphwalk-script-", ignore_cleanup_errors=True) as folder:
        kept = {name: value for name, value in settings.variables.items() if not name.startswith("NEO4J_")}
        own = Settings({**kept, "GRAPHWALK_HOME": folder})
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


async def _run(path: Path, statement: Statement, parameters: dict[str, Any], connection: Connection) -> None:
    try:
        if statement.kind == "cypher":
            # Once, since it may not be idempotent.
            await connection.read(statement.cypher, parameters, SECONDS, mode="WRITE", once=True)
        elif statement.text.startswith("{"):
            [(_, [values])] = await connection.read(statement.cypher, parameters, SECONDS)
            parameters.update(values)
        elif match := _PARAMETER.fullmatch(statement.text):
            [(_, [value])] = await connection.read(statement.cypher, parameters, SECONDS)
            parameters[match[1].strip("`")] = value
    except StoreError as error:
        said = str(error).partition("\n")[0].partition(" refused a query: ")[2] or str(error).partition("\n")[0]
        raise ConfigError(
            f"cannot read the graph {path}: line {statement.line}: Neo4j refused the statement: {said}",
            hint="correct the statement, or run the script in a Neo4j of your own and use --database",
        ) from error


def statements(script: str) -> Iterator[Statement]:
    """Yield all statements in order, without comments. Raise ValueError for an unknown shell command."""
    parts: list[str] = []
    begins = line = 1
    for match in _TOKEN.finditer(script):
        kind, text = match.lastgroup, match[0]
        if kind == "end" or (kind == "line" and parts and parts[0].startswith(":")):
            yield from _statement("".join(parts).strip(), begins)
            parts = []
        elif kind == "comment":
            parts += [" "] if parts else []
        elif parts or text.strip():
            begins = begins if parts else line
            parts.append(text if parts else text.lstrip())
        line += text.count("\n")
    yield from _statement("".join(parts).strip(), begins)


def _statement(text: str, line: int) -> Iterator[Statement]:
    if not text.startswith(":"):
        if text:
            yield Statement("cypher", text, line)
        return
    command, _, rest = text.partition(" ")
    if command in (":param", ":params"):
        yield Statement("param", rest.strip(), line)
    elif command == ":auto" and rest.strip():
        yield Statement("cypher", rest.strip(), line)
    elif command not in _SKIPPED:
        raise ValueError(f"line {line}: unknown shell command {command}")
