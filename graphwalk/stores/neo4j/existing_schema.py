"""Names in an existing Neo4j database: keys of nodes, with the Cypher that reads them, and the schema.

The key is the value of the property with a uniqueness constraint, or of the property that the source names, else the
element id. If a label has several such properties, the first by name counts; if a node has several such labels, the
first by name whose property it has. The schema is one query for all labels and one for all types, both with a limit.
"""

import asyncio
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

from graphwalk.config.graph_source import check_filter
from graphwalk.graphs.graph import KEY, is_reserved, value_order
from graphwalk.graphs.schema import NodeType, PropertyType, RelationshipType, Schema
from graphwalk.graphs.values import shown
from graphwalk.stores.cypher import Dialect, quotable, quote
from graphwalk.stores.neo4j.connection import Connection
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
_CONSTRAINTS = (
    "SHOW CONSTRAINTS YIELD entityType, labelsOrTypes, properties, type "
    "WHERE entityType = 'NODE' AND size(labelsOrTypes) = 1 AND size(properties) = 1 "
    "AND (type ENDS WITH 'UNIQUENESS' OR type ENDS WITH 'NODE_KEY') "
    "RETURN labelsOrTypes[0] AS label, properties[0] AS property"
)
ID_OF = "gw_id_of_"
"""Prefix of the parameter with the element ids of the nodes whose key is in another parameter."""
_SOUGHT = re.compile(r"\0(\w+)\0\s*=\s*\$(\w+)")
_KEY = re.compile(r"\0(\w+)\0")


@dataclass(frozen=True)
class ExistingDialect(Dialect):
    """The Cypher dialect of one existing database, in which keys are element ids by default.

    `uniques`: label ("": any) and property of nodes whose key is a value. `hidden`: labels of nodes that are not shown;
    `labels`, `types`: those that are shown, None for all.
    """

    several: bool = True
    uniques: tuple[tuple[str, str], ...] = ()
    hidden: tuple[str, ...] = ()
    labels: tuple[str, ...] | None = None
    types: tuple[str, ...] | None = None

    @property
    def any_node(self) -> str:
        return f":{'&'.join(self._terms())}" if self.labels is not None or self.hidden else ""

    @property
    def any_relationship(self) -> str:
        return "" if self.types is None else ":" + "|".join(map(quote, self.types))

    def label(self, name: str) -> str:
        return "&".join([quote(name) if name else "!%", *self._terms(name)])

    def of(self, name: str, variable: str, label: str | None = None) -> str:
        return self.key_of(variable) if name == KEY else super().of(name, variable, label)

    def key_of(self, variable: str) -> str:
        return f"\0{variable}\0"

    def properties_of(self, variable: str) -> str:
        return f"{variable} {{.*, {KEY}: \0{variable}\0}}"

    def finished(self, cypher: str) -> str:
        """Write out the keys; a comparison of one with `$name` becomes one with the element ids `$gw_id_of_name`."""
        sought = _SOUGHT.sub(rf"elementId(\1) IN ${ID_OF}\2", cypher)
        return _KEY.sub(lambda match: self._key_of(match[1]), sought)

    def _terms(self, label: str | None = None) -> Iterator[str]:
        if self.labels is not None and label not in self.labels:
            yield "(" + "|".join(map(quote, self.labels)) + ")"
        if self.hidden:
            yield "!(" + "|".join(map(quote, self.hidden)) + ")"

    def _key_of(self, variable: str) -> str:
        """Return Cypher for the key of a node."""
        cases = []
        for label, name in self.uniques:
            value = f"{variable}.{quote(name)}"
            usable = f"({value} IS :: STRING NOT NULL OR {value} IS :: INTEGER NOT NULL)"
            condition = f"{variable}:{quote(label)} AND {usable}" if label else usable
            cases.append(f"WHEN {condition} THEN toString({value})")
        id_ = f"elementId({variable})"
        return f"CASE {' '.join(cases)} ELSE {id_} END" if cases else id_

    @cached_property
    def lookup(self) -> str:
        """Return Cypher for the element ids of the nodes with the key `$values`, found by indexes."""
        ways = ["MATCH (n) WHERE elementId(n) IN $values RETURN n"]
        for label, name in self.uniques:
            pattern = f"(n:{quote(label)})" if label else "(n)"
            ways.append(f"MATCH {pattern} WHERE n.{quote(name)} IN $values RETURN n")
        return f"CALL () {{ {' UNION '.join(ways)} }} WITH n WHERE {self._key_of('n')} = $values[0] RETURN elementId(n)"


async def read_dialect(
    connection: Connection,
    chosen_labels: Sequence[str] | None = None,
    chosen_types: Sequence[str] | None = None,
    key: str | None = None,
) -> ExistingDialect:
    """Return the dialect of a database, or of the part of it that has these labels and types.

    `key`: the property that is the key of all nodes that have it. Raise ConfigError for an unknown label, type or
    property, StoreError if the database cannot be read.
    """

    async def column(cypher: str) -> list[str]:
        return sorted(row[0] for row in await connection.rows(cypher))

    labels, types, properties = await asyncio.gather(
        column("CALL db.labels() YIELD label RETURN label"),
        column("CALL db.relationshipTypes() YIELD relationshipType RETURN relationshipType"),
        column("CALL db.propertyKeys() YIELD propertyKey RETURN propertyKey"),
    )
    shown = [label for label in labels if not is_reserved(label) and quotable(label)]
    check_filter("label", chosen_labels, shown)
    check_filter("relationship type", chosen_types, types)
    check_filter("property", None if key is None else [key], properties)
    by_label: dict[str, str] = {} if key is None else {"": key}
    for label, name in [] if key is not None else sorted(await connection.rows(_CONSTRAINTS)):
        if label in shown and quotable(name):
            by_label.setdefault(label, name)
    return ExistingDialect(
        uniques=tuple(by_label.items()),
        hidden=tuple(filter(is_reserved, labels)),
        labels=None if chosen_labels is None else tuple(sorted(set(chosen_labels))),
        types=None if chosen_types is None else tuple(sorted(set(chosen_types))),
    )


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
    named = {name for _, _, properties, _ in nodes for name, _, _ in properties}
    if KEY in named - {name for _, name in dialect.uniques}:
        warnings.warn(f"the keys of nodes hide their property {KEY}; to use it as the key: --key {KEY}", stacklevel=2)
    return Schema(
        tuple(
            NodeType(
                labels[number],
                (
                    PropertyType(KEY, tuple(sorted(keys)), kinds=("text",)),
                    *(one for one in _properties(properties) if one.name != KEY),
                ),
                read == MOST,
            )
            for number, read, properties, keys in nodes
        ),
        tuple(
            RelationshipType(types[number], _pairs(ends), _properties(properties), read == MOST)
            for number, read, properties, ends in relationships
        ),
        several_labels=True,
    )


def _properties(rows: Iterable[Sequence[Any]]) -> tuple[PropertyType, ...]:
    return tuple(
        PropertyType(
            name,
            tuple(map(shown, sorted(plain(values, None), key=value_order))),
            kinds=tuple(sorted(map(_kind, kinds))),
        )
        for name, kinds, values in sorted(rows, key=lambda row: str(row[0]))
        if quotable(name)
    )


def _pairs(ends: Iterable[tuple[Sequence[str], Sequence[str]]]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted({pair for sources, targets in ends for pair in product(sources or [""], targets or [""])}))


def _kind(value_type: str) -> str:
    """Return the kind of a value for a result of `valueType`."""
    kind = value_type.removesuffix(" NOT NULL")
    return "list" if kind.startswith("LIST") else _KINDS.get(kind, kind.lower())
