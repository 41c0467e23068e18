"""Keys of nodes in an existing Neo4j database, and the Cypher that reads them.

The key is the value of a property with a uniqueness constraint, else the element id. If a label has several such
properties, a node key comes first, then text, then the name. If a node has several such labels, the first by name
whose property it has counts. Only text of up to `LONGEST` characters and integers are used.

    Person.name is unique             Ida                       the value
    Person.name and Film.title are    Ida, or Person:Ida        with the label if two nodes would share a key
    no property is                    17, #17 or 4:…:17         the last part of the element id; with # if it could
                                                                be taken for a value, in full if that could too
"""

import asyncio
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, count, groupby

from graphwalk.config.graph_source import check_filter
from graphwalk.errors import ConfigError
from graphwalk.stores.cypher import Dialect, quote
from graphwalk.stores.neo4j.connection import Connection
from graphwalk.types.graph import KEY, is_reserved

LONGEST = 200
"""Characters of a text that can be a key."""
MOST_COMPARED = 200_000
"""Number of nodes above which keys carry their label without a search for duplicates."""
MOST_LOOKED_AT = 20_000
"""Values of one property that are searched for texts that look like element ids."""
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
    """A property that is the key of the nodes with `label`; `numbers`: its values are integers, else texts."""

    label: str
    property: str
    numbers: bool

    def has(self, variable: str, others: Sequence[str] = ()) -> str:
        """Return Cypher that is true if this property is the key of a node. `others`: further labels with it."""
        value = f"{variable}.{quote(self.property)}"
        label = f"{variable}:{'|'.join(map(quote, (self.label, *others)))}"
        if self.numbers:
            return f"{label} AND {value} IS :: INTEGER NOT NULL"
        return f"{label} AND {value} IS :: STRING NOT NULL AND {value} <> '' AND size({value}) <= {LONGEST}"

    def value(self, variable: str) -> str:
        """Return Cypher for the key, without a label."""
        value = f"{variable}.{quote(self.property)}"
        return f"toString({value})" if self.numbers else value


@dataclass(frozen=True, slots=True)
class NodeNames:
    """The keys of the nodes of one database, by default the element ids; `prefix` of all of these, "" if unknown.

    `labelled`: a key that is a property's value carries its label. `mark`: the prefix of a key that is an id.
    """

    uniques: tuple[UniqueProperty, ...] = ()
    labelled: bool = False
    prefix: str = ""
    mark: str = ""


@dataclass(frozen=True)
class ExistingDialect(Dialect):
    """The Cypher dialect of one existing database.

    `hidden`: labels of nodes that are not shown; `labels` and `types`: those that are shown, None for all.
    `key_title`: the name under which a property called `key` is shown; None if there is none.
    """

    several: bool = True
    names: NodeNames = NodeNames()
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
        return quote(name)

    def type(self, name: str) -> str:
        """Return the type; one that is filtered out becomes an expression that matches nothing."""
        return quote(name) if self.types is None or name in self.types else f"{quote(name)}&!{quote(name)}"

    def value_of(self, variable: str, name: str, label: str | None = None) -> str:
        if name == KEY:
            return f"\0{variable}\0"
        return f"{variable}.{quote(KEY if name == self.key_title else name)}"

    def key_of(self, variable: str) -> str:
        return f"\0{variable}\0"

    def properties_of(self, variable: str) -> str:
        key = f"{quote(KEY)}: \0{variable}\0"
        if self.key_title is None:
            return f"{variable} {{.*, {key}}}"
        named = [f"({n.has(variable, others)})" for n, *others in self._alike() if n.property == KEY]
        no_other = " OR ".join([f"{variable}.{quote(KEY)} IS NULL", *named])
        other = f"{quote(self.key_title)}: {variable}.{quote(KEY)}"
        return f"CASE WHEN {no_other} THEN {variable} {{.*, {key}}} ELSE {variable} {{.*, {other}, {key}}} END"

    def finished(self, cypher: str) -> str:
        """Write out the keys; a comparison of one with `$name` becomes one with the element id `$gw_id_of_name`."""
        sought = _SOUGHT.sub(rf"elementId(\1) = ${ID_OF}\2", cypher)
        return _KEY.sub(lambda found: self._called(found[1]), sought)

    def unique_property(self, labels: Sequence[str], key: str) -> tuple[str, str, str | int] | None:
        """Return label, property and value that find a node by the index of a constraint; None if its key is an id."""
        names = self.names
        if key.startswith(names.mark) and key[len(names.mark) :].isdecimal():
            return None
        for unique in names.uniques:
            before = f"{unique.label}:" if names.labelled else ""
            if unique.label in labels and key.startswith(before):
                text = key[len(before) :]
                return unique.label, unique.property, int(text) if unique.numbers else text
        return None

    def _terms(self, label: str | None = None) -> Iterator[str]:
        if self.labels is not None and label not in self.labels:
            yield "(" + "|".join(map(quote, self.labels)) + ")"
        if self.hidden:
            yield "!(" + "|".join(map(quote, self.hidden)) + ")"

    def _called(self, variable: str) -> str:
        """Return Cypher for the key of a node."""
        cases = []
        for unique, *others in self._alike():
            before = f"{literal(unique.label + ':')} + "
            if others:
                labels = ", ".join(map(literal, (unique.label, *others)))
                before = f"head([name IN [{labels}] WHERE name IN labels({variable})]) + ':' + "
            key = f"{before if self.names.labelled else ''}{unique.value(variable)}"
            cases.append(f"WHEN {unique.has(variable, others)} THEN {key}")
        return f"CASE {' '.join(cases)} ELSE {self._id(variable)} END" if cases else self._id(variable)

    def _alike(self) -> Iterator[tuple[UniqueProperty, *tuple[str, ...]]]:
        """Yield properties, each with the further labels that share it: servers take long to plan many cases."""
        for _, group in groupby(self.names.uniques, key=lambda unique: (unique.property, unique.numbers)):
            first, *others = group
            yield first, *(unique.label for unique in others)

    @cached_property
    def lookup(self) -> str:
        """Return Cypher for the element id of the node with the key `$text`, found by an index."""
        names = self.names
        after = f"substring($text, {len(names.mark)})" if names.mark else "$text"
        full = "$text" if names.mark == names.prefix else f"{literal(names.prefix)} + {after}"
        ways = [f"MATCH (n) WHERE elementId(n) = {full} RETURN n"]
        for unique in names.uniques:
            text, before = "$text", unique.label + ":"
            if names.labelled:
                text = f"CASE WHEN $text STARTS WITH {literal(before)} THEN substring($text, {len(before)}) END"
            # In a form that uses the index.
            value = f"toInteger({text})" if unique.numbers else text
            ways.append(f"MATCH (n:{quote(unique.label)}) WHERE n.{quote(unique.property)} = {value} RETURN n")
        return (
            f"CALL () {{ {' UNION '.join(ways)} }} WITH n WHERE {self._called('n')} = $text RETURN elementId(n) AS id"
        )

    def _id(self, variable: str) -> str:
        """Return Cypher for a key that is an element id."""
        names = self.names
        if names.mark == names.prefix:
            return f"elementId({variable})"
        begin = f"{literal(names.mark)} + " if names.mark else ""
        return f"{begin}substring(elementId({variable}), {len(names.prefix)})"


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
    return ExistingDialect(
        names=await _read_names(connection, shown),
        hidden=tuple(filter(is_reserved, labels)),
        labels=None if chosen_labels is None else tuple(sorted(set(chosen_labels))),
        types=None if chosen_types is None else tuple(sorted(set(chosen_types))),
        key_title=next(t for n in count(1) if (t := KEY + n * "_") not in keys) if KEY in keys else None,
    )


