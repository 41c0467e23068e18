"""From the Cypher that a model writes to the Cypher that a store runs.

The query is read by a grammar of what is offered, and written anew from what was read: names in back-ticks, texts as
parameters, every node of every pattern with the label of the graph. What the grammar does not know is refused, so that
nothing reaches a server that was not understood. Procedures, LOAD CSV, SHOW, USE and writes are not forbidden: there
is no way to say them.

    MATCH (a:Film)-->(b) WHERE a.key = "f7" RETURN labels(b)
    MATCH (a:`Film`:`gw_3f2a90c1d77e`)-->(b:`gw_3f2a90c1d77e`) WHERE `a`.`key` = $gw_t0 RETURN …

Relationships never lead from one graph to another, so that a path whose nodes are confined is in the graph.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from graphwalk.stores.cypher import RESERVED_PREFIX, Dialect
from graphwalk.stores.written.clauses import Clauses
from graphwalk.stores.written.names import Names
from graphwalk.stores.written.refusal import QueryRefused
from graphwalk.types.schema import Schema
from graphwalk.types.values import Temporal, shown

_PLACE = re.compile(r"\s*(\(line \d+, column \d+.*\)|at line \d+, col \d+)")
"""Where in the query that was sent; the model does not know that one."""
_OURS = re.compile(r"[$'`]?\b(gw_t?\d+)\b['`]?")
"""A name that stands for a text or a column."""


@dataclass(frozen=True, slots=True)
class Translated:
    """`columns`: names of the result that stand for others. `ordered`: the query asks for an order of its rows.
    `scope`: the label that only the query that is sent has."""

    cypher: str
    parameters: Mapping[str, str | Temporal]
    columns: Mapping[str, str]
    ordered: bool
    scope: str | None = None

    def in_own_words(self, problem: str) -> str:
        """What an engine says about the query, in the names that the model wrote: the query sent has others."""
        told = _PLACE.sub("", problem.strip().splitlines()[0]).strip()
        if self.scope is not None:
            told = re.sub(f":?`?{self.scope}`?", "", told)
        own = {name: repr(shown(value)) for name, value in self.parameters.items()} | dict(self.columns)
        return _OURS.sub(lambda name: own.get(name[1], name[0]), told).replace(RESERVED_PREFIX, "")

    @contextmanager
    def told(self) -> Iterator[None]:
        """For the time that an engine has the query: what it refuses is refused in the model's own words."""
        try:
            yield
        except QueryRefused as refused:
            if "problem" not in refused.values:
                raise
            problem = self.in_own_words(refused.values["problem"])
            raise QueryRefused(refused.kind, refused.message, problem=problem) from refused


def translate(query: str, schema: Schema, dialect: Dialect, *, cut: bool = False) -> Translated:
    """The query for a store. QueryRefused where it is no Cypher, is not offered, or names what the graph does not have.

    `dialect` is how the store writes the names of the graph; `cut`: it ends paths without a bound early, and says
    nothing.
    """
    clauses = Clauses(query, Names(schema), dialect, cut)
    cypher = clauses.whole()
    parameters = {name: text for text, name in clauses.parameters.items()}
    return Translated(cypher, parameters, clauses.columns, clauses.ordered, dialect.scope)
