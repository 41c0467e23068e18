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
from graphwalk.stores.cypher import Dialect, quotable, quote_identifier
from graphwalk.stores.neo4j.connection import Connection
from graphwalk.stores.neo4j.values import as_plain_value

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
        """`:(Person|City)&!(gw_3f2a)`, "" if all nodes are shown."""
        terms = list(self._terms())
        return f":{'&'.join(terms)}" if terms else ""

    @property
    def any_relationship(self) -> str:
        if self.types is None:
            return ""
        return f":{_any_of(self.types)}"

    def label(self, name: str) -> str:
        return "&".join([quote_identifier(name) if name else "!%", *self._terms(name)])

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
            yield f"({_any_of(self.labels)})"
        if self.hidden:
            yield f"!({_any_of(self.hidden)})"

    def _key_of(self, variable: str) -> str:
        """Return Cypher for the key of a node."""
        cases = []
        for label, name in self.uniques:
            value = f"{variable}.{quote_identifier(name)}"
            usable = f"({value} IS :: STRING NOT NULL OR {value} IS :: INTEGER NOT NULL)"
            condition = f"{variable}:{quote_identifier(label)} AND {usable}" if label else usable
            cases.append(f"WHEN {condition} THEN toString({value})")
        id_ = f"elementId({variable})"
        if not cases:
            return id_
        return f"CASE {' '.join(cases)} ELSE {id_} END"

    @cached_property
    def lookup(self) -> str:
        """Return Cypher for the element ids of the nodes with the key `$values`, found by indexes."""
        ways = ["MATCH (n) WHERE elementId(n) IN $values RETURN n"]
        for label, name in self.uniques:
            pattern = f"(n:{quote_identifier(label)})" if label else "(n)"
            ways.append(f"MATCH {pattern} WHERE n.{quote_identifier(name)} IN $values RETURN n")
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
    visible_labels = [label for label in labels if not is_reserved(label) and quotable(label)]
    check_filter("label", chosen_labels, visible_labels)
    check_filter("relationship type", chosen_types, types)
    check_filter("property", None if key is None else [key], properties)

    uniques: dict[str, str] = {}
    if key is not None:
        uniques[""] = key
    else:
        for label, name in sorted(await connection.rows(_CONSTRAINTS)):
            if label in visible_labels and quotable(name):
                uniques.setdefault(label, name)
    return ExistingDialect(
        uniques=tuple(uniques.items()),
        hidden=tuple(label for label in labels if is_reserved(label)),
        labels=None if chosen_labels is None else tuple(sorted(set(chosen_labels))),
        types=None if chosen_types is None else tuple(sorted(set(chosen_types))),
    )


def _any_of(names: Iterable[str]) -> str:
    """Return `A|B`, quoted."""
    return "|".join(quote_identifier(name) for name in names)


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
        branches = []
        for number, pattern in enumerate(patterns):
            branches.append(f"MATCH {pattern} WITH e LIMIT $most RETURN {number} AS number, e")
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
    labels = [label for label in labels if label not in dialect.hidden]
    if dialect.labels is None:
        labels.insert(0, "")  # nodes without labels
    if dialect.types is not None:
        types = [type_ for type_ in types if type_ in dialect.types]

    end = f"({dialect.any_node})"
    rows_of_labels, rows_of_types = await asyncio.gather(
        limited(
            [f"(e:{dialect.label(label)})" if label else _UNLABELLED for label in labels],
            f"[e IN entities[..$samples] | {dialect.key_of('e')}]",
        ),
        limited([f"{end}-[e:{quote_identifier(type_)}]->{end}" for type_ in types], _ENDS),
    )

    node_types = []
    for number, count, rows_of_properties, keys in rows_of_labels:
        properties = [PropertyType(KEY, tuple(sorted(keys)), kinds=("text",))]
        properties.extend(each for each in _properties(rows_of_properties) if each.name != KEY)
        node_types.append(NodeType(labels[number], tuple(properties), count == MOST))
    if _hides_property(rows_of_labels, dialect):
        warnings.warn(f"the keys of nodes hide their property {KEY}; to use it as the key: --key {KEY}", stacklevel=2)

    relationship_types = []
    for number, count, rows_of_properties, ends in rows_of_types:
        properties = _properties(rows_of_properties)
        relationship_types.append(RelationshipType(types[number], _pairs(ends), tuple(properties), count == MOST))
    return Schema(tuple(node_types), tuple(relationship_types), several_labels=True)


def _hides_property(rows_of_labels: Sequence[Sequence[Any]], dialect: ExistingDialect) -> bool:
    """Return True if nodes have a property `key`, and their keys are something else."""
    if any(name == KEY for _, name in dialect.uniques):
        return False
    names: set[str] = set()
    for _, _, rows_of_properties, _ in rows_of_labels:
        names.update(name for name, _, _ in rows_of_properties)
    return KEY in names


def _properties(rows: Iterable[Sequence[Any]]) -> list[PropertyType]:
    """Return properties from rows of name, results of `valueType`, samples: ["born", ["INTEGER NOT NULL"], [1980]]."""
    properties = []
    for name, value_types, values in sorted(rows, key=lambda row: str(row[0])):
        if quotable(name):
            samples = tuple(shown(value) for value in sorted(as_plain_value(values, None), key=value_order))
            kinds = tuple(sorted(_kind(value_type) for value_type in value_types))
            properties.append(PropertyType(name, samples, kinds=kinds))
    return properties


def _pairs(ends: Iterable[tuple[Sequence[str], Sequence[str]]]) -> tuple[tuple[str, str], ...]:
    """Return the pairs of labels at both ends: [["Person", "Actor"], ["Film"]] are two, "" is for no label."""
    pairs: set[tuple[str, str]] = set()
    for sources, targets in ends:
        pairs.update(product(sources or [""], targets or [""]))
    return tuple(sorted(pairs))


def _kind(value_type: str) -> str:
    """Return the kind of a value for a result of `valueType`."""
    kind = value_type.removesuffix(" NOT NULL")
    return "list" if kind.startswith("LIST") else _KINDS.get(kind, kind.lower())
