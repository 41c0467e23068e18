"""An existing Neo4j database, read-only and without the graphs that GraphWalk loaded.

The server chooses the candidates of a search, by its full-text indexes or else by a scan; they are ranked here as on
every other store.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import date, datetime, time
from typing import Any

from graphwalk.config.graph_source import GraphSource
from graphwalk.errors import QueryLimitError, StoreError
from graphwalk.graphs.graph import KEY, Node, PropertyGraph, Relationship
from graphwalk.graphs.schema import Schema
from graphwalk.graphs.values import Row, Temporal, Value, shown, shown_rows, temporal_of
from graphwalk.stores.base import Closing, GraphStore
from graphwalk.stores.neo4j.connection import Connection, connect
from graphwalk.stores.neo4j.existing_schema import ID_OF, ExistingDialect, read_dialect, read_schema
from graphwalk.stores.neo4j.values import SCALARS, as_plain_value
from graphwalk.stores.search import (
    MOST_SCANNED,
    Rank,
    SearchResult,
    SearchText,
    allowed_errors,
    best_rows,
    words_of,
)
from graphwalk.variables import Variables

READING_SECONDS = 600.0
"""For a query that reads all nodes or all relationships."""
_NODES = "MATCH (n{{ any_node }}) RETURN elementId(n), {{ 'n' | key_of }} AS key, labels(n), properties(n)"
_RELATIONSHIPS = (
    "MATCH (a{{ any_node }})-[r{{ any_relationship }}]->(b{{ any_node }}) "
    "RETURN elementId(r), elementId(a), type(r), elementId(b), properties(r)"
)
_LOOKED_UP = re.compile(rf"\${ID_OF}(\w+)")
_MOST_RANKED = 50
"""Candidates of a search that are ranked here."""
_MOST_WORDS = 10  # each may become fifty terms, and Lucene takes 1,024
_INDEXES = (
    "SHOW INDEXES YIELD name, type, state, entityType, labelsOrTypes "
    "WHERE entityType = 'NODE' AND state = 'ONLINE' AND type = 'FULLTEXT' RETURN name, labelsOrTypes"
)
_INDEXED = "UNWIND $indexes AS index CALL db.index.fulltext.queryNodes(index, $query, {limit: 1000}) YIELD node AS n "
_IS_TEXT = "({0} IS :: STRING NOT NULL OR {0} IS :: LIST<STRING NOT NULL> NOT NULL)"
_RANKED = (
    f"WITH DISTINCT n LIMIT $scanned UNWIND keys(n) AS name WITH n, n[name] AS held WHERE {_IS_TEXT.format('held')} "
    "UNWIND ([] + held) AS value WITH n, toLower(value) AS lower "
    "WITH n, max(CASE WHEN lower = $lower THEN 4 WHEN lower STARTS WITH $lower THEN 3 "
    "WHEN lower CONTAINS $lower OR all(word IN $words WHERE lower CONTAINS word) THEN 2 ELSE 0 END "
    "+ 2.0 * size([pair IN $pairs WHERE lower CONTAINS pair]) / (size($pairs) + size(lower) + 1)) AS score "
    "WHERE score > 0 WITH n, score ORDER BY score DESC LIMIT $ranked "
    "RETURN {{ 'n' | key_of }} AS key, {{ 'n' | labels_of }} AS labels, "
    f"[name IN keys(n) WHERE {_IS_TEXT.format('n[name]')} | [name, n[name]]] AS texts, "
    "COUNT { (n)-[{{ any_relationship }}]-({{ any_node }}) } AS relationships"
)
"""The best candidates: whole matches, then those that share pairs of letters (the coefficient of Dice)."""


class ExistingStore(Closing, GraphStore):
    """One database of a server, or a part of it. Every query runs in READ mode, in which the server refuses writes."""

    kind = "neo4j"

    def __init__(self, connection: Connection, dialect: ExistingDialect, timeout_seconds: float) -> None:
        self.connection = connection
        self.dialect: ExistingDialect = dialect
        self._timeout_seconds = timeout_seconds

    @classmethod
    async def open(cls, source: GraphSource, variables: Variables, *, timeout_seconds: float = 30.0) -> "ExistingStore":
        """Open the database `source.neo4j` of the server at NEO4J_URI, or of the one that `db up` started.

        Raise ConfigError for a filter with an unknown label or type; StoreError if the server cannot be reached,
        refuses the password or has no such database.
        """
        connection = await connect(variables, database=source.neo4j)
        try:
            dialect = await read_dialect(connection, source.labels, source.relationship_types, source.key)
            return cls(connection, dialect, timeout_seconds)
        except BaseException:
            await connection.close()
            raise

    async def close(self) -> None:
        await self.connection.close()

    async def run(self, cypher: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
        return shown_rows(await self.rows_within(cypher, parameters or {}, self._timeout_seconds))

    async def rows_within(
        self, cypher: str, parameters: Mapping[str, Any], seconds: float, most: int | None = None
    ) -> list[Row]:
        """Return at most `most` rows of a query; keys among the parameters are looked up first."""
        native_values = {name: shown(value) for name, value in parameters.items()}
        for name in set(_LOOKED_UP.findall(cypher)):
            # The key "42" may be the number 42 in the database.
            key = str(parameters[name])
            keys: list[str | int] = [key]
            if re.fullmatch(r"-?\d{1,18}", key, re.ASCII):
                keys.append(int(key))
            nodes = await self.connection.rows(self.dialect.lookup, self._timeout_seconds, values=keys)
            native_values[ID_OF + name] = [node[0] for node in nodes]

        for name, value in parameters.items():
            if isinstance(value, Temporal):
                # $born → localdatetime($born)
                function = value.kind.replace(" ", "")
                cypher = re.sub(rf"\${name}\b", f"{function}(${name})", cypher)
                continue
            moment = _time_shown(value)
            if moment is not None:
                # n.born = $born → n.born IN [$born, $born_as_time]: a text, or the date that is shown as this text
                cypher = re.sub(rf"= \${name}\b", f"IN [${name}, ${name}_as_time]", cypher)
                native_values[f"{name}_as_time"] = moment

        rows = []
        for names, values in await self.connection.read(cypher, native_values, seconds, most):
            # A query may have a million values: those that need no conversion cost no call.
            plain_values = [value if value.__class__ in SCALARS else as_plain_value(value, None) for value in values]
            rows.append(dict(zip(names, plain_values, strict=True)))
        return rows

    async def schema(self, samples: int = 0) -> Schema:
        if samples not in self._schemas:
            schema = await read_schema(self.connection, self.dialect, samples)
            self._schemas = {**self._schemas, samples: schema}
        return self._schemas[samples]

    async def first(
        self, cypher: str, parameters: Mapping[str, Any], *, rows: int, seconds: float
    ) -> tuple[list[Row], int | None]:
        # One row more tells whether there are more.
        first_rows = await self.rows_within(cypher, parameters, min(seconds, self._timeout_seconds), rows + 1)
        total = len(first_rows) if len(first_rows) <= rows else None
        return shown_rows(first_rows[:rows]), total

    async def search(self, text: str, label: str | None = None, seconds: float | None = None) -> SearchResult:
        """See `GraphStore`. Full-text indexes of the database are used, else the texts of its nodes are read."""
        indexes = await self.connection.rows(_INDEXES)
        usable = [name for name, labels in indexes if label is None or label in labels]
        sought = SearchText(text.encode(errors="ignore").decode())
        lower = " ".join(sought.text.lower().split())
        pairs = _pairs_of_letters(lower) | _pairs_of_letters(sought.folded)
        parameters = {
            "indexes": usable,
            "query": lucene_query(sought),
            "scanned": MOST_SCANNED,
            "ranked": _MOST_RANKED,
            "lower": lower,
            "words": words_of(lower),
            "pairs": sorted(pairs),
        }
        if usable and not parameters["query"]:
            return SearchResult([], indexes=usable)
        nodes = "MATCH (n{{ any_node }}) " if label is None else "MATCH (n:{{ label | label }}) "
        cypher = self.render((_INDEXED if usable else "") + nodes + _RANKED, {"label": label})
        try:
            limit = min(seconds or self._timeout_seconds, self._timeout_seconds)
            rows = await self.rows_within(cypher, parameters, limit)
        except QueryLimitError:
            return SearchResult([], not usable, stopped=True, indexes=usable)
        ranked: list[tuple[Rank, Row]] = []
        for row in rows:
            ranked.extend(_matches(sought, row))
        return SearchResult(best_rows(ranked), not usable, indexes=usable)

    async def read_graph(self) -> PropertyGraph:
        """See `GraphStore`. The same database gives the same graph."""
        nodes = []
        keys = {}
        for element_id, key, labels, properties in await self._in_order(_NODES):
            nodes.append(Node(key, tuple(sorted(labels)), _values(properties)))
            keys[element_id] = key

        relationships = []
        for _, source, type_, target, properties in await self._in_order(_RELATIONSHIPS):
            # A node may have come between the two queries.
            if source in keys and target in keys:
                relationships.append(Relationship(type_, keys[source], keys[target], _values(properties)))
        try:
            return PropertyGraph.from_rows(nodes, relationships)
        except ValueError as error:
            raise StoreError(str(error), hint="choose a property that is unique: --key PROPERTY") from error

    async def _in_order(self, query: str) -> list[list[Any]]:
        """Return the rows of a query in the order of their element ids."""
        records = await self.connection.rows(self.render(query, {}), READING_SECONDS)
        return sorted(records, key=lambda record: _number(record[0]))

    async def drop(self) -> None:
        """Do nothing: the graph is not ours."""


def _number(element_id: str) -> tuple[int, str]:
    """Sort key of element ids: "4:DATABASE:NUMBER", or as text if they have another form."""
    last = element_id.rpartition(":")[2]
    return (int(last) if last.isdecimal() else 0, element_id)


def _values(properties: Mapping[str, Any]) -> dict[str, Value]:
    values = {}
    for name, value in sorted(properties.items()):
        if name != KEY:
            plain_value = as_plain_value(value, None)
            values[name] = tuple(plain_value) if isinstance(plain_value, list) else plain_value
    return values


def _pairs_of_letters(text: str) -> set[str]:
    """Return "id", "da" of "ida"."""
    return {text[at : at + 2] for at in range(len(text) - 1)}


def _time_shown(text: Any) -> date | time | None:
    """Return the date or time that tools show as this text."""
    for read in (date.fromisoformat, datetime.fromisoformat, time.fromisoformat):
        with suppress(ValueError, TypeError):
            if temporal_of(read(text)).text == text:
                return read(text)
    return None


def _matches(sought: SearchText, row: Row) -> Iterator[tuple[Rank, Row]]:
    """Yield the properties of a candidate that match."""
    for name, value in row.pop("texts"):
        # A property `key` of the database is hidden by the key of the node.
        is_visible = name != KEY or row["key"] == value
        rank = sought.rank(name, value) if is_visible else None
        if rank:
            match = {"key": row["key"], "labels": row["labels"], "property": name, "value": value}
            yield rank, match | row


def lucene_query(sought: SearchText) -> str:
    """Return a full-text query for all words; only their letters and digits, in lower case: none is an operator."""
    clauses = []
    for word in words_of(sought.text.lower())[:_MOST_WORDS]:
        # +(ida^8 *ida*^2), +(brandt^8 *brandt*^2 brandt~1)
        errors = allowed_errors(word)
        fuzzy = f" {word}~{errors}" if errors else ""
        clauses.append(f"+({word}^8 *{word}*^2{fuzzy})")
    return " ".join(clauses)
