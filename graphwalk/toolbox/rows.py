"""Rows in one order and one form, whatever database they come from."""

from collections.abc import Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any

from graphwalk.types.graph import value_order
from graphwalk.types.values import Row


def canonical_rows(rows: list[Row]) -> list[Row]:
    """The rows, sorted by their columns from left to right; in maps of properties the key comes first, then by name.

    All rows have the same columns, and none is used again by the caller: they are changed in place.
    """
    if not rows:
        return rows
    columns = [_canonical(rows, name) for name in rows[0]]
    if len(rows) == 1:
        return rows
    # Nearly every column holds values of one kind; to compare these as they are is several times faster.
    keys = list(zip(*map(_comparable, columns), strict=True))
    return [rows[number] for number in sorted(range(len(rows)), key=keys.__getitem__)]


def _canonical(rows: list[Row], name: str) -> list[Any]:
    column = list(map(itemgetter(name), rows))
    for row, value in zip(rows, column, strict=True):
        if value.__class__ is not dict:
            continue
        names = tuple(value)
        if (order := _property_order(names)) != names:
            row[name] = {property_name: value[property_name] for property_name in order}
    return list(map(itemgetter(name), rows))


@lru_cache(maxsize=4096)
def _property_order(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(names, key=lambda name: (name != "key", name)))


def _comparable(column: Sequence[Any]) -> Sequence[Any]:
    """Sort keys: missing values, then `value_order`, then maps and lists by their text."""
    kinds = set(map(type, column))
    if kinds in ({str}, {int}):
        return column
    return list(map(str, column)) if kinds == {dict} else list(map(_order, column))


def _order(value: Any) -> tuple[int, Any, str]:
    if value is None:
        return (-1, "", "")
    if isinstance(value, str | int | float):
        return (*value_order(value), str(value))  # the text tells 1 from 1.0, and 0.0 from -0.0
    return (3, str(value), "")
