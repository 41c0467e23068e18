"""Search for nodes by text in an existing Neo4j: by its full-text indexes, else by its text indexes, else by a scan.

The server chooses candidates, which are ranked here as on every other store. Every query runs in READ mode.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any, NamedTuple

from graphwalk.errors import QueryLimitError, StoreError
from graphwalk.stores.cypher import render_cypher
from graphwalk.stores.neo4j.connection import Connection
from graphwalk.stores.neo4j.existing_names import ExistingDialect
from graphwalk.stores.search import (
    MOST_SCANNED,
    TYPING_ERRORS,
    Rank,
    SearchResult,
    SearchText,
    allowed_errors,
    best_rows,
    words_of,
)
from graphwalk.types.graph import KEY
from graphwalk.types.values import Row

ReadRows = Callable[[str, dict[str, Any], float], Awaitable[list[Row]]]
"""Return the rows of a query with parameters within seconds."""
_LIMITS = {"nodes": 200, "candidates": 50, "scanned": MOST_SCANNED}
"""Nodes of one full-text query, candidates that are ranked here, and nodes of a scan."""
_MOST_WORDS = 10  # each may become fifty terms, and Lucene takes 1,024
_INDEXES = (
    "SHOW INDEXES YIELD name, type, state, entityType, labelsOrTypes, properties, options "
    "WHERE entityType = 'NODE' AND state = 'ONLINE' AND type IN ['FULLTEXT', 'TEXT'] "
    "RETURN name, type, labelsOrTypes, properties, options"
)
_NODE = "{% if whole %}(n{{ any_node }}){% else %}(n:{{ label | label }}){% endif %} "
_FULLTEXT = f"CALL db.index.fulltext.queryNodes($index, $query) YIELD node AS n MATCH {_NODE} WITH n LIMIT $nodes "
_TEXT = "UNWIND $texts AS text MATCH (n:{{ label | label }}) WHERE n.{{ property | property }} CONTAINS text "
_SCAN = (
    f"MATCH {_NODE} {{% for one in covered %}}WHERE NOT n:{{{{ one | label }}}} WITH n {{% endfor %}}"
    "WITH n LIMIT $scanned "
)
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


class NodeIndex(NamedTuple):
    name: str
    type: str
    labels: Sequence[str]
    properties: Sequence[str]


async def read_indexes(connection: Connection) -> list[NodeIndex]:
    """Return the full-text and text indexes of a database; none if the user may not see them."""
    try:
        rows = await connection.rows(_INDEXES)
    except StoreError:
        return []
    # The analyzer "keyword" finds whole values only.
    return [NodeIndex(*row) for *row, options in rows if "keyword" not in options.get("indexConfig", {}).values()]


async def search_existing(
    dialect: ExistingDialect,
    read: ReadRows,
    indexes: Sequence[NodeIndex],
    labels: Sequence[str],
    text: str,
    label: str | None,
    seconds: float,
) -> SearchResult:
    """Return the best matches; stop at the first kind of source with better ones than typing errors."""
    sought, clock = SearchText(text.encode(errors="ignore").decode()), asyncio.get_running_loop().time
    deadline, ranked, used = clock() + seconds, list[tuple[Rank, Row]](), list[str]()
    labels = labels if label is None else [label]
    usable = [index for index in indexes if {*labels} & {*index.labels}]
    covered = sorted({*labels} & {one for index in usable if index.type == "FULLTEXT" for one in index.labels})
    uncovered = [one for one in labels if one not in covered]
    names: dict[str, Any] = {"label": label or "", "whole": label is None, "covered": covered}
    lower = " ".join(sought.text.lower().split())
    pairs = {one[at : at + 2] for one in (lower, sought.folded) for at in range(len(one) - 1)}
    common = {**_LIMITS, "lower": lower, "words": words_of(lower), "pairs": sorted(pairs)}
    scanned = stopped = False
    for queries in _sources(sought, usable, uncovered):
        for index, template, own_names, parameters in queries:
            used += [index] if index else []
            scanned = index is None
            try:
                cypher = render_cypher(template + _RANKED, own_names or names, dialect)
                rows = await read(cypher, {**common, **parameters}, max(0.1, deadline - clock()))
            except QueryLimitError:
                stopped = True
                break
            ranked += [pair for row in rows for pair in _ranked(sought, row, dialect.key_title or KEY)]
        if stopped or any(rank[0] < TYPING_ERRORS for rank, _ in ranked):
            break
    return SearchResult(best_rows(ranked), scanned, stopped, () if scanned or not uncovered else used)


Source = list[tuple[str | None, str, dict[str, Any], dict[str, Any]]]


def _sources(sought: SearchText, indexes: Sequence[NodeIndex], uncovered: Sequence[str]) -> Iterator[Source]:
    """Yield the sources, the fastest first: queries as index, template, its own names if any, and parameters."""
    query, text = lucene_query(sought), " ".join(sought.text.split())
    yield [
        (i.name, _FULLTEXT, {}, {"index": i.name, "query": query}) for i in indexes if i.type == "FULLTEXT" and query
    ]
    texts = {"texts": [text, text.lower(), text.upper(), text.title()]}
    yield [
        (i.name, _TEXT, {"label": i.labels[0], "property": i.properties[0]}, texts)
        for i in indexes
        if i.type == "TEXT" and i.labels[0] in uncovered
    ]
    if uncovered:
        yield [(None, _SCAN, {}, {})]


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
