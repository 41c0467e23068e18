"""`graphwalk db clean --all --bulk`: an empty database in place of one that holds nothing but graphs of GraphWalk.

Batches take the longer, the larger the graphs are; this takes as long as stopping and starting the server.
"""

from collections.abc import Callable

from graphwalk.database.loads import clean
from graphwalk.database.replacing import SCHEMA, count, own_folder, replaced, watched
from graphwalk.environment import Environment
from graphwalk.errors import StoreError
from graphwalk.stores.cypher import quote
from graphwalk.stores.neo4j.connection import Connection
from graphwalk.stores.neo4j.filling import LEDGER
from graphwalk.stores.neo4j.loading import Loader
from graphwalk.stores.neo4j.loads import BY_HAND, Load
from graphwalk.stores.neo4j.process import this_process

_ORDINARY = "clean without --bulk, which removes GraphWalk's own graphs in batches"
_SECONDS = 600.0
"""For looking at the labels of every node there is: a second or two for a million."""


async def clean_bulk(environment: Environment, *, tell: Callable[[str], object] = lambda step: None) -> list[Load]:
    """Remove all graphs of the Neo4j that `up` started from the jars; what was removed. As `clean(kept=True)`, at once.

    StoreError, with nothing touched, where the server is another or in use, where a run uses one of the graphs, or
    where the database holds anything that is not theirs. `tell` hears of each step.
    """
    folder = own_folder(environment, _ORDINARY)
    tell("looking at what is there")
    async with watched(environment, folder, _ORDINARY) as found:
        loads = await _nothing_else(found.connection)
    if not loads:
        return await clean(environment, kept=True)
    with replaced(environment, tell, since=found.since):
        return loads


async def _nothing_else(connection: Connection) -> list[Load]:
    """All graphs of a database that holds nothing else. StoreError where it does; none where it holds none of ours."""
    loader = Loader(connection, this_process(), BY_HAND)
    loads = await loader.ledger.loads()
    for load in loads:
        if load.in_use:
            raise _refused(f"a run uses the graph {load.scope}")
        if load.state == "complete" and not await loader.holds(load):
            raise _refused(f"the graph {load.scope} is not as it was loaded: somebody has changed it")
    if loads:
        for what, query in (*_foreign(loads), *SCHEMA):
            if number := await count(connection, query, _SECONDS):
                raise _refused(f"the database holds more than graphs of GraphWalk: it has {number} {what}")
    return loads


def _foreign(loads: list[Load]) -> list[tuple[str, str]]:
    """What is not ours, and how to count it. Every node is looked at: one may have the labels of two of our graphs."""
    labels = "|".join(quote(load.scope) for load in loads)
    return [
        ("other nodes", f"MATCH (n) WHERE NOT n:{labels} AND labels(n) <> ['{LEDGER}'] RETURN count(n)"),
        (f"nodes {LEDGER} that are no entries of its ledger", f"MATCH (l:{LEDGER}) RETURN count(l) - {len(loads)}"),
        ("relationships of entries of its ledger", f"MATCH (:{LEDGER})-[r]-() RETURN count(r)"),
    ]


def _refused(reason: str) -> StoreError:
    return StoreError(reason, hint=_ORDINARY)
