"""Comparison of values and rows as in Cypher."""

from collections.abc import Iterable
from typing import Any

from graphwalk.types.graph import value_order
from graphwalk.types.values import PLAIN, Row, Value, shown

RowKey = tuple[tuple[str, tuple[int, Any]], ...]


def equal(left: Value | None, right: Value | None) -> bool:
    """Compare like Cypher's `=`: numbers by value, booleans only with booleans, null with nothing."""
    return left is not None and left == right and isinstance(left, bool) == isinstance(right, bool)


def differs(left: Value | None, right: Value | None) -> bool:
    """Compare like Cypher's `<>`, which is false for a missing property."""
    return left is not None and right is not None and not equal(left, right)


def as_shown(row: Row) -> Row:
    """Return the row with values as in answers, for example a date as text."""
    plain = all(value.__class__ in PLAIN or value is None for value in row.values())
    return row if plain else {name: shown(value) for name, value in row.items()}


def row_key(row: Row) -> RowKey:
    """Return a sortable key, equal for rows that are equal in Cypher: 1 equals 1.0, not true."""
    return tuple((name, (-1, 0) if row[name] is None else value_order(row[name])) for name in sorted(row))


def distinct(rows: Iterable[Row], most: int | None = None) -> list[Row]:
    """Return distinct rows in ascending order; at most `most` + 1 of them."""
    found: dict[RowKey, Row] = {}
    for row in rows:
        found[row_key(row)] = row
        if most is not None and len(found) > most:
            break
    return [found[key] for key in sorted(found)]


def same_rows(left: Iterable[Row], right: Iterable[Row]) -> bool:
    """Return True for equal sets of rows, where 1 and true differ in contrast to Python."""
    return set(map(row_key, left)) == set(map(row_key, right))
