"""`graphwalk db load --bulk`: a large graph into an empty Neo4j of our own, by Neo4j's own importer.

    graph → CSV in the form of an ordinary load, and the entry of the ledger beside it
          → the server is stopped, its empty database put aside, the files imported, the server started again
          → the constraint on keys is made, and the entry says that the graph is complete

Whatever fails, the empty database is back in its place. A process that is killed leaves an entry that `clean` finds.
"""

import asyncio
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psutil

from graphwalk.database.jars import run_admin
from graphwalk.database.loads import load
from graphwalk.database.server import by_jars, stopped
from graphwalk.environment import Environment
from graphwalk.errors import ConfigError, StoreError
from graphwalk.graphs.files.csv_fields import csv_line
from graphwalk.graphs.files.csv_writer import ARGUMENTS, write_csv_folder
from graphwalk.graphs.files.shared import write_lines
from graphwalk.stores.neo4j.connection import Connection, connect
from graphwalk.stores.neo4j.filling import LEDGER, check_names
from graphwalk.stores.neo4j.loading import Loader
from graphwalk.stores.neo4j.loads import BY_HAND, LEASE_SECONDS, Load, entry
from graphwalk.stores.neo4j.process import this_process
from graphwalk.stores.neo4j.store import scope_of
from graphwalk.stores.neo4j.stored_graph import stored_graph
from graphwalk.types.graph import PropertyGraph
from graphwalk.types.values import Value

NAME = "neo4j"
"""The one database of a Neo4j Community."""
_PLACES = ("databases", "transactions")
_ASIDE = "before-import"
_LEDGER_FILE = "ledger.csv"
_SECONDS = 30.0
_WAIT_SECONDS = 10.0
_OTHERS_SECONDS = 2.0
"""A connection that was closed is counted for a moment longer."""
_ORDINARY = "load it without --bulk, beside what is there"
_UNFIT = frozenset(":(){}[]")


async def load_bulk(
    environment: Environment, graph: PropertyGraph, *, tell: Callable[[str], object] = lambda step: None
) -> Load:
    """Put a graph into the Neo4j that `up` started from the jars, and keep it there; as `load`, and much faster.

    A graph that is there already is found. StoreError where the server is another, is in use, or holds anything;
    ConfigError for a graph that CSV cannot hold exactly. `tell` hears of each step.
    """
    if environment.neo4j_uri:
        raise StoreError(
            "NEO4J_URI names a server of somebody's own, which is never stopped",
            hint="unset NEO4J_URI to use the one of `graphwalk db up`, or load without --bulk",
        )
    server = by_jars(environment)
    check_names(graph)
    scope = scope_of(BY_HAND, graph.digest)
    if not await _is_there(environment, scope):
        with tempfile.TemporaryDirectory(prefix="bulk-", dir=server.folder) as scratch:
            folder, owner = Path(scratch) / "graph", this_process()
            tell("writing CSV")
            _write(graph, scope, owner, folder)
            await _check_free(environment)
            import_files(environment, folder, [f"@{ARGUMENTS}", f"--nodes=./{_LEDGER_FILE}"], tell)
        tell("indexing the keys")
        await _adopt(environment, scope, owner)
    return await load(environment, graph)


def import_files(
    environment: Environment, folder: Path, arguments: Sequence[str], tell: Callable[[str], object] = lambda step: None
) -> None:
    """Stop the server that `up` started from the jars, and import files of `folder` in place of what is there.

    `arguments` are those of `neo4j-admin database import full`. StoreError, with everything as it was, where the
    importer fails.
    """
    with stopped(environment, tell) as (server, command), _emptied(server.folder):
        tell("importing")
        if said := run_admin(command, server.folder, ["database", "import", "full", NAME, *arguments], folder):
            raise StoreError(f"Neo4j's importer failed:\n{said}", hint="load it without --bulk")


async def _is_there(environment: Environment, scope: str) -> bool:
    """True where this graph is there. StoreError where something else is."""
    connection = await connect(environment, wait_seconds=_WAIT_SECONDS)
    try:
        query = f"MATCH (l:{LEDGER} {{scope: $scope, state: 'complete'}}) RETURN l.scope"
        if await connection.read(query, {"scope": scope}, _SECONDS):
            return True
        await _check_empty(connection)
        return False
    finally:
        await connection.close()


