"""`graphwalk db load | clean`: the graphs that GraphWalk keeps in a Neo4j.

`db load --bulk` puts a large graph into the empty Neo4j of `db up --with jars`, by Neo4j's own importer:

    graph → CSV as an ordinary load would store it, and its `GraphWalkLoad` entry
          → the server is stopped, the files are imported, the server is started again → the entry is complete

The database was empty, so an import that fails or is killed leaves an empty one again.
"""

import tempfile
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

from graphwalk.database.jars import DATABASE, database_folder, run_importer
from graphwalk.database.server import by_jars, stopped
from graphwalk.errors import ConfigError, StoreError
from graphwalk.graphs.formats.common import write_lines
from graphwalk.graphs.formats.csv import ARGUMENTS, csv_line, write_csv_folder
from graphwalk.settings import Settings
from graphwalk.stores.cypher import NO_LABEL
from graphwalk.stores.neo4j.admin import BY_HAND, LEDGER, Load, Loads, check_labels, facts_of, form_of
from graphwalk.stores.neo4j.connection import Connection, connect
from graphwalk.stores.neo4j.loaded import Neo4jDatabase, scope_of
from graphwalk.types.graph import Column, PropertyGraph

_WAIT_SECONDS = 10.0
"""A person is waiting: if the database is not there, they should hear it soon."""
_ORDINARY = "load it without --bulk, beside what is there"
_ENTRY_FILE = "entry.csv"
_TYPES: dict[type, str] = {str: "string", int: "long", bool: "boolean"}
_UNFIT = frozenset(":(){}[]")
_CONTENT = {
    "nodes": "MATCH (n) RETURN count(n)",
    "indexes": "SHOW INDEXES YIELD type, owningConstraint AS o WHERE type <> 'LOOKUP' AND o IS NULL RETURN count(*)",
    "constraints": "SHOW CONSTRAINTS YIELD name WHERE name <> 'graphwalk_load_scope' RETURN count(*)",
}
"""What a database can hold, and how to count it."""


async def load(settings: Settings, graph: PropertyGraph, *, run_id: str = BY_HAND) -> Load:
    """Put a graph into Neo4j and keep it there until `clean(kept=True)`. Return its entry."""
    async with _opened(settings, run_id) as database:
        store = await database.load(graph)
        return next(load for load in await database.loads() if load.scope == store.scope)


async def loaded_last(settings: Settings) -> Load | None:
    """The graph that a person loaded last and that is still there."""
    loads = [load for load in await list_loads(settings) if load.run_id == BY_HAND and load.state == "complete"]
    return max(loads, key=lambda load: load.heartbeat, default=None)


async def list_loads(settings: Settings) -> list[Load]:
    """The graphs of all runs in that Neo4j, oldest first."""
    async with _opened(settings, BY_HAND) as database:
        return await database.loads()


async def clean(settings: Settings, *, kept: bool = False) -> list[Load]:
    """Remove what killed runs left, with `kept` also what finished runs left on purpose; what was removed."""
    async with _opened(settings, BY_HAND) as database:
        return await database.clean(kept=kept)


@asynccontextmanager
async def _opened(settings: Settings, run_id: str) -> AsyncIterator[Neo4jDatabase]:
    database = await Neo4jDatabase.open(settings, run_id=run_id, wait_seconds=_WAIT_SECONDS)
    try:
        yield database
    finally:
        await database.close()


