"""Comparison of values and rows as in Cypher."""

from collections.abc import Iterable, Sequence
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


def _keys(rows: list[Row]) -> Sequence[tuple[Any, ...]]:
    """Return sortable keys of the rows; rows with the same text fields are faster."""
    texts = [tuple(row.values()) for row in rows]
    names = {tuple(row) for row in rows}
    if len(names) == 1 and list(*names) == sorted(*names) and all(v.__class__ is str for t in texts for v in t):
        return texts
    return list(map(row_key, rows))


def distinct(rows: Iterable[Row], most: int | None = None) -> list[Row]:
    """Return distinct rows in ascending order; at most `most` + 1 of them."""
    if most is None:
        found = list(rows)
        by_key = dict(zip(_keys(found), found, strict=True))
        return [by_key[key] for key in sorted(by_key)]
    few: dict[RowKey, Row] = {}
    for row in rows:
        few[row_key(row)] = row
        if len(few) > most:
            break
    return [few[key] for key in sorted(few)]


def same_rows(left: list[Row], right: list[Row]) -> bool:
    """Return True for equal sets of rows, where 1 and true differ in contrast to Python."""
    keys = _keys([*left, *right])
    return set(keys[: len(left)]) == set(keys[len(left) :])
