"""What the nodes of a Neo4j as it stands are called: by a unique property, else by their element ids.

A property names the nodes of a label where a constraint makes it unique for them. Of several properties of one label
that of a node key goes first, then one that holds text, then the first by name. A node with several such labels is
named by the first of these labels, by name, whose property it has. Only text of up to `LONGEST` characters and whole
numbers make names.

    Person.name is unique             Ida                       the value
    Person.name and Film.title are    Ida, or Person:Ida        with the label where two nodes would share a name
    nothing is                        17, #17 or 4:…:17         the last part of the element id; with a # where a
                                                                property makes such names, in full where that does too
"""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from graphwalk.errors import ConfigError
from graphwalk.stores.cypher import quote
from graphwalk.stores.neo4j.connection import Connection

LONGEST = 200
"""Characters of a text that can be a name."""
MOST_COMPARED = 200_000
"""Of more named nodes in all, names carry their label without a search for names that two nodes share."""
MOST_LOOKED_AT = 20_000
"""Values of one property that are searched for names that look like element ids."""
SECONDS = 30.0
LEDGER = "GraphWalkLoad"
OWN_PREFIX = "gw_"
_PREFIX = re.compile(r"\d+:[0-9a-f-]+:")
_CONSTRAINTS = (
    "SHOW CONSTRAINTS YIELD entityType, labelsOrTypes, properties, type "
    "WHERE entityType = 'NODE' AND size(labelsOrTypes) = 1 AND size(properties) = 1 "
    "AND (type ENDS WITH 'UNIQUENESS' OR type ENDS WITH 'NODE_KEY') "
    "RETURN labelsOrTypes[0] AS label, properties[0] AS property, type"
)


@dataclass(frozen=True, slots=True)
class Naming:
    """`property` names the nodes with `label`; `numbers`: they are whole numbers, else texts."""

    label: str
    property: str
    numbers: bool

    def has(self, variable: str, others: Sequence[str] = ()) -> str:
        """Cypher: true where this is what a node is called by. `others`: further labels with the same property."""
        value = f"{variable}.{quote(self.property)}"
        label = f"{variable}:{'|'.join(map(quote, (self.label, *others)))}"
        if self.numbers:
            return f"{label} AND {value} IS :: INTEGER NOT NULL"
        return f"{label} AND {value} IS :: STRING NOT NULL AND {value} <> '' AND size({value}) <= {LONGEST}"

    def value(self, variable: str) -> str:
        """Cypher: the name, without a label before it."""
        value = f"{variable}.{quote(self.property)}"
        return f"toString({value})" if self.numbers else value

    def equals(self, variable: str, text: str) -> str:
        """Cypher: true where the value is that of `text`, so that an index finds it."""
        return f"{variable}.{quote(self.property)} = {f'toInteger({text})' if self.numbers else text}"


@dataclass(frozen=True, slots=True)
class Names:
    """How the nodes of one database are named; `prefix` begins all of its element ids, "" where that is not known.

    `labelled`: a name that is a property's value carries its label. `mark` begins the name of a node without one.
    """

    namings: tuple[Naming, ...] = ()
    labelled: bool = False
    prefix: str = ""
    mark: str = ""


BY_ELEMENT_ID = Names()
"""Every node by its whole element id."""


async def read_names(connection: Connection, labels: Sequence[str]) -> Names:
    """The names that the constraints of a database and its content give; `labels`: those that there are."""
    found = await _constraints(connection, labels)
    held = await asyncio.gather(*(_holds(connection, *pair) for pair in found))
    namings = _chosen(
        [(Naming(*pair, kind == "number"), found[pair]) for pair, kind in zip(found, held, strict=True) if kind]
    )
    prefix = await _prefix(connection)
    labelled = len(namings) > 1 and await _shared(connection, namings)
    return Names(namings, labelled, prefix, await _mark(connection, () if labelled else namings, prefix))


async def _ask(connection: Connection, cypher: str, **parameters: Any) -> list[list[Any]]:
    return [values for _, values in await connection.read(cypher, parameters, SECONDS)]