async def load_bulk(
    settings: Settings, graph: PropertyGraph, *, tell: Callable[[str], object] = lambda step: None
) -> Load:
    """Load a graph into the Neo4j that `up` started from the jars, and keep it there; `tell` is called at each step.

    StoreError where the server is another, or holds anything else; ConfigError for a graph that CSV cannot hold.
    """
    if settings.neo4j_uri:
        raise StoreError(
            "NEO4J_URI names a server of your own, which GraphWalk never stops",
            hint=f"unset NEO4J_URI to use the one of `graphwalk db up`, or {_ORDINARY}",
        )
    home = by_jars(settings).folder
    check_labels(graph)
    scope, owner = scope_of(BY_HAND, graph.digest), uuid4().hex
    async with _connected(settings) as connection:
        found = await Loads(connection).find(scope)
        since = _transactions(home)
        if found is None or found.state != "complete":
            for what, query in _CONTENT.items():
                [[number]] = await connection.rows(query)
                if number:
                    raise StoreError(
                        f"the database is not empty: it has {number} {what}, and an import needs an empty one",
                        hint=f"{_ORDINARY}; or, to remove GraphWalk's own graphs: graphwalk db clean --all",
                    )
    if found is None or found.state != "complete":
        with tempfile.TemporaryDirectory(prefix="bulk-", dir=home) as scratch:
            tell("writing CSV")
            _write(graph, scope, owner, Path(scratch) / "graph")
            arguments = [f"@{ARGUMENTS}", f"--nodes=./{_ENTRY_FILE}"]
            import_files(settings, Path(scratch) / "graph", arguments, tell, since=since)
        tell("indexing the keys")
        async with _connected(settings) as connection:
            await Loads(connection, owner).complete(scope, 0)
    return await load(settings, graph)


def import_files(
    settings: Settings,
    folder: Path,
    arguments: Sequence[str],
    tell: Callable[[str], object] = lambda step: None,
    *,
    since: dict[str, tuple[int, int]] | None = None,
) -> None:
    """Stop the server that `up` started from the jars, and import files of `folder` in place of its empty database.

    `arguments` are those of `neo4j-admin database import full`. StoreError where it fails, or the transaction log is
    not that of `since`.
    """
    with stopped(settings, tell) as (server, command):
        if since is not None and _transactions(server.folder) != since:
            raise StoreError("the database changed meanwhile; nothing was imported", hint="try again")
        tell("importing")
        run_importer(command, server.folder, arguments, folder)


@asynccontextmanager
async def _connected(settings: Settings) -> AsyncIterator[Connection]:
    connection = await connect(settings, wait_seconds=_WAIT_SECONDS, database=DATABASE)
    try:
        yield connection
    finally:
        await connection.close()


def _transactions(folder: Path) -> dict[str, tuple[int, int]]:
    """Return the files of the transaction log, when each was written (ns), and its size: any write changes them."""
    files = (database_folder(folder, "transactions")).glob("neostore.transaction.db.*")
    return {file.name: (file.stat().st_mtime_ns, file.stat().st_size) for file in files}


def _write(graph: PropertyGraph, scope: str, owner: str, folder: Path) -> None:
    """Write the files for the importer: the graph as a load would leave it, and its entry."""
    try:
        write_csv_folder(_stored(graph, scope), folder)
    except ConfigError as error:
        raise ConfigError(f"{error}", hint=_ORDINARY) from error
    now = int(time.time() * 1000)
    facts = {**facts_of(graph, BY_HAND, owner), "scope": scope, "created": now, "heartbeat": now}
    titles = [f"{name}:{_TYPES[type(value)]}" for name, value in facts.items()]
    fields = [str(value).lower() if isinstance(value, bool) else str(value) for value in facts.values()]
    write_lines(folder / _ENTRY_FILE, [csv_line([*titles, ":LABEL"]), csv_line([*fields, LEDGER])])


def _stored(graph: PropertyGraph, scope: str) -> PropertyGraph:
    """Return the graph as Neo4j stores it. ConfigError for what the importer would read as something else."""
    encoding = form_of(graph, scope).encoding

    def columns(stored: Mapping[str, Column]) -> dict[str, Column]:
        for name, column in stored.items():
            if _UNFIT.intersection(name):
                raise ConfigError(f"the importer would not take {name!r} for the name of a property")
            if not {(), ("",)}.isdisjoint(column.pool):
                raise ConfigError(
                    f"the importer leaves out empty lists, and lists of one empty text: property {name!r}"
                )
        return {name: replace(column, pool=tuple(map(encoding.kept, column.pool))) for name, column in stored.items()}

    nodes = [
        replace(t, labels=tuple(sorted((*(t.labels or (NO_LABEL,)), scope))), columns=columns(t.columns))
        for t in graph.node_tables
    ]
    relationships = [replace(table, columns=columns(table.columns)) for table in graph.relationship_tables]
    keys = [str(encoding.kept(key)) for key in graph.keys] if encoding.tags else graph.keys
    return replace(graph, keys=keys, node_tables=tuple(nodes), relationship_tables=tuple(relationships))
