"""Search for nodes by text in an existing Neo4j: by its full-text indexes, else by other indexes, else by a scan.

The server chooses candidates, which are ranked here as on every other store. Every query runs in READ mode.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any, NamedTuple

from graphwalk.errors import QueryLimitError, StoreAwayError, StoreError
from graphwalk.stores.cypher import quote, render_cypher
from graphwalk.stores.neo4j.connection import Connection
from graphwalk.stores.neo4j.existing_names import ExistingDialect
from graphwalk.stores.search import TYPING_ERRORS, Rank, SearchResult, SearchText, allowed_errors, best_rows, words_of
from graphwalk.types.graph import KEY
from graphwalk.types.schema import Schema
from graphwalk.types.values import Row

ReadRows = Callable[[str, dict[str, Any], float], Awaitable[list[Row]]]
"""Return the rows of a query with parameters within seconds."""
_LIMITS = {"nodes": 200, "candidates": 50, "part": ""}
"""Nodes of one full-text query, and candidates that are ranked here."""
_MOST_WORDS = 10  # each may become fifty terms, and Lucene takes 1,024
_MOST_NAMES = 12  # labels and properties of an index that is recommended
_START = 3  # letters by which an index of a property finds candidates
_INDEXES = (
    "SHOW INDEXES YIELD name, type, state, entityType, labelsOrTypes, properties, options "
    "WHERE entityType = 'NODE' AND state = 'ONLINE' AND type IN ['FULLTEXT', 'TEXT', 'RANGE'] "
    "RETURN name, type, labelsOrTypes, properties, options"
)
_NODE = "{% if whole %}(n{{ any_node }}){% else %}(n:{{ label | label }}){% endif %} "
_FULLTEXT = f"CALL db.index.fulltext.queryNodes($index, $query) YIELD node AS n MATCH {_NODE} WITH n LIMIT $nodes "
_RANGE = (
    "UNWIND $starts AS start MATCH (n:{{ label | label }}) "
    "WHERE n.{{ property | property }} {% if contains %}CONTAINS{% else %}STARTS WITH{% endif %} start "
)
_SCAN = f"MATCH {_NODE} {{% for one in covered %}}WHERE NOT n:{{{{ one | label }}}} WITH n {{% endfor %}}"
_IS_TEXT = "({0} IS :: STRING NOT NULL OR {0} IS :: LIST<STRING NOT NULL> NOT NULL)"
_RANKED = (
    f"WITH DISTINCT n UNWIND keys(n) AS name WITH n, n[name] AS held WHERE {_IS_TEXT.format('held')} "
    "UNWIND ([] + held) AS value WITH n, toLower(value) AS lower WHERE lower CONTAINS $part "
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
    """Return the indexes of a database that find nodes by text; none if the user may not see them."""
    try:
        rows = await connection.rows(_INDEXES)
    except StoreError:
        return []
    # The analyzer "keyword" finds whole values only.
    return [NodeIndex(*row) for *row, options in rows if "keyword" not in options.get("indexConfig", {}).values()]


async def search_existing(
    dialect: ExistingDialect,
    read: ReadRows,
    indexes: list[NodeIndex],
    schema: Schema,
    text: str,
    label: str | None,
    seconds: float,
) -> SearchResult:
    """Return the best matches; stop at the first source with better ones than typing errors."""
    sought, clock = SearchText(text.encode(errors="ignore").decode()), asyncio.get_running_loop().time
    deadline, ranked, used = clock() + seconds, list[tuple[Rank, Row]](), dict[str, None]()
    labels = [node.label for node in schema.nodes] if label is None else [label]
    usable = [index for index in indexes if {*labels} & {*index.labels}]
    covered = sorted({*labels} & {one for index in usable if index.type == "FULLTEXT" for one in index.labels})
    uncovered = [one for one in labels if one not in covered]
    names: dict[str, Any] = {"label": label or "", "whole": label is None, "covered": covered}
    lower = " ".join(sought.text.lower().split())
    pairs = {one[at : at + 2] for one in (lower, sought.folded) for at in range(len(one) - 1)}
    common = {**_LIMITS, "lower": lower, "words": words_of(lower), "pairs": sorted(pairs)}
    scanned = stopped = False
    for source in _sources(sought, usable, uncovered):
        for index, template, own_names, parameters in source:
            used, scanned = (used, True) if index is None else ({**used, index.name: None}, scanned)
            try:
                cypher = render_cypher(template + _RANKED, own_names or names, dialect)
                rows = await read(cypher, {**common, **parameters}, max(0.1, deadline - clock()))
            except QueryLimitError:
                stopped = True
                break
            except StoreError as error:
                if index is None or isinstance(error, StoreAwayError):
                    raise
                indexes[:] = [other for other in indexes if other != index]  # dropped, or the user may not query it
                return await search_existing(dialect, read, indexes, schema, text, label, deadline - clock())
            ranked += [pair for row in rows for pair in _ranked(sought, row, dialect.key_title or KEY)]
        if stopped or any(rank[0] < TYPING_ERRORS for rank, _ in ranked):
            break
    statement = _statement(schema, uncovered) if scanned else ""
    return SearchResult(best_rows(ranked), scanned, stopped, statement, () if scanned or not uncovered else list(used))


Source = list[tuple[NodeIndex | None, str, dict[str, Any], dict[str, Any]]]


def _sources(sought: SearchText, indexes: Sequence[NodeIndex], uncovered: Sequence[str]) -> Iterator[Source]:
    """Yield the sources, the fastest first: queries as index, template, its own names if any, and parameters."""
    query, longest = lucene_query(sought), max(words_of(sought.text), key=len, default="")
    yield [(i, _FULLTEXT, {}, {"index": i.name, "query": query}) for i in indexes if i.type == "FULLTEXT" and query]
    by_letters: Source = []
    for index in indexes:
        has_parts = index.type == "TEXT"
        start = (longest if has_parts else sought.text.strip())[:_START]
        if index.type != "FULLTEXT" and len(index.properties) == 1 and index.labels[0] in uncovered and start:
            names = {"label": index.labels[0], "property": index.properties[0], "contains": has_parts}
            starts = [start, start.lower(), start.upper(), start.capitalize()]
            by_letters.append((index, _RANGE, names, {"starts": starts}))
    yield by_letters
    for part in dict.fromkeys([longest.lower(), ""]) if uncovered else ():
        yield [(None, _SCAN, {}, {"part": part})]


def _ranked(sought: SearchText, row: Row, key_title: str) -> Iterator[tuple[Rank, Row]]:
    """Yield the properties of a candidate that match; `key_title`: of a property `key` that is not the key."""
    for stored, value in row.pop("texts"):
        keys = [value, *(f"{label}:{value}" for label in row["labels"])]
        name = key_title if stored == KEY and row["key"] not in keys else stored
        if rank := sought.rank(name, value):
            yield rank, {n: row[n] for n in ("key", "labels")} | {"property": name, "value": value} | row


def _statement(schema: Schema, labels: Sequence[str]) -> str:
    """Return Cypher that creates a full-text index; "" for nodes without labels."""
    labels = [label for label in labels if label][:_MOST_NAMES]
    properties = [p for node in schema.nodes if node.label in labels for p in node.properties]
    names = dict.fromkeys(_plain(p.name) for p in properties if "text" in p.kinds and p.name != KEY) or ["name"]
    each = ", ".join(f"n.{name}" for name in list(names)[:_MOST_NAMES])
    of = "|".join(map(_plain, labels))
    return f"CREATE FULLTEXT INDEX node_texts FOR (n:{of}) ON EACH [{each}]" if labels else ""


def lucene_query(sought: SearchText) -> str:
    """Return a full-text query for all words; only their letters and digits, in lower case: none is an operator.

    A word may be two in the index: "thematrix".
    """
    clauses = []
    for word in words_of(sought.text.lower())[:_MOST_WORDS]:
        fuzzy = f" {word}~{errors}" if (errors := allowed_errors(word)) else ""
        halves = "".join(f' "{word[:at]} {word[at:]}"' for at in range(2, len(word) - 1))
        clauses.append(f"+({word}^8 *{word}*^2{fuzzy}{halves})")
    return " ".join(clauses)


def _plain(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) else quote(name)
