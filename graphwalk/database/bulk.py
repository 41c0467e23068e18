"""`graphwalk db load --bulk`: a large graph into an empty Neo4j of our own, by Neo4j's own importer.

    graph → CSV in the form of an ordinary load, and the entry of the ledger beside it
          → the server is stopped, its empty database put aside, the files imported, the server started again
          → the constraint on keys is made, and the entry says that the graph is complete

Whatever fails, the empty database is back in its place. A process that is killed leaves an entry that `clean` finds.
"""

import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from graphwalk.database.aside import NAME
from graphwalk.database.jars import run_admin
from graphwalk.database.loads import load
from graphwalk.database.replacing import SCHEMA, SECONDS, WAIT_SECONDS, count, own_folder, replaced, watched
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

_LEDGER_FILE = "ledger.csv"
_ORDINARY = "load it without --bulk, beside what is there"
_UNFIT = frozenset(":(){}[]")


async def load_bulk(
    environment: Environment, graph: PropertyGraph, *, tell: Callable[[str], object] = lambda step: None
) -> Load:
    """Put a graph into the Neo4j that `up` started from the jars, and keep it there; as `load`, and much faster.

    A graph that is there already is found. StoreError where the server is another, is in use, or holds anything;
    ConfigError for a graph that CSV cannot hold exactly. `tell` hears of each step.
    """
    home = own_folder(environment, _ORDINARY)
    check_names(graph)
    scope = scope_of(BY_HAND, graph.digest)
    if not await _is_there(environment, scope):
        with tempfile.TemporaryDirectory(prefix="bulk-", dir=home) as scratch:
            folder, owner = Path(scratch) / "graph", this_process()
            tell("writing CSV")
            _write(graph, scope, owner, folder)
            async with watched(environment, home, _ORDINARY) as found:
                await _check_empty(found.connection)
            arguments = [f"@{ARGUMENTS}", f"--nodes=./{_LEDGER_FILE}"]
            import_files(environment, folder, arguments, tell, since=found.since)
        tell("indexing the keys")
        await _adopt(environment, scope, owner)
    return await load(environment, graph)


def import_files(
    environment: Environment,
    folder: Path,
    arguments: Sequence[str],
    tell: Callable[[str], object] = lambda step: None,
    *,
    since: dict[str, tuple[int, int]] | None = None,
) -> None:
    """Stop the server that `up` started from the jars, and import files of `folder` in place of what is there.

    `arguments` are those of `neo4j-admin database import full`. StoreError, with everything as it was, where the
    importer fails, or where anything was written to the database after `since`.
    """
    with replaced(environment, tell, since=since) as halted:
        tell("importing")
        words = ["database", "import", "full", NAME, *arguments]
        if said := run_admin(halted.command, halted.server.folder, words, folder):
            raise StoreError(f"Neo4j's importer failed:\n{said}", hint="load it without --bulk")


async def _is_there(environment: Environment, scope: str) -> bool:
    """True where this graph is there. StoreError where something else is."""
    connection = await connect(environment, wait_seconds=WAIT_SECONDS)
    try:
        query = f"MATCH (l:{LEDGER} {{scope: $scope, state: 'complete'}}) RETURN l.scope"
        if await connection.read(query, {"scope": scope}, SECONDS):
            return True
        await _check_empty(connection)
        return False
    finally:
        await connection.close()


async def _check_empty(connection: Connection) -> None:
    for what, query in (("nodes", "MATCH (n) RETURN count(n)"), *SCHEMA):
        if number := await count(connection, query):
            raise StoreError(
                f"the database is not empty: it has {number} {what}, and an import begins with an empty one",
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


async def _adopt(environment: Environment, scope: str, owner: str) -> None:
    connection = await connect(environment, wait_seconds=WAIT_SECONDS)
    try:
        await Loader(connection, owner, BY_HAND).adopt(scope)
    finally:
        await connection.close()
