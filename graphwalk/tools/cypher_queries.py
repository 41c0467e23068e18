"""Queries that a model writes: asked of the store, cut to what a model can read, and refused in words."""

import json
from dataclasses import dataclass

from graphwalk.config.agent import AgentConfig
from graphwalk.stores.base import GraphStore
from graphwalk.stores.cypher_guard import QueryRefused
from graphwalk.tools.arguments import listed_names
from graphwalk.tools.messages import ToolMistake
from graphwalk.tools.rows import canonical_rows
from graphwalk.types.values import Row

MOST_CHARACTERS = 200_000
"""Of all rows shown, as JSON: a single value can be longer than anything that a model could read."""


@dataclass(frozen=True, slots=True)
class Answered:
    """The rows to show; `total` is how many there are, None where that is not known."""

    rows: list[Row]
    total: int | None

    @property
    def more(self) -> bool:
        return self.total is None or self.total > len(self.rows)


async def answer_query(store: GraphStore, query: str, agent: AgentConfig) -> Answered:
    """Answer a query with rows in its order, else in an order that is equal on every store.

    Raise ToolMistake for a wrong query, ConfigError for a store without such queries.
    """
    try:
        found = await store.ask(query, seconds=agent.query_seconds, rows=agent.query_rows)
    except QueryRefused as refused:
        raise _mistake(refused) from refused
    rows = found.rows if found.ordered else canonical_rows(found.rows)
    return Answered(_readable(rows), found.total)


def _readable(rows: list[Row]) -> list[Row]:
    """Return the first rows that fit. Raise ToolMistake "too_large" if not even one does."""
    left = MOST_CHARACTERS
    for number, row in enumerate(rows):
        left -= len(json.dumps(row, default=str))
        if left < 0:
            if number == 0:
                raise ToolMistake("too_large", "query_too_large")
            return rows[:number]
    return rows


def _mistake(refused: QueryRefused) -> ToolMistake:
    """Return the ToolMistake for the model, with the closest existing names first."""
    values = dict(refused.values)
    if refused.kind == "unknown_name":
        values |= listed_names(values["name"], values["names"])
    return ToolMistake(refused.kind, refused.message, **values)
