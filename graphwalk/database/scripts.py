"""Anybody's Cypher script as a graph: a Neo4j of its own, empty and gone afterwards, runs it and is read out whole."""

import asyncio
import re
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from graphwalk.database.server import down, up
from graphwalk.database.statements import Statement, statements
from graphwalk.environment import Environment
from graphwalk.errors import ConfigError, StoreError
from graphwalk.graphs.files.bounds import read_text
from graphwalk.graphs.files.checked import checked_labels
from graphwalk.graphs.files.shared import reading
from graphwalk.stores.neo4j.connection import Connection, connect
from graphwalk.stores.neo4j.reading import read_whole
from graphwalk.types.graph import PropertyGraph

SECONDS = 300.0
"""For one statement."""
_CLOSED = {"dbms.security.allow_csv_import_from_file_urls": "false", "server.memory.pagecache.size": "64m"}
_LOAD_CSV = re.compile(r"\bLOAD\s+CSV\b", re.IGNORECASE)
_TEXT = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`(?:[^`]|``)*`", re.DOTALL)
_PARAMETER = re.compile(r"\s*(\w+|`[^`]+`)\s*(?:=>|:|\s)\s*(.+)", re.DOTALL)


async def run_script(path: Path, environment: Environment) -> PropertyGraph:
    """What a script makes of an empty database. It takes as long as a Neo4j needs to start, some ten seconds.

    The server is started for this alone, with data in a temporary folder; NEO4J_URI and what `db up` started are left
    alone. ConfigError names the line of a statement that Neo4j refuses; StoreError where no Neo4j can be started.
    """
    with reading(path):
        script = list(statements(read_text(path)))
        if not script:
            raise ValueError("there is no statement in it")
        for statement in script:
            if _LOAD_CSV.search(_TEXT.sub("", statement.text)):
                raise ValueError(
                    f"line {statement.line}: LOAD CSV is not run, since it reads other files and addresses"
                )
    async with _scratch(environment) as connection:
        parameters: dict[str, Any] = {}
        for statement in script:
            await _run(path, statement, parameters, connection)
        graph = await read_whole(connection, None, None)
        await _refuse_own_labels(path, connection)
        return graph


@asynccontextmanager
async def _scratch(environment: Environment) -> AsyncIterator[Connection]:
    with tempfile.TemporaryDirectory(prefix="graphwalk-script-") as folder:
        kept = {name: value for name, value in environment.variables.items() if not name.startswith("NEO4J_")}
        own = Environment({**kept, "GRAPHWALK_HOME": folder})
        # Docker would need a project of its own beside that of `db up`, so only the jars are used.
        await asyncio.to_thread(up, own, with_="jars", port=None, heap="512m", conf=_CLOSED)
        try:
            connection = await connect(own, wait_seconds=30.0)
            try:
                yield connection
            finally:
                await connection.close()
        finally:
            await asyncio.to_thread(down, own, delete=True)


async def _run(path: Path, statement: Statement, parameters: dict[str, Any], connection: Connection) -> None:
    try:
        if statement.kind == "cypher":
            await connection.write_once(statement.text, parameters, SECONDS)
        elif statement.text.startswith("{"):
            rows = await connection.read(f"RETURN {statement.text}", parameters, SECONDS)
            parameters.update(rows[0][1][0])
        elif match := _PARAMETER.fullmatch(statement.text):
            rows = await connection.read(f"RETURN {match[2]}", parameters, SECONDS)
            parameters[match[1].strip("`")] = rows[0][1][0]
    except StoreError as error:
        said = str(error).partition("\n")[0].partition(" refused a query: ")[2] or str(error).partition("\n")[0]
        raise ConfigError(
            f"cannot read the graph {path}: line {statement.line}: Neo4j does not run the statement: {said}",
            hint="correct the statement, or run the script in a Neo4j of your own and use --database",
        ) from error


async def _refuse_own_labels(path: Path, connection: Connection) -> None:
    """What has a label of GraphWalk's would be taken for its own graphs, and left out."""
    with reading(path):
        for _, (label,) in await connection.read("MATCH (n) UNWIND labels(n) AS l RETURN DISTINCT l", {}, SECONDS):
            checked_labels("a node", [label])
