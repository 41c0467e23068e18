"""Convert values between a graph and Neo4j: as they are where Neo4j has a type for them, else as tagged text.

    "\\0" + JSON:   \\0{"$float": "NaN"}   \\0[[1, 2], "a"]   \\0"text that begins so"

The JSON is that of graph files (`graphwalk.graphs.values`). Equal values have equal texts: `=` finds them.
"""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, date, timedelta, timezone
from typing import Any
from uuid import UUID

import pytz  # type: ignore[import-untyped]
from neo4j.graph import Node, Path, Relationship
from neo4j.spatial import CartesianPoint, WGS84Point
from neo4j.spatial import Point as DriverPoint
from neo4j.time import Date, DateTime, Duration, Time
from neo4j.vector import Vector

from graphwalk.errors import StoreError
from graphwalk.graphs.values import Point, Temporal, Value, clock_text, day_text, duration_text, from_json, json_value
from graphwalk.stores.cypher import NO_LABEL

SCALARS = frozenset({str, int, float, bool, type(None)})
_MARK = "\0"
_POINTS: dict[tuple[int, int], type[DriverPoint]] = {
    (4326, 2): WGS84Point,
    (4979, 3): WGS84Point,
    (7203, 2): CartesianPoint,
    (9157, 3): CartesianPoint,
}
"""By SRID and number of dimensions."""
_EPOCH = date(1970, 1, 1).toordinal()
_CYCLE = 146_097
"""Days after which the calendar repeats: 400 years."""


def native(value: Value) -> Any:
    """Return the driver's value for a round trip without change; None if Neo4j has no type for it.

    None for NaN, which equals nothing, and for lists of lists or of mixed kinds.
    """
    if isinstance(value, float):
        return value if value == value else None
    if isinstance(value, Temporal):
        return _temporal(value)
    if isinstance(value, Point):
        kind = _POINTS.get((value.srid, len(value.coordinates)))
        return None if kind is None or any(c != c for c in value.coordinates) else kind(value.coordinates)
    if isinstance(value, tuple):
        kinds = {item.kind if isinstance(item, Temporal) else type(item) for item in value}
        if len(kinds) > 1 or kinds & {tuple, bytes} or len({p.srid for p in value if isinstance(p, Point)}) > 1:
            return None
        items = list(map(native, value))
        return None if any(item is None for item in items) else items
    return value


def stored(value: Value) -> Any:
    """Return the value for Neo4j."""
    held = None if isinstance(value, str) and value.startswith(_MARK) else native(value)
    if held is None:
        return _MARK + json.dumps(json_value(value), ensure_ascii=False)
    return list(map(stored, value)) if isinstance(value, tuple) else held