async def _check_free(environment: Environment) -> None:
    """StoreError unless the database is empty and nobody else is connected to its server."""
    connection = await connect(environment, wait_seconds=_WAIT_SECONDS)
    try:
        await _check_empty(connection)
        deadline = time.monotonic() + _OTHERS_SECONDS
        while others := await _others(connection):
            if time.monotonic() > deadline:
                agents = ", ".join(sorted(others))
                raise StoreError(
                    f"others are connected to this Neo4j, which has to be stopped for an import: {agents}",
                    hint="end them first, or load without --bulk",
                )
            await asyncio.sleep(0.1)
    finally:
        await connection.close()


async def _others(connection: Connection) -> set[str]:
    """Programs that are connected to the server, apart from this process."""
    ours = {socket.laddr.port for socket in psutil.Process().net_connections("tcp") if socket.laddr}
    found = await connection.read(_CONNECTIONS, {}, _SECONDS)
    return {agent for _, (agent, address) in found if int(address.rpartition(":")[2]) not in ours}


_CONNECTIONS = "CALL dbms.listConnections() YIELD userAgent, clientAddress RETURN userAgent, clientAddress"
_COUNTS = (
    ("nodes", "MATCH (n) RETURN count(n)"),
    (
        "indexes of its own",
        "SHOW INDEXES YIELD type, owningConstraint WHERE type <> 'LOOKUP' AND owningConstraint IS NULL RETURN count(*)",
    ),
    (
        "constraints of its own",
        "SHOW CONSTRAINTS YIELD name WHERE NOT (name = 'graphwalk_load_scope' OR name STARTS WITH 'gw_') "
        "RETURN count(*)",
    ),
)


async def _check_empty(connection: Connection) -> None:
    for what, query in _COUNTS:
        [(_, (count,))] = await connection.read(query, {}, _SECONDS)
        if count:
            raise StoreError(
                f"the database is not empty: it has {count} {what}, and an import begins with an empty one",
                hint=f"{_ORDINARY}; or, to remove GraphWalk's own graphs: graphwalk db clean --all",
            )


def _write(graph: PropertyGraph, scope: str, owner: str, folder: Path) -> None:
    """The files for the importer: the graph as a load would leave it, and its entry in the ledger."""
    stored = stored_graph(graph, scope)
    for columns in stored.all_columns():
        for name, column in columns.items():
            _check_fit(name, column.pool)
    try:
        write_csv_folder(stored, folder)
    except ConfigError as error:
        raise ConfigError(f"{error}", hint=_ORDINARY) from error
    now = int(time.time() * 1000)
    facts = entry(BY_HAND, graph.digest, graph.node_count, graph.relationship_count, owner)
    facts |= {"scope": scope, "created": now, "expires": now + int(LEASE_SECONDS * 1000)}
    titles = [f"{name}:{_TYPES[type(value)]}" for name, value in facts.items()]
    fields = [str(value).lower() if isinstance(value, bool) else str(value) for value in facts.values()]
    write_lines(folder / _LEDGER_FILE, [csv_line([*titles, ":LABEL"]), csv_line([*fields, LEDGER])])


def _check_fit(name: str, values: Iterable[Value]) -> None:
    """ConfigError for what the importer would take for something else."""
    if _UNFIT.intersection(name):
        raise ConfigError(f"the importer would not take {name!r} for the name of a property", hint=_ORDINARY)
    if any(value in ((), ("",)) for value in values):
        raise ConfigError(
            f"the property {name!r} has an empty list, or one of one empty text, which the importer leaves out",
            hint=_ORDINARY,
        )


_TYPES: dict[type, str] = {str: "string", int: "long", bool: "boolean"}


@contextmanager
def _emptied(folder: Path) -> Iterator[None]:
    """The empty database of a stopped server out of the way; back in its place where the block fails."""
    aside = folder / _ASIDE
    shutil.rmtree(aside, ignore_errors=True)
    moved = [(folder / "data" / place / NAME, aside / place) for place in _PLACES]
    aside.mkdir()
    for place, kept in moved:
        if place.exists():
            place.rename(kept)
    try:
        yield
    except BaseException:
        for place, kept in moved:
            shutil.rmtree(place, ignore_errors=True)
            if kept.exists():
                kept.rename(place)
        raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)


async def _adopt(environment: Environment, scope: str, owner: str) -> None:
    connection = await connect(environment, wait_seconds=_WAIT_SECONDS)
    try:
        await Loader(connection, owner, BY_HAND).adopt(scope)
    finally:
        await connection.close()
