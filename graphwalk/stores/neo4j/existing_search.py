"""Search for nodes by text in an existing Neo4j: by its full-text indexes, else by other indexes, else by a scan.

The server chooses candidates, which are ranked here as on every other store. Every query runs in READ mode.
"""

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from graphwalk.errors import QueryLimitError, StoreAwayError, StoreError
from graphwalk.stores.cypher import quote
from graphwalk.stores.neo4j.connection import Connection
from graphwalk.stores.search import MATCHES, Rank, SearchResult, SearchText, allowed_errors, best_rows, words_of
from graphwalk.types.graph import KEY
from graphwalk.types.schema import Schema
from graphwalk.types.values import Row

if TYPE_CHECKING:
    from graphwalk.stores.neo4j.existing import ExistingStore

MOST_CANDIDATES = 50
_MOST_NODES = 200
"""Nodes that one full-text query gives."""
_MOST_WORDS = 10
"""Words of a full-text query: each may stand for fifty terms, and Lucene takes 1,024."""
_MOST_NAMES = 12
"""Labels and properties of an index that is recommended."""
_START = 3
"""Letters by which an index of a property finds candidates."""
_SHORTEST_TIME = 0.1
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
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
    "WITH DISTINCT n UNWIND keys(n) AS name WITH n, name, n[name] AS held "
    f"WHERE ($property IS NULL OR name = $property) AND {_IS_TEXT.format('held')} "
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
_TYPING_ERRORS = MATCHES.index("typing errors")


class NodeIndex(NamedTuple):
    """An index of the database."""

    name: str
    type: str
    labels: Sequence[str]
    properties: Sequence[str]


async def read_indexes(connection: Connection) -> list[NodeIndex]:
    """Return the indexes of a database that find nodes by text; none if the user may not see them."""
    try:
        rows = await connection.rows(_INDEXES)
    except StoreAwayError:
        raise
    except StoreError:
        return []
    # The analyzer "keyword" finds whole values only.
    return [
        NodeIndex(name, type_, labels, properties)
        for name, type_, labels, properties, options in rows
        if options.get("indexConfig", {}).get("fulltext.analyzer") != "keyword"
    ]


