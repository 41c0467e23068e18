"""From the Cypher that a model writes to the Cypher that a store runs.

The query is read by a grammar of what is offered, and written anew from what was read: names in back-ticks, texts as
parameters, every node of every pattern with the label of the graph. What the grammar does not know is refused, so that
nothing reaches a server that was not understood. Procedures, LOAD CSV, SHOW, USE and writes are not forbidden: there
is no way to say them.

    MATCH (a:Film)-->(b) WHERE a.key = "f7" RETURN labels(b)
    MATCH (a:`Film`:`gw_3f2a90c1d77e`)-->(b:`gw_3f2a90c1d77e`) WHERE `a`.`key` = $gw_0 RETURN …

Relationships never lead from one graph to another, so that a path whose nodes are confined is in the graph.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from graphwalk.stores.cypher import Dialect
from graphwalk.stores.written.clauses import Clauses
from graphwalk.stores.written.names import Names
from graphwalk.types.schema import Schema


@dataclass(frozen=True, slots=True)
class Translated:
    """`columns`: names of the result that stand for others. `ordered`: the query asks for an order of its rows."""

    cypher: str
    parameters: Mapping[str, str]
    columns: Mapping[str, str]
    ordered: bool


def translate(query: str, schema: Schema, dialect: Dialect) -> Translated:
    """The query for a store. QueryRefused where it is no Cypher, is not offered, or names what the graph does not have.

    `dialect` is how the store writes the names of the graph.
    """
    clauses = Clauses(query, Names(schema), dialect)
    cypher = clauses.whole()
    return Translated(
        cypher, {name: text for text, name in clauses.parameters.items()}, clauses.columns, clauses.ordered
    )