def stored_parameters(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a query. A tuple is one value, a list is a list of values."""
    return {name: _parameter(value) for name, value in values.items()}


def _parameter(value: Any) -> Any:
    if isinstance(value, list):
        return list(map(_parameter, value))
    if isinstance(value, dict):
        return stored_parameters(value)
    return stored(value) if value is not None else None


def decoded(value: Any) -> Any:
    """Return a value of a query's result with tagged text undone, in lists and maps too; lists become tuples."""
    if isinstance(value, str):
        return _untagged(value) if value.startswith(_MARK) else value
    if isinstance(value, list | tuple):
        return tuple(map(decoded, value))
    return {key: decoded(item) for key, item in value.items()} if isinstance(value, dict) else value


def _untagged(text: str) -> Any:
    """Return the value of a text that begins with the mark. Text that Cypher derived from it loses the mark."""
    try:
        return from_json(json.loads(text[1:]))
    except (ValueError, TypeError, RecursionError):
        return text.lstrip(_MARK)


def from_driver(value: Any) -> Any:
    """Return a value of the driver, neither text, number nor boolean, as a value of the graph.

    Raise StoreError for an unknown type.
    """
    if isinstance(value, DriverPoint):
        return Point(value.srid or 0, tuple(map(float, value)))
    if isinstance(value, bytes | bytearray):
        return bytes(value)
    if isinstance(value, Vector):
        return value.to_native()
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, Date):
        return Temporal("date", day_text(*value.year_month_day))
    if isinstance(value, Duration):
        return Temporal("duration", duration_text(value.months, value.days, value.seconds, value.nanoseconds))
    if isinstance(value, Time):
        return Temporal("local time" if value.tzinfo is None else "time", _clock(value))
    if isinstance(value, DateTime):
        text = f"{day_text(*value.year_month_day)}T{_clock(value)}"
        # The driver takes the offset 0 for the zone UTC.
        zone = getattr(value.tzinfo, "zone", None) or getattr(value.tzinfo, "key", None)
        named = f"[{zone}]" if zone and zone != "UTC" else ""
        return Temporal("local datetime" if value.tzinfo is None else "datetime", text + named)
    raw: Any = getattr(value, "raw_data", None)
    if getattr(raw, "tag", None) == b"D":  # a date before the year 1 or after 9999
        cycles, days = divmod(raw.fields[0] + _EPOCH - 1, _CYCLE)
        day = date.fromordinal(days + 1)
        return Temporal("date", day_text(day.year + 400 * cycles, day.month, day.day))
    raise StoreError(
        f"Neo4j sent a value that its driver cannot hold ({type(value).__name__})",
        hint="times need years from 1 to 9999 and a known time zone",
    )


def _temporal(value: Temporal) -> Any:
    """Return None if the driver would change it: years of five digits, offsets of historic times."""
    try:
        native_value = _MAKERS[value.kind](value.text)
        return native_value if from_driver(native_value) == value else None
    except (ValueError, OverflowError, TypeError, pytz.UnknownTimeZoneError):
        return None


def _datetime(text: str) -> DateTime:
    day, _, clock = text.partition("T")
    clock, _, zone = clock.removesuffix("]").partition("[")
    time = Time.from_iso_format(clock)
    # The zone of pytz with the offset 0 has a name, which would be sent.
    moment = DateTime.combine(Date.from_iso_format(day), time.replace(tzinfo=UTC) if time.tzinfo is pytz.UTC else time)
    return moment.astimezone(pytz.timezone(zone)) if zone else moment


def _clock(value: Time | DateTime) -> str:
    text = clock_text(value.hour, value.minute, value.second, value.nanosecond)
    return (
        text if value.tzinfo is None else text + _offset_text(round((value.utcoffset() or timedelta()).total_seconds()))
    )


def _offset_text(seconds: int) -> str:
    return str(timezone(timedelta(seconds=seconds))).removeprefix("UTC") or "Z"


_MAKERS: dict[str, Callable[[str], Any]] = {
    "date": Date.from_iso_format,
    "time": Time.from_iso_format,
    "local time": Time.from_iso_format,
    "datetime": _datetime,
    "local datetime": _datetime,
    "duration": Duration.from_iso_format,
}


def plain(value: Any, scope: str | None) -> Any:
    """Return the value without the types of the driver, and without `scope` in lists of labels.

    Node → {"labels", "properties"}, relationship → {"type", "properties"}, path → {"nodes", "relationships"}; maps
    sorted by name. (`Record.data()` would lose the properties of relationships.)
    """
    if value.__class__ in SCALARS:
        return value
    own_labels = frozenset() if scope is None else frozenset({scope, NO_LABEL})
    if isinstance(value, list):
        hidden = own_labels if scope in value else frozenset()
        return [plain(item, scope) for item in value if item.__class__ is not str or item not in hidden]
    if isinstance(value, dict):
        return {name: plain(value[name], scope) for name in sorted(value)}
    if isinstance(value, Node):
        return {"labels": sorted(value.labels - own_labels), "properties": plain(dict(value.items()), scope)}
    if isinstance(value, Relationship):
        return {"type": value.type, "properties": plain(dict(value.items()), scope)}
    if isinstance(value, Path):
        return {"nodes": plain([*value.nodes], scope), "relationships": plain([*value.relationships], scope)}
    return from_driver(value)
