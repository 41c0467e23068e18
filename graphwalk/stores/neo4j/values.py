"""Read the values of a query's result from the types of the driver."""

from typing import Any
from uuid import UUID

from neo4j.graph import Node, Path, Relationship
from neo4j.spatial import Point as DriverPoint
from neo4j.time import Date, DateTime, Duration, Time
from neo4j.vector import Vector

from graphwalk.errors import StoreError
from graphwalk.graphs.values import Point, Temporal, read_temporal
from graphwalk.stores.cypher import NO_LABEL

SCALARS = frozenset({str, int, float, bool, type(None)})


def from_driver(value: Any) -> Any:
    """Return a value of the driver, neither text, number nor boolean, as a value of the graph.

    Raise StoreError for an unknown type.
    """
    if isinstance(value, DriverPoint):
        return Point(value.srid or 0, tuple(float(coordinate) for coordinate in value))
    if isinstance(value, bytes | bytearray):
        return bytes(value)
    if isinstance(value, Vector):
        return value.to_native()
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, Duration):
        return Temporal("duration", value.iso_format())
    if isinstance(value, Date):
        return read_temporal(value.iso_format(), "date")
    if isinstance(value, Time):
        return read_temporal(value.iso_format(), "local time" if value.tzinfo is None else "time")
    if isinstance(value, DateTime):
        # The driver takes the offset 0 for the zone UTC.
        # 2024-05-01T12:00:00+02:00[Europe/Berlin]
        zone = getattr(value.tzinfo, "zone", None) or getattr(value.tzinfo, "key", None)
        text = value.iso_format()
        if zone and zone != "UTC":
            text += f"[{zone}]"
        return read_temporal(text, "local datetime" if value.tzinfo is None else "datetime")
    raise StoreError(
        f"Neo4j sent a value that its driver cannot hold ({type(value).__name__})",
        hint="dates need years from 1 to 9999 and a known time zone",
    )


def as_plain_value(value: Any, scope: str | None) -> Any:
    """Return the value without the types of the driver, and without `scope` in lists of labels.

    Node → {"labels", "properties"}, relationship → {"type", "properties"}, path → {"nodes", "relationships"}; maps
    sorted by name. (`Record.data()` would lose the properties of relationships.)
    """
    if value.__class__ in SCALARS:
        return value
    own_labels = frozenset() if scope is None else frozenset({scope, NO_LABEL})
    if isinstance(value, list):
        hidden = own_labels if scope in value else frozenset()
        return [as_plain_value(item, scope) for item in value if item.__class__ is not str or item not in hidden]
    if isinstance(value, dict):
        return {name: as_plain_value(value[name], scope) for name in sorted(value)}
    if isinstance(value, Node):
        return {"labels": sorted(value.labels - own_labels), "properties": as_plain_value(dict(value.items()), scope)}
    if isinstance(value, Relationship):
        return {"type": value.type, "properties": as_plain_value(dict(value.items()), scope)}
    if isinstance(value, Path):
        return {
            "nodes": as_plain_value(list(value.nodes), scope),
            "relationships": as_plain_value(list(value.relationships), scope),
        }
    return from_driver(value)
