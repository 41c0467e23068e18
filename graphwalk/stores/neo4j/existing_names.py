"""Keys of nodes in an existing Neo4j database, and the Cypher that reads them.

The key is the value of a property with a uniqueness constraint, else the element id. If a label has several such
properties, a node key comes first, then text, then the name. If a node has several such labels, the first by name
whose property it has counts. Only text of up to `LONGEST` characters that does not begin with # and integers are used.

    Person.name is unique             Ida                       the value
    Person.name and Film.title are    Ida, or Person:Ida        with the label if two nodes would share a key
    no property is                    17, or #17                the last part of the element id; with # if other keys
                                                                are values without a label
"""

import asyncio
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, count, groupby

from graphwalk.config.graph_source import check_filter
from graphwalk.errors import ConfigError
from graphwalk.graphs.text import literal
from graphwalk.stores.cypher import Dialect, quote
from graphwalk.stores.neo4j.connection import Connection
from graphwalk.types.graph import KEY, is_reserved

LONGEST = 200
"""Characters of a text that can be a key."""
MOST_COMPARED = 200_000
"""Number of nodes above which keys carry their label without a search for duplicates."""
ID_MARK = "#"
"""Prefix of keys that are element ids, where other keys are values; no text that begins so is a key."""
_PREFIX = re.compile(r"\d+:[0-9a-f-]+:")
_CONSTRAINTS = (
    "SHOW CONSTRAINTS YIELD entityType, labelsOrTypes, properties, type "
    "WHERE entityType = 'NODE' AND size(labelsOrTypes) = 1 AND size(properties) = 1 "
    "AND (type ENDS WITH 'UNIQUENESS' OR type ENDS WITH 'NODE_KEY') "
    "RETURN labelsOrTypes[0] AS label, properties[0] AS property, type"
)
ID_OF = "gw_id_of_"
"""Prefix of the parameter with the element id of the node whose key is in another parameter."""
_SOUGHT = re.compile(r"\0(\w+)\0\s*=\s*\$(\w+)")
_KEY = re.compile(r"\0(\w+)\0")


@dataclass(frozen=True, slots=True)
class UniqueProperty:
    """A property that is the key of the nodes with one of `labels`; `numbers`: its values are integers, else texts."""

    labels: tuple[str, ...]
    property: str
    numbers: bool

    def has(self, variable: str) -> str:
        """Return Cypher that is true if this property is the key of a node."""
        value = f"{variable}.{quote(self.property)}"
        label = f"{variable}:{'|'.join(map(quote, self.labels))}"
        if self.numbers:
            return f"{label} AND {value} IS :: INTEGER NOT NULL"
        text = f"{value} IS :: STRING NOT NULL AND {value} <> '' AND size({value}) <= {LONGEST}"
        return f"{label} AND {text} AND NOT {value} STARTS WITH '{ID_MARK}'"

    def value(self, variable: str) -> str:
        """Return Cypher for the key, without a label."""
        value = f"{variable}.{quote(self.property)}"
        return f"toString({value})" if self.numbers else value


