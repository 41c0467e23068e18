"""The driver's values as values of a property graph."""

from typing import Any

from neo4j import spatial, time

from graphwalk.types.temporals import duration, read_temporal
from graphwalk.types.values import PLAIN, Point, Temporal, Value


def value_of(value: Any) -> Value:
    """What the driver gives for a property as a `Value`; lists become tuples. TypeError for what no property holds."""
    kind = value.__class__
    if kind in PLAIN or kind is float:
        return value  # type: ignore[no-any-return]
    if kind is list:
        return tuple(value_of(item) for item in value)
    if isinstance(value, bytes | bytearray):
        return bytes(value)
    if isinstance(value, spatial.Point):
        return Point(int(value.srid or 0), tuple(float(number) for number in value))
    if isinstance(value, time.Duration):
        return duration(value.months, value.days, value.seconds, value.nanoseconds)
    if isinstance(value, time.Date):
        return read_temporal("date", value.iso_format())
    if isinstance(value, time.Time):
        return read_temporal("local time" if value.tzinfo is None else "time", value.iso_format())
    if isinstance(value, time.DateTime):
        return _datetime(value)
    raise TypeError(f"a property of the type {kind.__name__} is not known")


def _datetime(value: time.DateTime) -> Temporal:
    if value.tzinfo is None:
        return read_temporal("local datetime", value.iso_format())
    zone = getattr(value.tzinfo, "zone", None) or getattr(value.tzinfo, "key", None)
    return read_temporal("datetime", value.iso_format() + (f"[{zone}]" if zone and zone != "UTC" else ""))
