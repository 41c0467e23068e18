"""Values that JSON lacks, as objects with one field, whose name says what they are.

{"$date": "2001-04-25"}   {"$time": "12:30:00+02:00"}   {"$localTime": "12:30:00"}   {"$duration": "P1DT2H"}
{"$dateTime": "2001-04-25T12:30:00Z"}   {"$localDateTime": "2001-04-25T12:30:00"}
{"$point": {"srid": 4326, "x": 12.5, "y": 55.7}}   {"$bytes": "00ff"}   {"$float": "NaN"}
"""

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from graphwalk.graphs.files.checked import brief
from graphwalk.types.temporals import read_temporal
from graphwalk.types.values import Point, Temporal, TemporalKind, Value

_TEMPORAL_TAGS: dict[str, TemporalKind] = {
    "$date": "date",
    "$time": "time",
    "$localTime": "local time",
    "$dateTime": "datetime",
    "$localDateTime": "local datetime",
    "$duration": "duration",
}
_TAG_OF = {kind: tag for tag, kind in _TEMPORAL_TAGS.items()}
_FLOATS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_LONGEST_NUMBER = 400
POINT_FIELDS = ("srid", "x", "y", "z")


def parse_json(text: str) -> Any:
    """A JSON document; ValueError, with the place where known, for damage, doubled fields and endless numbers."""
    return json.loads(
        text, parse_constant=_refuse, parse_int=_whole, parse_float=_float, object_pairs_hook=_without_doubles
    )


def json_value(value: Value) -> Any:
    """The value as JSON has it, tagged where JSON has nothing of the kind."""
    if isinstance(value, tuple):
        return [json_value(item) for item in value]
    if isinstance(value, Temporal):
        return {_TAG_OF[value.kind]: value.text}
    if isinstance(value, Point):
        return {"$point": dict(zip(POINT_FIELDS, (value.srid, *value.coordinates), strict=False))}
    if isinstance(value, bytes):
        return {"$bytes": value.hex()}
    if isinstance(value, float) and not math.isfinite(value):
        return {"$float": next(name for name, other in _FLOATS.items() if repr(other) == repr(value))}
    return value


def from_json(value: Any) -> Any:
    """What `json_value` gave, undone; anything else as it is. ValueError for a tag that is not known or is misused."""
    if isinstance(value, list):
        return [from_json(item) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) != 1 or (tag := next(iter(value))) not in _READERS:
        raise ValueError(f"an object cannot be a value, unless it is one of {', '.join(_READERS)}: {brief(value)}")
    return _READERS[tag](value[tag])


def read_point(fields: Any) -> Point:
    """A point from `srid` and `x`, `y`, maybe `z`. ValueError for anything else."""
    if not isinstance(fields, Mapping) or not {"srid", "x", "y"} <= set(fields) <= set(POINT_FIELDS):
        raise ValueError(f"a point has srid, x, y and maybe z, not {brief(fields)}")
    srid, *coordinates = (fields[name] for name in POINT_FIELDS if name in fields)
    return checked_point(srid, coordinates)


def checked_point(srid: Any, coordinates: list[Any]) -> Point:
    """ValueError unless Neo4j knows a coordinate system of that number with as many coordinates."""
    if _DIMENSIONS.get(srid if type(srid) is int else -1) != len(coordinates):
        raise ValueError(f"no coordinate system {brief(srid)} has {len(coordinates)} coordinates")
    if not all(type(number) in (int, float) and math.isfinite(number) for number in coordinates):
        raise ValueError(f"the coordinates of a point are finite numbers, not {brief(coordinates)}")
    return Point(srid, tuple(float(number) for number in coordinates))


_DIMENSIONS = {4326: 2, 4979: 3, 7203: 2, 9157: 3}
"""Coordinate systems of Neo4j: WGS 84 and Cartesian, in two and three dimensions."""


def _temporal_reader(kind: TemporalKind) -> Callable[[Any], Temporal]:
    return lambda text: read_temporal(_text(text), kind)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"a tagged value is text, not {brief(value)}")
    return value


def _bytes(value: Any) -> bytes:
    try:
        return bytes.fromhex(_text(value))
    except ValueError:
        raise ValueError(f"bytes are written as hexadecimal digits, not {brief(value)}") from None


def _special_float(value: Any) -> float:
    if _text(value) not in _FLOATS:
        raise ValueError(f"$float is one of {', '.join(_FLOATS)}, not {brief(value)}")
    return _FLOATS[value]


_READERS: dict[str, Callable[[Any], Any]] = {
    **{tag: _temporal_reader(kind) for tag, kind in _TEMPORAL_TAGS.items()},
    "$point": read_point,
    "$bytes": _bytes,
    "$float": _special_float,
}


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f'{constant} is not a JSON number; write {{"$float": "{constant}"}}')


def _whole(text: str) -> int:
    if len(text) > _LONGEST_NUMBER:
        raise ValueError(f"the number {text[:20]}… has {len(text)} digits and does not fit into 64 bits")
    return int(text)


def _float(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"the number {text[:40]} is too large")
    return number


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"an object has the field {brief(twice)} twice")
    return found