async def _read_names(connection: Connection, labels: Sequence[str]) -> NodeNames:
    """Return the keys that follow from the constraints and the content of a database with these labels."""
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

    found = sorted(chain(*await asyncio.gather(*(ranked(*pair) for pair in node_keys))))
    best = {label: UniqueProperty(label, name, numbers) for label, _, numbers, name in reversed(found)}
    uniques = tuple(best[label] for label in sorted(best))
    rows = await connection.rows("MATCH (n) RETURN elementId(n) LIMIT 1")
    id_ = _PREFIX.match(rows[0][0]) if rows else None
    prefix = id_[0] if id_ else ""
    labelled = len(uniques) > 1 and await _shared(connection, uniques)
    return NodeNames(uniques, labelled, prefix, await _mark(connection, () if labelled else uniques, prefix))


async def _shared(connection: Connection, uniques: Sequence[UniqueProperty]) -> bool:
    """Return True if two nodes would have the same key, and if there are too many nodes to search."""
    counts = " + ".join(f"COUNT {{ (:{quote(unique.label)}) }}" for unique in uniques)
    [[count]] = await connection.rows(f"RETURN {counts}")
    if count > MOST_COMPARED:
        return True
    parts = " UNION ALL ".join(
        f"MATCH (n:{quote(unique.label)}) WHERE {unique.has('n')} "
        f"RETURN {unique.value('n')} AS name, elementId(n) AS id"
        for unique in uniques
    )
    twice = "WITH name, min(id) AS one, max(id) AS other WHERE one <> other RETURN name LIMIT 1"
    return bool(await connection.rows(f"CALL () {{ {parts} }} {twice}"))


async def _mark(connection: Connection, uniques: Sequence[UniqueProperty], prefix: str) -> str:
    """Return the shortest prefix that keeps element ids apart from the values of properties."""
    if not prefix:
        return ""
    texts = [unique for unique in uniques if not unique.numbers]

    async def any_looks_like(mark: str) -> bool:
        return any(await asyncio.gather(*(_looks_like(connection, unique, mark) for unique in texts)))

    if len(texts) == len(uniques) and not await any_looks_like(""):
        return ""
    return prefix if await any_looks_like("#") else "#"


async def _looks_like(connection: Connection, unique: UniqueProperty, mark: str) -> bool:
    """Return True if some text is the mark and digits, and if there are too many texts to search."""
    value = f"n.{quote(unique.property)}"
    low, high = (mark, mark + "\uffff") if mark else ("0", ":")
    [[looked_at, found]] = await connection.rows(
        f"MATCH (n:{quote(unique.label)}) WHERE {value} >= $low AND {value} < $high WITH {value} AS name LIMIT $most "
        "RETURN count(name), count(CASE WHEN name =~ $form THEN 1 END)",
        low=low,
        high=high,
        most=MOST_LOOKED_AT,
        form=f"{mark}[0-9]+",
    )
    return bool(found) or looked_at == MOST_LOOKED_AT


def writable(name: str) -> bool:
    """Return True for a name that a query can contain."""
    try:
        quote(name)
    except ConfigError:
        return False
    return True


def literal(text: str) -> str:
    """Return a text as a Cypher literal."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