@dataclass(frozen=True)
class ExistingDialect(Dialect):
    """The Cypher dialect of one existing database, in which keys are element ids by default.

    `uniques`: properties that are keys; `labelled`: such a key carries its label. `prefix`: of all element ids, "" if
    unknown; `mark`: the prefix of a key that is an element id. `hidden`: labels of nodes that are not shown; `labels`
    and `types`: those that are shown, None for all. `key_title`: the name under which a property called `key` is
    shown; None if there is none.
    """

    several: bool = True
    uniques: tuple[UniqueProperty, ...] = ()
    labelled: bool = False
    prefix: str = ""
    mark: str = ""
    hidden: tuple[str, ...] = ()
    labels: tuple[str, ...] | None = None
    types: tuple[str, ...] | None = None
    key_title: str | None = None

    @property
    def any_node(self) -> str:
        return f":{'&'.join(self._terms())}" if self.labels is not None or self.hidden else ""

    @property
    def any_relationship(self) -> str:
        return "" if self.types is None else ":" + "|".join(map(quote, self.types))

    def label(self, name: str) -> str:
        return "&".join([self.label_name(name), *self._terms(name)])

    def label_name(self, name: str) -> str:
        return quote(name) if name else "!%"

    def property(self, name: str) -> str:
        return quote(KEY if name == self.key_title else name)

    def type(self, name: str) -> str:
        """Return the type; one that is filtered out becomes an expression that matches nothing."""
        return quote(name) if self.types is None or name in self.types else f"{quote(name)}&!{quote(name)}"

    def value_of(self, variable: str, name: str, label: str | None = None) -> str:
        if name == KEY:
            return f"\0{variable}\0"
        return f"{variable}.{self.property(name)}"

    def key_of(self, variable: str) -> str:
        return f"\0{variable}\0"

    def properties_of(self, variable: str) -> str:
        key = f"{quote(KEY)}: \0{variable}\0"
        if self.key_title is None:
            return f"{variable} {{.*, {key}}}"
        named = [f"({unique.has(variable)})" for unique in self.uniques if unique.property == KEY]
        no_other = " OR ".join([f"{variable}.{quote(KEY)} IS NULL", *named])
        other = f"{quote(self.key_title)}: {variable}.{quote(KEY)}"
        return f"CASE WHEN {no_other} THEN {variable} {{.*, {key}}} ELSE {variable} {{.*, {other}, {key}}} END"

    def finished(self, cypher: str) -> str:
        """Write out the keys; a comparison of one with `$name` becomes one with the element id `$gw_id_of_name`."""
        sought = _SOUGHT.sub(rf"elementId(\1) = ${ID_OF}\2", cypher)
        return _KEY.sub(lambda match: self._key_of(match[1]), sought)

    def unique_property(self, labels: Sequence[str], key: str) -> tuple[str, str, str | int] | None:
        """Return label, property and value that find a node by the index of a constraint; None if its key is an id."""
        if key.startswith(self.mark) and key[len(self.mark) :].isdecimal():
            return None
        for label, unique in self._by_label():
            before = f"{label}:" if self.labelled else ""
            if label in labels and key.startswith(before):
                text = key[len(before) :]
                return label, unique.property, int(text) if unique.numbers else text
        return None

    def _by_label(self) -> Iterator[tuple[str, UniqueProperty]]:
        return ((label, unique) for unique in self.uniques for label in unique.labels)

    def _terms(self, label: str | None = None) -> Iterator[str]:
        if self.labels is not None and label not in self.labels:
            yield "(" + "|".join(map(quote, self.labels)) + ")"
        if self.hidden:
            yield "!(" + "|".join(map(quote, self.hidden)) + ")"

    def _key_of(self, variable: str) -> str:
        """Return Cypher for the key of a node."""
        cases = []
        for unique in self.uniques:
            before = ""
            if self.labelled:
                labels = ", ".join(map(literal, unique.labels))
                before = f"head([name IN [{labels}] WHERE name IN labels({variable})]) + ':' + "
            cases.append(f"WHEN {unique.has(variable)} THEN {before}{unique.value(variable)}")
        id_ = f"elementId({variable})"
        if self.mark != self.prefix:
            id_ = f"{literal(self.mark)} + substring({id_}, {len(self.prefix)})"
        return f"CASE {' '.join(cases)} ELSE {id_} END" if cases else id_

    @cached_property
    def lookup(self) -> str:
        """Return Cypher for the element id of the node with the key `$text`, found by an index."""
        id_ = "$text"
        if self.mark != self.prefix:
            id_ = f"{literal(self.prefix)} + substring($text, {len(self.mark)})"
        ways = [f"MATCH (n) WHERE elementId(n) = {id_} RETURN n"]
        for label, unique in self._by_label():
            text, before = "$text", label + ":"
            if self.labelled:
                text = f"CASE WHEN $text STARTS WITH {literal(before)} THEN substring($text, {len(before)}) END"
            # In a form that uses the index.
            value = f"toInteger({text})" if unique.numbers else text
            ways.append(f"MATCH (n:{quote(label)}) WHERE n.{quote(unique.property)} = {value} RETURN n")
        return (
            f"CALL () {{ {' UNION '.join(ways)} }} WITH n WHERE {self._key_of('n')} = $text RETURN elementId(n) AS id"
        )


