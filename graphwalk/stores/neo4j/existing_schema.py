"""The schema of an existing Neo4j database: one query for its labels, one for its types, both with a limit."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from graphwalk.graphs.graph import KEY, value_order
from graphwalk.graphs.schema import NodeType, PropertyType, RelationshipType, Schema
from graphwalk.stores.cypher import quotable, quote
from graphwalk.stores.neo4j.connection import Connection
from graphwalk.stores.neo4j.existing_names import ExistingDialect
from graphwalk.stores.neo4j.values import plain

MOST = 1000
"""Nodes of a label, or relationships of a type, whose properties are read."""
SECONDS = 60.0
LONGEST_SAMPLE = 80
_UNLABELLED = "(e) WITH e LIMIT 200000 WHERE e:!%"
_PROPERTIES = (
    "CALL (entities) { UNWIND entities AS e UNWIND keys(e) AS name WITH name, e[name] AS value "
    "WITH name, valueType(value) AS kind, "
    "CASE WHEN value IS :: STRING NOT NULL AND size(value) > $longest OR valueType(value) STARTS WITH 'LIST' "
    "THEN null ELSE value END AS value "
    "WITH name, collect(DISTINCT kind) AS kinds, collect(DISTINCT value)[..$samples] AS values "
    "RETURN collect([name, kinds, values]) AS properties } "
)
_ENDS = "COLLECT { UNWIND entities AS e RETURN DISTINCT [labels(startNode(e)), labels(endNode(e))] }"
_KINDS = {"STRING": "text", "ZONED DATETIME": "datetime", "ZONED TIME": "time"}


async def read_schema(connection: Connection, dialect: ExistingDialect, samples: int) -> Schema:
    """Return labels, types and properties of what the dialect shows, with up to `samples` values per property.

    Raise StoreError if the database cannot be read.
    """

    async def names(query: str) -> list[str]:
        return sorted(name for (name,) in await connection.rows(query) if quotable(name))

    async def limited(patterns: Sequence[str], columns: str) -> list[list[Any]]:
        """Return the rows of the patterns that match: number, how many were read, properties, further columns."""
        if not patterns:
            return []
        branches = (f"MATCH {p} WITH e LIMIT $most RETURN {i} AS number, e" for i, p in enumerate(patterns))
        query = (
            f"CALL () {{ {' UNION ALL '.join(branches)} }} WITH number, collect(e) AS entities {_PROPERTIES}"
            f"RETURN number, size(entities), properties, {columns} ORDER BY number"
        )
        parameters = {"most": MOST, "longest": LONGEST_SAMPLE, "samples": samples}
        return await connection.rows(dialect.finished(query), SECONDS, **parameters)

    labels, types = await asyncio.gather(
        names("CALL db.labels() YIELD label RETURN label"),
        names("CALL db.relationshipTypes() YIELD relationshipType RETURN relationshipType"),
    )
    labels = [*([""] if dialect.labels is None else []), *(label for label in labels if label not in dialect.hidden)]
    types = [type_ for type_ in types if dialect.types is None or type_ in dialect.types]
    end = f"({dialect.any_node})"
    nodes, relationships = await asyncio.gather(
        limited(
            [f"(e:{dialect.label(label)})" if label else _UNLABELLED for label in labels],
            f"[e IN entities[..$samples] | {dialect.key_of('e')}]",
        ),
        limited([f"{end}-[e:{quote(type_)}]->{end}" for type_ in types], _ENDS),
    )
    return Schema(
        tuple(
            NodeType(labels[number], _with_key(labels[number], properties, keys, dialect), read == MOST)
            for number, read, properties, keys in nodes
        ),
        tuple(
            RelationshipType(types[number], _pairs(ends), _properties(properties), read == MOST)
            for number, read, properties, ends in relationships
        ),
        several_labels=True,
        lists=True,
    )


def _with_key(
    label: str, rows: Iterable[Sequence[Any]], keys: Iterable[str], dialect: ExistingDialect
) -> tuple[PropertyType, ...]:
    """Return the key and the properties; a property called `key` has another name, unless it is the key."""
    is_key = any(owner in ("", label) and name == KEY for owner, name in dialect.uniques)
    title = None if is_key else dialect.key_title
    others = [replace(p, name=title) if p.name == KEY and title else p for p in _properties(rows)]
    return PropertyType(KEY, tuple(sorted(keys)), kinds=("text",)), *(p for p in others if p.name != KEY)


def _properties(rows: Iterable[Sequence[Any]]) -> tuple[PropertyType, ...]:
    return tuple(
        PropertyType(name, tuple(sorted(plain(values, None), key=value_order)), kinds=tuple(sorted(map(_kind, kinds))))
        for name, kinds, values in sorted(rows, key=lambda row: str(row[0]))
        if quotable(name)
    )


def _pairs(ends: Iterable[tuple[Sequence[str], Sequence[str]]]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted({pair for sources, targets in ends for pair in product(sources or [""], targets or [""])}))


def _kind(value_type: str) -> str:
    """Return the kind of a value for a result of `valueType`."""
    kind = value_type.removesuffix(" NOT NULL")
    return "list" if kind.startswith("LIST") else _KINDS.get(kind, kind.lower())
