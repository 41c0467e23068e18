"""Search for nodes by text in an existing Neo4j: by its full-text indexes, else by a scan.

The server chooses candidates, which are ranked here as on every other store. Every query runs in READ mode.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any

from graphwalk.errors import QueryLimitError, StoreError
from graphwalk.graphs.graph import KEY
from graphwalk.graphs.values import Row
from graphwalk.stores.cypher import render_cypher
from graphwalk.stores.neo4j.connection import Connection
from graphwalk.stores.neo4j.existing_names import ExistingDialect
from graphwalk.stores.search import (
    MOST_SCANNED,
    Rank,
    SearchResult,
    SearchText,
    allowed_errors,
    best_rows,
    words_of,
)

ReadRows = Callable[[str, dict[str, Any], float], Awaitable[list[Row]]]
"""Return the rows of a query with parameters within seconds."""
_LIMITS = {"nodes": 200, "candidates": 50, "scanned": MOST_SCANNED}
"""Nodes of one full-text query, candidates that are ranked here, and nodes of a scan."""
_MOST_WORDS = 10  # each may become fifty terms, and Lucene takes 1,024
_INDEXES = (
    "SHOW INDEXES YIELD name, type, state, entityType, labelsOrTypes "
    "WHERE entityType = 'NODE' AND state = 'ONLINE' AND type = 'FULLTEXT' RETURN name, labelsOrTypes"
)
_NODE = "{% if whole %}(n{{ any_node }}){% else %}(n:{{ label | label }}){% endif %} "
_FULLTEXT = f"CALL db.index.fulltext.queryNodes($index, $query) YIELD node AS n MATCH {_NODE} WITH n LIMIT $nodes "
_SCAN = f"MATCH {_NODE} WITH n LIMIT $scanned "
_IS_TEXT = "({0} IS :: STRING NOT NULL OR {0} IS :: LIST<STRING NOT NULL> NOT NULL)"
_RANKED = (
    f"WITH DISTINCT n UNWIND keys(n) AS name WITH n, n[name] AS held WHERE {_IS_TEXT.format('held')} "
    "UNWIND ([] + held) AS value WITH n, toLower(value) AS lower "
    "WITH n, max(CASE WHEN lower = $lower THEN 4 WHEN lower STARTS WITH $lower THEN 3 "
    "WHEN lower CONTAINS $lower OR all(word IN $words WHERE lower CONTAINS word) THEN 2 ELSE 0 END "
    "+ 2.0 * size([pair IN $pairs WHERE lower CONTAINS pair]) / (size($pairs) + size(lower) + 1)) AS score "
    "WHERE score > 0 WITH n, score ORDER BY score DESC LIMIT $candidates "
    "RETURN {{ 'n' | key_of }} AS key, {{ 'n' | labels_of }} AS labels, "
    f"[name IN keys(n) WHERE {_IS_TEXT.format('n[name]')} | [name, n[name]]] AS texts, "
    "COUNT { (n)-[{{ any_relationship }}]-({{ any_node }}) } AS relationships"
)
"""The best candidates: whole matches, then those that share pairs of letters (the coefficient of Dice)."""


async def read_indexes(connection: Connection) -> dict[str, Sequence[str]]:
    """Return the labels of the full-text indexes of a database by name; none if the user may not see them."""
    try:
        return dict(await connection.rows(_INDEXES))
    except StoreError:
        return {}


async def search_existing(
    dialect: ExistingDialect,
    read: ReadRows,
    indexes: Mapping[str, Sequence[str]],
    labels: Sequence[str],
    text: str,
    label: str | None,
    seconds: float,
) -> SearchResult:
    """Return the best matches of the indexes with one of the labels; without such an index, those of a scan."""
    sought, clock = SearchText(text.encode(errors="ignore").decode()), asyncio.get_running_loop().time
    deadline, ranked, stopped = clock() + seconds, list[tuple[Rank, Row]](), False
    usable = [name for name, indexed in indexes.items() if {*labels} & {*indexed}]
    covered = {one for name in usable for one in indexes[name]}
    lower = " ".join(sought.text.lower().split())
    pairs = {one[at : at + 2] for one in (lower, sought.folded) for at in range(len(one) - 1)}
    parameters = {**_LIMITS, "lower": lower, "words": words_of(lower), "pairs": sorted(pairs)}
    parameters["query"] = lucene_query(sought)
    names: dict[str, Any] = {"label": label or "", "whole": label is None}
    cypher = render_cypher((_FULLTEXT if usable else _SCAN) + _RANKED, names, dialect)
    for index in (usable or [""]) if parameters["query"] or not usable else []:
        try:
            rows = await read(cypher, {**parameters, "index": index}, max(0.1, deadline - clock()))
        except QueryLimitError:
            stopped = True
            break
        ranked += [pair for row in rows for pair in _ranked(sought, row, dialect.key_title or KEY)]
    return SearchResult(best_rows(ranked), not usable, stopped, usable if {*labels} - covered else ())


def _ranked(sought: SearchText, row: Row, key_title: str) -> Iterator[tuple[Rank, Row]]:
    """Yield the properties of a candidate that match; `key_title`: of a property `key` that is not the key."""
    for stored, value in row.pop("texts"):
        name = key_title if stored == KEY and row["key"] != value else stored
        if rank := sought.rank(name, value):
            yield rank, {n: row[n] for n in ("key", "labels")} | {"property": name, "value": value} | row


def lucene_query(sought: SearchText) -> str:
    """Return a full-text query for all words; only their letters and digits, in lower case: none is an operator."""
    clauses = []
    for word in words_of(sought.text.lower())[:_MOST_WORDS]:
        fuzzy = f" {word}~{errors}" if (errors := allowed_errors(word)) else ""
        clauses.append(f"+({word}^8 *{word}*^2{fuzzy})")
    return " ".join(clauses)
