"""Values as text with a type beside it, as GraphML and CSV have them."""

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from graphwalk.graphs.files.checked import brief
from graphwalk.graphs.files.json_values import checked_point
from graphwalk.types.temporals import read_temporal
from graphwalk.types.values import Point, Temporal, TemporalKind, Value

TEMPORAL_NAMES: dict[str, TemporalKind] = {
    "date": "date",
    "time": "time",
    "localtime": "local time",
    "datetime": "datetime",
    "localdatetime": "local datetime",
    "duration": "duration",
}
"""Names of types, in lower case, that Neo4j's importer has, and we in GraphML too."""
_TEMPORAL_NAME = {kind: name for name, kind in TEMPORAL_NAMES.items()}
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
_WHOLE = re.compile(r"\s*[+-]?\d{1,400}\s*", re.ASCII)
_FLOATS = {"nan": math.nan, "infinity": math.inf, "inf": math.inf, "-infinity": -math.inf, "-inf": -math.inf}
_POINT = re.compile(r"\s*(?:point\s*\(\s*)?\{(.*)\}\s*\)?\s*", re.IGNORECASE | re.DOTALL)
_SYSTEMS = {"wgs-84": 4326, "wgs-84-3d": 4979, "cartesian": 7203, "cartesian-3d": 9157}
_AXES = {"longitude": "x", "latitude": "y", "height": "z"}
_LONGEST_NUMBER = 400


def type_name(value: Value) -> str:
    """string, long, double, boolean, date, time, localtime, datetime, localdatetime, duration, point or bytes.

    For a list the type of its items with [] behind it; that of an empty one is string[].
    """
    if isinstance(value, tuple):
        return (type_name(value[0]) if value else "string") + "[]"
    if isinstance(value, Temporal):
        return _TEMPORAL_NAME[value.kind]
    return _NAMES[type(value)]


def value_text(value: Value) -> str:
    """The value as text, which with its type is read back; not for lists."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Temporal):
        return value.text
    if isinstance(value, Point):
        return value.text.removeprefix("point(").removesuffix(")")
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return str(value)


def read_value(type_: str, text: str) -> Value:
    """The value that a text is, given its type. ValueError for text that is none, KeyError for an unknown type."""
    return _READERS[type_](text)


def _read_whole(text: str) -> int:
    if not _WHOLE.fullmatch(text):
        raise ValueError(f"{brief(text)} is not a whole number")
    return int(text)


def _read_float(text: str) -> float:
    plain = text.strip().lower()
    if plain.lstrip("+") in _FLOATS:
        return _FLOATS[plain.lstrip("+")]
    if len(plain) > _LONGEST_NUMBER or math.isinf(number := float(plain)) or "_" in plain:
        raise ValueError(f"{brief(text)} is not a number that can be held")
    return number


def _read_boolean(text: str) -> bool:
    if text.strip().lower() not in _BOOLEANS:
        raise ValueError(f"{brief(text)} is neither true nor false")
    return _BOOLEANS[text.strip().lower()]


def read_point_text(text: str, defaults: Mapping[str, Any] | None = None) -> Point:
    """A point as Neo4j's importer reads it: `{latitude: 55.7, longitude: 12.5}`, `{srid: 4326, x: 12.5, y: 55.7}`.

    `defaults` are fields that the text may leave out. ValueError if it is no point.
    """
    found = _POINT.fullmatch(text) if len(text) <= _LONGEST_NUMBER else None
    if found is None:
        raise ValueError(f"{brief(text)} is not a point")
    fields: dict[str, str] = dict(defaults or {})
    for entry in found[1].split(","):
        name, _, value = entry.partition(":")
        fields[name.strip().strip("'\"").lower()] = value.strip().strip("'\"")
    geographic = "longitude" in fields
    named = {_AXES.get(name, name): value for name, value in fields.items()}
    coordinates = [_read_float(named.pop(axis)) for axis in ("x", "y", "z") if axis in named]
    srid = named.pop("srid", None)
    system = named.pop("crs", None)
    if named or (system is not None and system.lower() not in _SYSTEMS):
        raise ValueError(f"{brief(text)} is not a point")
    if srid is None:
        kinds = (4326, 4979) if geographic else (7203, 9157)
        srid = str(_SYSTEMS[system.lower()] if system else kinds[len(coordinates) == 3])
    return checked_point(_read_whole(srid), coordinates)


def _read_bytes(text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError:
        raise ValueError(f"{brief(text)} is not hexadecimal") from None


def _temporal_reader(kind: TemporalKind) -> Callable[[str], Temporal]:
    return lambda text: read_temporal(text, kind)


_NAMES: dict[type, str] = {str: "string", int: "long", float: "double", bool: "boolean", Point: "point", bytes: "bytes"}
_READERS: dict[str, Callable[[str], Value]] = {
    "string": str,
    "char": str,
    **dict.fromkeys(("int", "long", "short", "byte", "integer"), _read_whole),
    **dict.fromkeys(("float", "double"), _read_float),
    "boolean": _read_boolean,
    "bytes": _read_bytes,
    "point": read_point_text,
    **{name: _temporal_reader(kind) for name, kind in TEMPORAL_NAMES.items()},
}
