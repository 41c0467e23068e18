"""Load graphs into Neo4j and remove them (`graphwalk db load | clean`).

`db load --bulk` imports a large graph into the empty Neo4j of `db up --with jars` with Neo4j's importer:

    graph → CSV files and `GraphWalkLoad` entry → stop the server, import, start the server → complete the entry

The database was empty, so that an import that fails or is killed leaves an empty one.
"""

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import uuid4

from graphwalk.database.jars import DATABASE, database_folder, run_importer
from graphwalk.database.server import by_jars, stopped
from graphwalk.errors import ConfigError, StoreError
from graphwalk.graphs.formats.csv import ARGUMENTS, write_csv_folder
from graphwalk.settings import Settings
from graphwalk.stores.cypher import NO_LABEL, quote
from graphwalk.stores.neo4j.admin import BY_HAND, Load, Loads, check_labels, facts_of
from graphwalk.stores.neo4j.connection import connect
from graphwalk.stores.neo4j.loaded import Neo4jDatabase, scope_of
from graphwalk.stores.neo4j.values import SERIALISATION
from graphwalk.stores.transfer import stored_graph
from graphwalk.types.graph import LEDGER, Node, PropertyGraph, is_reserved

_WAIT_SECONDS = 10.0
"""Short, since a user is waiting at the terminal."""
_ORDINARY = "load it without --bulk"
_UNFIT = frozenset(":(){}[]")
_CONTENT = {
    "nodes": "MATCH (n) RETURN count(n)",
    "indexes": "SHOW INDEXES YIELD type, owningConstraint AS o WHERE type <> 'LOOKUP' AND o IS NULL RETURN count(*)",
    "constraints": "SHOW CONSTRAINTS YIELD name WHERE name <> 'graphwalk_load_scope' RETURN count(*)",
}
"""Queries that count the content of a database."""


async def load(settings: Settings, graph: PropertyGraph) -> Load:
    """Load a graph into Neo4j, keep it until `clean(kept=True)`, and return its entry."""
    async with await _open(settings) as database:
        store = await database.load(graph)
        return next(load for load in await database.loads() if load.scope == store.scope)


async def loaded_last(settings: Settings) -> Load | None:
    """Return the last graph of `graphwalk db load` that is still there."""
    loads = [load for load in await list_loads(settings) if load.run_id == BY_HAND and load.state == "complete"]
    return max(loads, key=lambda load: load.heartbeat, default=None)


async def list_loads(settings: Settings) -> list[Load]:
    """Return the loaded graphs of all runs, oldest first."""
    async with await _open(settings) as database:
        return await database.loads()


@dataclass(frozen=True)
class Contents:
    """The loaded graphs of the database in use, oldest first, and the number of nodes that GraphWalk did not create."""

    place: str
    database: str
    loads: list[Load]
    other_nodes: int


async def contents(settings: Settings) -> Contents:
    """Return what the Neo4j in use contains, from its statistics. Raise StoreError if it cannot be reached."""
    async with await connect(settings, wait_seconds=_WAIT_SECONDS) as connection:
        loads = await Loads(connection).all()
        [[name]] = await connection.rows("CALL db.info() YIELD name")
        labels = [row[0] for row in await connection.rows("CALL db.labels() YIELD label RETURN label")]
        # Every node of ours has exactly one of these.
        own = [quote(label) for label in labels if is_reserved(label) and label != NO_LABEL]
        counts = [f"COUNT {{ (:{label}) }}" for label in own]
        [[number]] = await connection.rows(f"RETURN {' - '.join(['COUNT { () }', *counts])}")
        return Contents(connection.place, name, loads, number)


async def clean(settings: Settings, *, kept: bool = False) -> list[Load]:
    """Remove graphs of killed runs, with `kept` also of finished ones; return the removed entries."""
    async with await _open(settings) as database:
        return await database.clean(kept=kept)


async def _open(settings: Settings) -> Neo4jDatabase:
    return await Neo4jDatabase.open(settings, run_id=BY_HAND, wait_seconds=_WAIT_SECONDS)