async def read_dialect(
    connection: Connection, chosen_labels: Sequence[str] | None = None, chosen_types: Sequence[str] | None = None
) -> ExistingDialect:
    """Return the dialect of a database, or of the part of it that has these labels and types.

    Raise ConfigError for an unknown label or type, StoreError if the database cannot be read.
    """

    async def column(cypher: str) -> list[str]:
        return sorted(row[0] for row in await connection.rows(cypher))

    labels, types, keys = await asyncio.gather(
        column("CALL db.labels() YIELD label RETURN label"),
        column("CALL db.relationshipTypes() YIELD relationshipType RETURN relationshipType"),
        column("CALL db.propertyKeys() YIELD propertyKey RETURN propertyKey"),
    )
    shown = [label for label in labels if not is_reserved(label) and writable(label)]
    check_filter("label", chosen_labels, shown)
    check_filter("relationship type", chosen_types, types)
    uniques = await _read_uniques(connection, shown)
    rows = await connection.rows("MATCH (n) RETURN elementId(n) LIMIT 1")
    id_ = _PREFIX.match(rows[0][0]) if rows else None
    prefix = id_[0] if id_ else ""
    labelled = sum(len(unique.labels) for unique in uniques) > 1 and await _has_equal_keys(connection, uniques)
    return ExistingDialect(
        uniques=uniques,
        labelled=labelled,
        prefix=prefix,
        mark=ID_MARK if prefix and uniques and not labelled else "",
        hidden=tuple(filter(is_reserved, labels)),
        labels=None if chosen_labels is None else tuple(sorted(set(chosen_labels))),
        types=None if chosen_types is None else tuple(sorted(set(chosen_types))),
        key_title=next(t for n in count(1) if (t := KEY + n * "_") not in keys) if KEY in keys else None,
    )


async def _read_uniques(connection: Connection, labels: Sequence[str]) -> tuple[UniqueProperty, ...]:
    """Return the properties that are keys by the constraints and the content of a database with these labels.

    In the order of their labels; neighbours with the same property are one, since servers take long to plan many cases.
    """
    node_keys: dict[tuple[str, str], bool] = {}
    for label, name, kind in await connection.rows(_CONSTRAINTS):
        if label in labels and ":" not in label and writable(name):
            node_keys[label, name] = node_keys.get((label, name), False) or kind.endswith("NODE_KEY")

    async def ranked(label: str, name: str) -> list[tuple[str, bool, bool, str]]:
        """Return the property with its rank, if it holds text or numbers."""
        match = f"MATCH (n:{quote(label)}) WHERE n.{quote(name)}"
        exist = f"RETURN EXISTS {{ {match} >= '' }} AS text, EXISTS {{ {match} >= $least }} AS number"
        [[text, number]] = await connection.rows(exist, least=float("-inf"))
        return [(label, not node_keys[label, name], not text, name)] if text or number else []

    by_rank = sorted(chain(*await asyncio.gather(*(ranked(*pair) for pair in node_keys))))
    best = {label: (name, numbers) for label, _, numbers, name in reversed(by_rank)}
    return tuple(UniqueProperty(tuple(group), *held) for held, group in groupby(sorted(best), key=best.__getitem__))


async def _has_equal_keys(connection: Connection, uniques: Sequence[UniqueProperty]) -> bool:
    """Return True if two nodes would have the same key, and if there are too many nodes to search."""
    counts = " + ".join(f"COUNT {{ (:{quote(label)}) }}" for unique in uniques for label in unique.labels)
    [[count]] = await connection.rows(f"RETURN {counts}")
    if count > MOST_COMPARED:
        return True
    parts = " UNION ALL ".join(
        f"MATCH (n) WHERE {unique.has('n')} RETURN {unique.value('n')} AS name, elementId(n) AS id"
        for unique in uniques
    )
    twice = "WITH name, min(id) AS one, max(id) AS other WHERE one <> other RETURN name LIMIT 1"
    return bool(await connection.rows(f"CALL () {{ {parts} }} {twice}"))


def writable(name: str) -> bool:
    """Return True for a name that a query can contain."""
    try:
        quote(name)
    except ConfigError:
        return False
    return True
