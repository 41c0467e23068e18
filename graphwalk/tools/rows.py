"""Rows in one order and one form, whatever database they come from."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from graphwalk.types.graph import value_order
from graphwalk.types.values import Row


def canonical_rows(rows: list[Row]) -> list[Row]:
    """Return the rows sorted by their columns from left to right; maps of properties have the key first.

    All rows have the same columns, and none is used again by the caller: they are changed in place.
    """
    for row in rows:
        for name, value in row.items():
            if value.__class__ is dict and (order := _property_order(tuple(value))) is not None:
                row[name] = {property_name: value[property_name] for property_name in order}
    return rows if len(rows) < 2 else _sorted(rows)


def _sorted(rows: list[Row]) -> list[Row]:
    """Sort the rows; most differ in one or two columns, so that the others need no sort keys."""
    keys: list[Sequence[Any]] = []
    for name in rows[0]:
        column = _comparable([row[name] for row in rows])
        different = len(set(column))
        if different == 1:
            continue
        keys.append(column)
        if different == len(rows):
            break
    if not keys:
        return rows
    ranks = keys[0] if len(keys) == 1 else list(zip(*keys, strict=True))
    return [rows[number] for number in sorted(range(len(rows)), key=ranks.__getitem__)]


@lru_cache(maxsize=4096)
def _property_order(names: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the sorted order of the names, None if they are sorted."""
    order = tuple(sorted(names, key=lambda name: (name != "key", name)))
    return None if order == names else order


def _comparable(column: list[Any]) -> Sequence[Any]:
    """Sort keys, to be hashed: missing values, then `value_order`, then maps and lists by their text (or keys)."""
    kinds = set(map(type, column))
    if kinds in _COMPARED_AS_THEY_ARE:
        return column
    if kinds == _MAPS:
        own = [value.get("key") for value in column]
        # Keys that tell all maps apart are enough; a whole map as text takes longer than many a query.
        return own if set(map(type, own)) == _TEXTS and len(set(own)) == len(own) else list(map(str, column))
    return list(map(_order, column))


_TEXTS, _MAPS = {str}, {dict}
_COMPARED_AS_THEY_ARE = (_TEXTS, {int})


def _order(value: Any) -> tuple[int, Any, str]:
    if value is None:
        return (-1, "", "")
    if isinstance(value, str | int | float):
        return (*value_order(value), str(value))  # the text tells 1 from 1.0, and 0.0 from -0.0
    return (3, str(value), "")
