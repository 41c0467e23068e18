"""How names and keys are written for a Neo4j as it stands, and what is left out of it."""

import asyncio
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from graphwalk.config.graph_source import check_filter
from graphwalk.stores.cypher import KEY, Dialect, quote
from graphwalk.stores.neo4j.connection import Connection
from graphwalk.stores.neo4j.naming import BY_ELEMENT_ID, SECONDS, Names, Naming, is_own, literal, read_names, writable

ID_OF = "gw_id_of_"
"""Begins the name of the parameter with the element id of the node that another parameter names."""
_SOUGHT = re.compile(r"\0(\w+)\0\s*=\s*\$(\w+)")
_KEY = re.compile(r"\0(\w+)\0")


@dataclass(frozen=True)
class StandingDialect(Dialect):
    """`hidden` are labels of nodes that are not shown; `labels` and `types` keep what has one of these, None all.

    `key_title` is the name under which a property is shown that is itself called `key`; None where there is none.
    """

    several: bool = True
    names: Names = BY_ELEMENT_ID
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
        """A type that the filter leaves out is written as one that nothing has."""
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
        """Keys written out. What compares one with `$name` finds the node by the element id `$gw_id_of_name`."""
        sought = _SOUGHT.sub(rf"elementId(\1) = ${ID_OF}\2", cypher)
        return _KEY.sub(lambda found: self._called(found[1]), sought)

    def found_by(self, labels: Sequence[str], key: str) -> tuple[str, str, str | int] | None:
        """Return label, property and value that find a node by the index of a constraint; None if its key is an id."""
        names = self.names
        if key.startswith(names.mark) and key[len(names.mark) :].isdecimal():
            return None
        for naming in names.namings:
            before = f"{naming.label}:" if names.labelled else ""
            if naming.label in labels and key.startswith(before):
                text = key[len(before) :]
                return naming.label, naming.property, int(text) if naming.numbers else text
        return None

    def _terms(self, label: str | None = None) -> Iterator[str]:
        if self.labels is not None and label not in self.labels:
            yield "(" + "|".join(map(quote, self.labels)) + ")"
        if self.hidden:
            yield "!(" + "|".join(map(quote, self.hidden)) + ")"

    def _called(self, variable: str) -> str:
        """What a node is called."""
        cases = [
            f"WHEN {naming.has(variable, others)} THEN {self._before(variable, naming, others)}{naming.value(variable)}"
            for naming, *others in self._alike()
        ]
        return f"CASE {' '.join(cases)} ELSE {self._id(variable)} END" if cases else self._id(variable)

    def _alike(self) -> Iterator[tuple[Naming, *tuple[str, ...]]]:
        """Namings, and the labels after each that have the same property: servers take long to plan many cases."""
        for _, group in groupby(self.names.namings, key=lambda naming: (naming.property, naming.numbers)):
            first, *others = group
            yield first, *(naming.label for naming in others)

    @cached_property
    def lookup(self) -> str:
        """Cypher: the element id of the node that `$text` names; no row where there is none. Found by an index."""
        names = self.names
        after = f"substring($text, {len(names.mark)})" if names.mark else "$text"
        full = "$text" if names.mark == names.prefix else f"{literal(names.prefix)} + {after}"
        ways = [
            f"MATCH (n:{quote(naming.label)}) WHERE {naming.equals('n', self._without_label(naming))} RETURN n"
            for naming in names.namings
        ]
        ways.append(f"MATCH (n) WHERE elementId(n) = {full} RETURN n")
        return (
            f"CALL () {{ {' UNION '.join(ways)} }} WITH n WHERE {self._called('n')} = $text RETURN elementId(n) AS id"
        )

    def _before(self, variable: str, naming: Naming, others: Sequence[str]) -> str:
        if not self.names.labelled:
            return ""
        if not others:
            return f"{literal(naming.label + ':')} + "
        labels = ", ".join(map(literal, (naming.label, *others)))
        return f"head([name IN [{labels}] WHERE name IN labels({variable})]) + ':' + "

    def _without_label(self, naming: Naming) -> str:
        """The text without the label before it, null where there is none."""
        if not self.names.labelled:
            return "$text"
        before = naming.label + ":"
        return f"CASE WHEN $text STARTS WITH {literal(before)} THEN substring($text, {len(before)}) END"

    def _id(self, variable: str) -> str:
        """The name of a node that no property names."""
        names = self.names
        if names.mark == names.prefix:
            return f"elementId({variable})"
        begin = f"{literal(names.mark)} + " if names.mark else ""
        return f"{begin}substring(elementId({variable}), {len(names.prefix)})"


async def read_dialect(
    connection: Connection, chosen_labels: Sequence[str] | None = None, chosen_types: Sequence[str] | None = None
) -> StandingDialect:
    """How names are written for a database, or the part of it that has these labels and types.

    ConfigError where the choice names what is not there; StoreError where the database cannot be read.
    """
    labels, types, keys = await asyncio.gather(
        _column(connection, "CALL db.labels() YIELD label RETURN label"),
        _column(connection, "CALL db.relationshipTypes() YIELD relationshipType RETURN relationshipType"),
        _column(connection, "CALL db.propertyKeys() YIELD propertyKey RETURN propertyKey"),
    )
    shown = [label for label in labels if not is_own(label) and writable(label)]
    check_filter("label", chosen_labels, shown)
    check_filter("relationship type", chosen_types, types)
    return StandingDialect(
        names=await read_names(connection, shown),
        hidden=tuple(sorted(filter(is_own, labels))),
        labels=None if chosen_labels is None else tuple(sorted(set(chosen_labels))),
        types=None if chosen_types is None else tuple(sorted(set(chosen_types))),
        key_title=_free_title(keys),
    )


async def _column(connection: Connection, cypher: str) -> list[str]:
    return sorted(values[0] for _, values in await connection.read(cypher, {}, SECONDS))


def _free_title(keys: list[str]) -> str | None:
    """The name under which a property called `key` is shown: the first of key_, key__, … that no property has."""
    if KEY not in keys:
        return None
    title = f"{KEY}_"
    while title in keys:
        title += "_"
    return title
