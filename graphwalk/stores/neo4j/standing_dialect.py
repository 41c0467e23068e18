"""How names and keys are written for a Neo4j as it stands, and what is left out of it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from graphwalk.stores.cypher import KEY, Dialect, quote
from graphwalk.stores.neo4j.naming import BY_ELEMENT_ID, Names, Naming, literal

_SOUGHT = re.compile(r"\0(\w+)\0\s*=\s*(\$\w+)")
_KEY = re.compile(r"\0(\w+)\0")


@dataclass(frozen=True, slots=True)
class StandingDialect(Dialect):
    """`hidden` are labels of nodes that are not shown; `labels` and `types` keep what has one of these, None all.

    `key_title` is the name under which a property is shown that is itself called `key`; None where there is none.
    """

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
        return "&".join([quote(name), *self._terms(name)])

    def type(self, name: str) -> str:
        """A type that the filter leaves out is written as one that nothing has."""
        return quote(name) if self.types is None or name in self.types else f"{quote(name)}&!{quote(name)}"

    def labels_of(self, variable: str) -> str:
        return f"COLLECT {{ UNWIND labels({variable}) AS label RETURN label ORDER BY label }}"

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
        named = [f"({naming.has(variable)})" for naming in self.names.namings if naming.property == KEY]
        no_other = " OR ".join([f"{variable}.{quote(KEY)} IS NULL", *named])
        other = f"{quote(self.key_title)}: {variable}.{quote(KEY)}"
        return f"CASE WHEN {no_other} THEN {variable} {{.*, {key}}} ELSE {variable} {{.*, {other}, {key}}} END"

    def finished(self, cypher: str) -> str:
        """Keys written out; where one is compared with a parameter, so that the server finds the node by an index."""
        sought = _SOUGHT.sub(lambda found: self._is_called(found[1], found[2]), cypher)
        return _KEY.sub(lambda found: self._called(found[1]), sought)

    def _terms(self, label: str | None = None) -> Iterator[str]:
        if self.labels is not None and label not in self.labels:
            yield "(" + "|".join(map(quote, self.labels)) + ")"
        if self.hidden:
            yield "!(" + "|".join(map(quote, self.hidden)) + ")"

    def _called(self, variable: str) -> str:
        """What a node is called."""
        cases = [f"WHEN {n.has(variable)} THEN {self._before(n)}{n.value(variable)}" for n in self.names.namings]
        return f"CASE {' '.join(cases)} ELSE {self._id(variable)} END" if cases else self._id(variable)

    def _is_called(self, variable: str, parameter: str) -> str:
        """That a node is called what a parameter says: found by the index of a constraint, or by its element id."""
        text = f"toString({parameter})"
        ways = [
            f"MATCH (named:{quote(naming.label)}) WHERE {naming.equals('named', self._without_label(naming, text))} "
            "RETURN elementId(named) AS id"
            for naming in self.names.namings
        ]
        names = self.names
        after = f"substring({text}, {len(names.mark)})" if names.mark else text
        full = text if names.mark == names.prefix else f"{literal(names.prefix)} + {after}"
        ids = " UNION ".join([*ways, f"RETURN {full} AS id"])
        return f"(elementId({variable}) IN COLLECT {{ {ids} }} AND {self._called(variable)} = {text})"

    def _before(self, naming: Naming) -> str:
        return f"{literal(naming.label + ':')} + " if self.names.labelled else ""

    def _without_label(self, naming: Naming, text: str) -> str:
        """The text without the label before it, null where there is none."""
        if not self.names.labelled:
            return text
        before = naming.label + ":"
        return f"CASE WHEN {text} STARTS WITH {literal(before)} THEN substring({text}, {len(before)}) END"

    def _id(self, variable: str) -> str:
        """The name of a node that no property names."""
        names = self.names
        if names.mark == names.prefix:
            return f"elementId({variable})"
        begin = f"{literal(names.mark)} + " if names.mark else ""
        return f"{begin}substring(elementId({variable}), {len(names.prefix)})"