async def _constraints(connection: Connection, labels: Sequence[str]) -> dict[tuple[str, str], bool]:
    """(label, property) → whether the constraint is a node key."""
    found: dict[tuple[str, str], bool] = {}
    for label, name, kind in await _ask(connection, _CONSTRAINTS):
        if label in labels and ":" not in label and writable(label) and writable(name):
            found[label, name] = found.get((label, name), False) or kind.endswith("NODE_KEY")
    return found


async def _holds(connection: Connection, label: str, name: str) -> str | None:
    """text or number: what the property holds first of all; None for neither."""
    match = f"MATCH (n:{quote(label)}) WHERE n.{quote(name)}"
    [[text, number]] = await _ask(
        connection,
        f"RETURN EXISTS {{ {match} >= '' }} AS text, EXISTS {{ {match} >= $least }} AS number",
        least=float("-inf"),
    )
    return "text" if text else "number" if number else None


def _chosen(found: Sequence[tuple[Naming, bool]]) -> tuple[Naming, ...]:
    """One naming per label, in the order of the labels."""
    best: dict[str, tuple[Any, Naming]] = {}
    for naming, node_key in found:
        rank = (not node_key, naming.numbers, naming.property)
        if naming.label not in best or rank < best[naming.label][0]:
            best[naming.label] = (rank, naming)
    return tuple(best[label][1] for label in sorted(best))


async def _prefix(connection: Connection) -> str:
    rows = await _ask(connection, "MATCH (n) RETURN elementId(n) LIMIT 1")
    found = _PREFIX.match(rows[0][0]) if rows else None
    return found[0] if found else ""


async def _shared(connection: Connection, namings: Sequence[Naming]) -> bool:
    """True where two nodes would have the same name, and where there are too many nodes to look."""
    counts = " + ".join(f"COUNT {{ (:{quote(naming.label)}) }}" for naming in namings)
    [[count]] = await _ask(connection, f"RETURN {counts}")
    if count > MOST_COMPARED:
        return True
    parts = " UNION ALL ".join(
        f"MATCH (n:{quote(naming.label)}) WHERE {naming.has('n')} "
        f"RETURN {naming.value('n')} AS name, elementId(n) AS id"
        for naming in namings
    )
    twice = "WITH name, min(id) AS one, max(id) AS other WHERE one <> other RETURN name LIMIT 1"
    return bool(await _ask(connection, f"CALL () {{ {parts} }} {twice}"))


async def _mark(connection: Connection, namings: Sequence[Naming], prefix: str) -> str:
    """The shortest beginning that keeps the names of other nodes apart from those that properties make."""
    if not prefix:
        return ""
    texts = [naming for naming in namings if not naming.numbers]
    if len(texts) == len(namings) and not await _any_looks_like(connection, texts, ""):
        return ""
    return prefix if await _any_looks_like(connection, texts, "#") else "#"


async def _any_looks_like(connection: Connection, texts: Sequence[Naming], mark: str) -> bool:
    return any(await asyncio.gather(*(_looks_like(connection, naming, mark) for naming in texts)))


async def _looks_like(connection: Connection, naming: Naming, mark: str) -> bool:
    """True where a text is the mark and digits after it, and where there are too many texts to look."""
    value = f"n.{quote(naming.property)}"
    low, high = (mark, mark + "\uffff") if mark else ("0", ":")
    [[looked_at, found]] = await _ask(
        connection,
        f"MATCH (n:{quote(naming.label)}) WHERE {value} >= $low AND {value} < $high WITH {value} AS name LIMIT $most "
        "RETURN count(name), count(CASE WHEN name =~ $form THEN 1 END)",
        low=low,
        high=high,
        most=MOST_LOOKED_AT,
        form=f"{mark}[0-9]+",
    )
    return bool(found) or looked_at == MOST_LOOKED_AT


def writable(name: str) -> bool:
    """True for a name that a query can hold."""
    try:
        quote(name)
    except ConfigError:
        return False
    return True


def is_own(label: str) -> bool:
    """True for the labels that GraphWalk itself gives to nodes."""
    return label == LEDGER or label.startswith(OWN_PREFIX)


def literal(text: str) -> str:
    """The text as Cypher writes it."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
