"""Interpretations of a value that a model gives: unchanged, or as another type."""

import json
import re
from collections.abc import Iterator
from itertools import islice, product

from graphwalk.types.temporals import read_temporal
from graphwalk.types.values import Point, Temporal, Value, shown

_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
_POINT = re.compile(r"point\(\{srid: (\d{1,9})((?:, [xyz]: [^,{}]{1,40}){2,3})\}\)", re.ASCII)
_BYTES = re.compile(r"bytes:((?:[0-9a-f]{2})*)", re.ASCII)
_NOT_FINITE = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}
_LONGEST_NUMBER = 400
_LONGEST_LIST = 100
"""Items of a list that are read another way."""
_MOST_MIXTURES = 64
"""Of a list in which some items may be text and others what text stands for."""
_INT64 = 2**63


def shown_alike(value: Value) -> Iterator[Value]:
    """Other values that look like this one where they are shown: the date that the text "2001-04-25" may be."""
    if isinstance(value, str):
        yield from _typed(value)
    elif isinstance(value, tuple) and len(value) <= _LONGEST_LIST:
        choices = [[*shown_alike(item), item] for item in value]
        if any(len(found) > 1 for found in choices):
            mixtures = product(*choices)
            yield from (items for items in islice(mixtures, _MOST_MIXTURES) if items is not value and items != value)


def other_readings(value: Value) -> Iterator[Value]:
    """Yield other types of a value: text for a number or boolean; a number, boolean or list for text."""
    if not isinstance(value, str):
        yield json.dumps(shown(value), ensure_ascii=False)
    elif len(value) <= _LONGEST_NUMBER and _NUMBER.fullmatch(value):
        number = float(value)
        yield int(value) if value.strip().lstrip("+-").isdecimal() else number
    elif value in ("true", "false"):
        yield value == "true"
    elif value[:1] == "[" and (found := _list(value)) is not None:
        yield found
        yield from shown_alike(found)


def as_list(data: list[object]) -> tuple[Value, ...] | None:
    """Return a JSON list as a value; None if an item is not a value: null, an object."""
    items: list[Value] = []
    for item in data:
        found = as_list(item) if isinstance(item, list) else item
        if not isinstance(found, str | int | float | tuple):
            return None
        items.append(found)
    return tuple(items)


def as_parameter(value: Value) -> Value | None:
    """Return the value as a query parameter; None if no property can equal it."""
    if isinstance(value, str):
        return value if _encodable(value) else None
    if isinstance(value, tuple):
        items = tuple(map(as_parameter, value))
        return None if None in items else items
    if isinstance(value, int) and not isinstance(value, bool) and not -_INT64 <= value < _INT64:
        try:
            return float(value)
        except OverflowError:
            return None
    return value


def kind_of_value(value: Value) -> str:
    """text, number, boolean, date, datetime, duration, point, bytes, list …, for messages."""
    if isinstance(value, Temporal):
        return value.kind
    kinds = {bool: "boolean", str: "text", Point: "point", bytes: "bytes", tuple: "list"}
    return kinds.get(type(value), "number")


def _typed(text: str) -> Iterator[Value]:
    if text in _NOT_FINITE:
        yield _NOT_FINITE[text]
    elif found := _BYTES.fullmatch(text):
        yield bytes.fromhex(found[1])
    elif found := _POINT.fullmatch(text):
        yield from _point(int(found[1]), found[2])
    elif text[:1] in "+-P" or text[:1].isdigit():
        try:
            read = read_temporal(text)
        except ValueError:
            return
        yield read
        if read.text != text:
            yield Temporal(read.kind, text)


def _point(srid: int, coordinates: str) -> Iterator[Point]:
    entries = dict(entry.split(": ", 1) for entry in coordinates.removeprefix(", ").split(", "))
    try:
        if tuple(entries) in (("x", "y"), ("x", "y", "z")):
            yield Point(srid, tuple(map(float, entries.values())))
    except ValueError:
        return


def _list(text: str) -> tuple[Value, ...] | None:
    try:
        return as_list(json.loads(text))
    except (ValueError, RecursionError):
        return None


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