class ExistingSearch:
    """One search: in all nodes or those of a label, by all properties or one."""

    def __init__(
        self, store: "ExistingStore", indexes: list[NodeIndex], schema: Schema, label: str | None, name: str | None
    ) -> None:
        self._store, self._indexes, self._schema = store, indexes, schema
        self._label, self._name = label, name
        self._property = None if name == KEY else KEY if name == store.dialect.key_title else name
        """The stored name; None: any, as a key may be a value of several."""
        labels = [node.label for node in schema.nodes] if label is None else [label]
        usable = [i for i in indexes if {*labels} & {*i.labels} and self._property in (None, *i.properties)]
        self._fulltext = [index for index in usable if index.type == "FULLTEXT"]
        self._covered = sorted({*labels} & {label for index in self._fulltext for label in index.labels})
        self._uncovered = [label for label in labels if label not in self._covered]
        self._others = [
            i for i in usable if i.type != "FULLTEXT" and len(i.properties) == 1 and i.labels[0] in self._uncovered
        ]

    async def search(self, text: str, most: int, seconds: float) -> SearchResult:
        """Return the best matches; stop at the first source with better ones than typing errors."""
        sought, clock = SearchText(text), asyncio.get_running_loop().time
        deadline, ranked, used = clock() + seconds, list[tuple[Rank, Row]](), dict[str, None]()
        scanned = stopped = False
        for source in self._sources(sought):
            for index, template, parameters in source:
                scanned = scanned or index is None
                used |= {} if index is None else {index.name: None}
                try:
                    ranked += await self._candidates(sought, index, template, parameters, deadline - clock())
                except QueryLimitError:
                    stopped = True
                except StoreAwayError:
                    raise
                except StoreError:
                    if index is None:
                        raise
                    self._indexes.remove(index)  # it was dropped, or the user may not query it
                    again = ExistingSearch(self._store, self._indexes, self._schema, self._label, self._name)
                    return await again.search(text, most, deadline - clock())
            if stopped or any(rank[0] < _TYPING_ERRORS for rank, _ in ranked):
                break
        rows = best_rows(ranked, most)
        if scanned:
            return SearchResult(rows, True, stopped, self._statement())
        return SearchResult(rows, False, stopped, indexes=list(used) if self._uncovered else ())

    def _sources(self, sought: SearchText) -> Iterator[list[tuple[NodeIndex | None, str, dict[str, Any]]]]:
        """Yield the sources, the fastest first: each a list of queries."""
        query = lucene_query(sought)
        yield [(index, _FULLTEXT, {"index": index.name, "query": query}) for index in self._fulltext if query]
        longest = max(words_of(sought.text.lower()), key=len, default="")
        by_range = []
        for index in self._others:
            start = (longest if index.type == "TEXT" else sought.text.strip())[:_START]
            starts = list(dict.fromkeys([start, start.lower(), start.upper(), start.capitalize()]))
            by_range.append((index, _RANGE, {"starts": starts}))
        yield by_range if sought.text.strip() else []
        if self._uncovered:
            yield [(None, _SCAN, {"part": longest})]
            yield [(None, _SCAN, {})] if longest else []

    async def _candidates(
        self,
        sought: SearchText,
        index: NodeIndex | None,
        template: str,
        parameters: Mapping[str, Any],
        seconds: float,
    ) -> list[tuple[Rank, Row]]:
        """Return the nodes of one query that match, ranked."""
        lower = " ".join(sought.text.lower().split())
        spellings = {lower, sought.folded}
        pairs = sorted({text[at : at + 2] for text in spellings for at in range(len(text) - 1)})
        common = {"lower": lower, "words": words_of(lower), "pairs": pairs, "part": "", "property": self._property}
        limits = {"nodes": _MOST_NODES, "candidates": MOST_CANDIDATES}
        names: dict[str, Any] = {"label": self._label or "", "whole": self._label is None, "covered": self._covered}
        if index is not None and index.type != "FULLTEXT":
            names = {"label": index.labels[0], "property": index.properties[0], "contains": index.type == "TEXT"}
        cypher = self._store.render(template + _RANKED, names)
        rows = await self._store.rows_within(cypher, {**common, **limits, **parameters}, max(_SHORTEST_TIME, seconds))
        return [pair for row in rows for pair in self._ranked(sought, row)]

    def _ranked(self, sought: SearchText, row: Row) -> Iterator[tuple[Rank, Row]]:
        """Yield the properties of a candidate that match."""
        texts = row.pop("texts")
        relationships = row.pop("relationships")
        for stored, value in texts:
            is_key = isinstance(value, str) and row["key"] in (value, *(f"{label}:{value}" for label in row["labels"]))
            name = (KEY if is_key else self._store.dialect.key_title or KEY) if stored == KEY else stored
            if (self._name is None or name == self._name or (self._name == KEY and is_key)) and (
                rank := sought.rank(name, value)
            ):
                yield rank, {**row, "property": name, "value": value, "relationships": relationships}

    def _statement(self) -> str:
        """Return Cypher that creates a full-text index of what was scanned; "" for nodes without labels."""
        labels = [label for label in self._uncovered if label][:_MOST_NAMES]
        nodes = [node for node in self._schema.nodes if node.label in labels]
        names = {p.name: None for node in nodes for p in node.properties if "text" in p.kinds and p.name != KEY}
        each = [f"n.{_plain(name)}" for name in list(names)[:_MOST_NAMES] or ["name"]]
        of = "|".join(map(_plain, labels))
        return f"CREATE FULLTEXT INDEX node_texts FOR (n:{of}) ON EACH [{', '.join(each)}]" if labels else ""


def lucene_query(sought: SearchText) -> str:
    """Return a full-text query for nodes with all words of a text, "" without words.

    A word is found whole, as a part, or with typing errors. Only letters and digits are sent, in lower case, so that
    nothing in the text is an operator of Lucene.
    """
    terms = []
    for word in words_of(sought.text.lower())[:_MOST_WORDS]:
        errors = allowed_errors(word)
        terms.append(f"+({word}^8 *{word}*^2{f' {word}~{errors}' if errors else ''})")
    return " ".join(terms)


def _plain(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else quote(name)