async def load_bulk(
    settings: Settings, graph: PropertyGraph, *, tell: Callable[[str], object] = lambda step: None
) -> Load:
    """Import a graph into the empty Neo4j that `up` started from the jars; `tell` is called at each step.

    Raise StoreError if the server is another or not empty; ConfigError for a graph that CSV cannot hold.
    """
    if settings.neo4j_uri:
        raise StoreError(
            "NEO4J_URI is set: GraphWalk does not stop a server of your own",
            hint=f"unset NEO4J_URI to use the one of `graphwalk db up`, or {_ORDINARY}",
        )
    home = by_jars(settings).folder
    check_labels(graph)
    scope, owner = scope_of(BY_HAND, graph.digest), uuid4().hex
    async with await connect(settings, wait_seconds=_WAIT_SECONDS, database=DATABASE) as connection:
        entry = await Loads(connection).find(scope)
        if entry is not None and entry.state == "complete":
            return await load(settings, graph)
        since = _transactions(home)
        for what, query in _CONTENT.items():
            [[number]] = await connection.rows(query)
            if number:
                raise StoreError(
                    f"cannot import: the database is not empty ({number} {what})",
                    hint=f"{_ORDINARY}; or, to remove GraphWalk's own graphs: graphwalk db clean --all",
                )
    with tempfile.TemporaryDirectory(prefix="bulk-", dir=home) as scratch:
        tell("writing CSV")
        _write(graph, scope, owner, Path(scratch) / "graph")
        import_files(settings, Path(scratch) / "graph", [f"@{ARGUMENTS}"], tell, since=since)
    tell("indexing the keys")
    async with await connect(settings, wait_seconds=_WAIT_SECONDS, database=DATABASE) as connection:
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
    """Stop the server that `up` started from the jars, import files of `folder`, and start it again.

    `arguments`: of `neo4j-admin database import full`. Raise StoreError if it fails, or if the transaction log
    differs from `since`.
    """
    with stopped(settings, tell) as (server, command):
        if since is not None and _transactions(server.folder) != since:
            raise StoreError("The database changed during the check. Aborted; nothing was modified.", hint="try again")
        tell("importing")
        run_importer(command, server.folder, arguments, folder)


def _transactions(folder: Path) -> dict[str, tuple[int, int]]:
    """Return name, modification time (ns) and size of the transaction logs: any write changes them."""
    files = (database_folder(folder, "transactions")).glob("neostore.transaction.db.*")
    return {file.name: (file.stat().st_mtime_ns, file.stat().st_size) for file in files}


def _write(graph: PropertyGraph, scope: str, owner: str, folder: Path) -> None:
    """Write the files for the importer: the graph as a load would store it, and its entry, a node more."""
    now = int(time.time() * 1000)
    facts = {**facts_of(graph, BY_HAND, owner), "scope": scope, "created": now, "heartbeat": now}
    entry = PropertyGraph.from_rows([Node(scope, (LEDGER,), facts)], []).node_tables[0]
    stored = stored_graph(graph, SERIALISATION.for_file)
    for name, column in ((name, column) for columns in stored.all_columns() for name, column in columns.items()):
        if _UNFIT.intersection(name):
            raise ConfigError(f"the importer does not accept the property name {name!r}", hint=_ORDINARY)
        if not {(), ("",)}.isdisjoint(column.pool):
            raise ConfigError(
                f"the importer drops empty lists and lists of one empty text: property {name!r}", hint=_ORDINARY
            )
    tables = [replace(t, labels=tuple(sorted((*(t.labels or (NO_LABEL,)), scope)))) for t in stored.node_tables]
    tables.append(replace(entry, numbers=entry.numbers + graph.node_count))
    try:
        write_csv_folder(replace(stored, keys=[*stored.keys, scope], node_tables=tuple(tables)), folder)
    except ConfigError as error:
        raise ConfigError(f"{error}", hint=_ORDINARY) from error
