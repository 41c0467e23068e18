"""Convert values between a graph and the types of the Neo4j driver."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from functools import cache
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytz  # type: ignore[import-untyped]
from neo4j.graph import Node, Path, Relationship
from neo4j.spatial import CartesianPoint, WGS84Point
from neo4j.spatial import Point as DriverPoint
from neo4j.time import Date, DateTime, Duration, Time
from neo4j.vector import Vector

from graphwalk.errors import StoreError
from graphwalk.stores.cypher import NO_LABEL
from graphwalk.stores.serialisation import Serialisation
from graphwalk.types.temporals import clock_text, day_text, duration_text
from graphwalk.types.values import Point, Temporal, Value

SCALARS = frozenset({str, int, float, bool, type(None)})
_POINTS: dict[tuple[int, int], type[DriverPoint]] = {
    (4326, 2): WGS84Point,
    (4979, 3): WGS84Point,
    (7203, 2): CartesianPoint,
    (9157, 3): CartesianPoint,
}
"""By SRID and number of dimensions."""
_EPOCH = date(1970, 1, 1).toordinal()
_CYCLE = 146_097
"""Days after which the calendar repeats, weekdays included: 400 years."""
_FIRST, _LAST = date(2, 1, 1).toordinal(), date(9998, 12, 31).toordinal()
"""Days that Python can hold in every time zone."""


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


SERIALISATION = Serialisation(native)


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
        seconds = 86400 * (value.to_ordinal() - _EPOCH) + 3600 * value.hour + 60 * value.minute + value.second
        offset = round((value.utcoffset() or timedelta()).total_seconds())
        return _moment(seconds - offset, value.nanosecond, None if value.tzinfo is None else _zone(value) or offset)
    # What the driver's types cannot hold, years before 1 and after 9999 for example, comes as the server sent it.
    raw = getattr(value, "raw_data", None)
    match getattr(raw, "tag", None), getattr(raw, "fields", []):
        case b"D", [days]:
            return Temporal("date", _day(days))
        case ((b"d" | b"I" | b"i"), fields):
            return _moment(*fields)
    raise StoreError(f"Neo4j sent a value of an unknown type: {type(value).__name__}", hint="upgrade GraphWalk")


def _moment(seconds: int, nanoseconds: int, zone: str | int | None = None) -> Temporal:
    """Return a date and time from the seconds since 1970 in UTC; without a zone, in local time.

    A zone is a name or an offset in seconds. The offset of an unknown zone is written as zero: the moment is the same.
    """
    offset = _offset(seconds, zone) if isinstance(zone, str) else zone or 0
    days, second = divmod(seconds + offset, 86400)
    text = f"{_day(days)}T{clock_text(second // 3600, second // 60 % 60, second % 60, nanoseconds)}"
    if zone is None:
        return Temporal("local datetime", text)
    return Temporal("datetime", text + _offset_text(offset) + (f"[{zone}]" if isinstance(zone, str) else ""))


def _calendar(days: int) -> tuple[date, int]:
    """Return a day since 1970 as one that Python can hold, and the number of cycles by which it is later."""
    number = _EPOCH + days
    cycles = min(0, (number - _FIRST) // _CYCLE) or max(0, -((_LAST - number) // _CYCLE))
    return date.fromordinal(number - cycles * _CYCLE), cycles


def _day(days: int) -> str:
    day, cycles = _calendar(days)
    return day_text(day.year + 400 * cycles, day.month, day.day)


def _offset(seconds: int, zone: str) -> int:
    """Return the offset of a zone at a moment; zones of pytz, which the driver uses, know no rules after 2037."""
    day, _ = _calendar(seconds // 86400)
    moment = datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(seconds=seconds % 86400)
    try:
        offset = moment.astimezone(_zone_info(zone)).utcoffset()
    except (OSError, ValueError):
        return 0
    return round((offset or timedelta()).total_seconds())


@cache
def _zone_info(zone: str) -> ZoneInfo:
    with pytz.open_resource(zone) as file:
        return ZoneInfo.from_file(file, key=zone)


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


def _clock(value: Time) -> str:
    text = clock_text(value.hour, value.minute, value.second, value.nanosecond)
    return (
        text if value.tzinfo is None else text + _offset_text(round((value.utcoffset() or timedelta()).total_seconds()))
    )


def _offset_text(seconds: int) -> str:
    return str(timezone(timedelta(seconds=seconds))).removeprefix("UTC") or "Z"


def _zone(value: DateTime) -> str | None:
    """Return the name of the zone, or None for an offset; the driver takes the offset 0 for the zone UTC."""
    name = getattr(value.tzinfo, "zone", None) or getattr(value.tzinfo, "key", None)
    return name if name != "UTC" else None


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
