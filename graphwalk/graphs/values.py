"""Values of properties, their JSON form, and the rows of queries."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

TemporalKind = Literal["date", "time", "local time", "datetime", "local datetime", "duration"]


@dataclass(frozen=True, slots=True, order=True)
class Temporal:
    """A date, a time or a duration, as ISO 8601 text in the form that Cypher's `toString` gives."""

    kind: TemporalKind
    text: str


@dataclass(frozen=True, slots=True, order=True)
class Point:
    """A point in two or three dimensions; `srid` names its coordinate system (4326: longitude and latitude)."""

    srid: int
    coordinates: tuple[float, ...]

    @property
    def text(self) -> str:
        """Return Cypher: `point({srid: 4326, x: 12.5, y: 55.7})`."""
        axes = ", ".join(f"{axis}: {value!r}" for axis, value in zip("xyz", self.coordinates, strict=False))
        return f"point({{srid: {self.srid}, {axes}}})"


Scalar: TypeAlias = str | int | float | bool
"""A value that JSON has, but for NaN and the infinities."""

Value: TypeAlias = Scalar | Temporal | Point | bytes | tuple[Any, ...]
"""A property value; a list is a tuple of values. A missing property is absent, never None."""

SCALARS = (str, int, float, bool)
SPECIAL_FLOATS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
"""Floats that JSON lacks, by the text that replaces them."""

Row = dict[str, Any]
"""One row of a query's result: field name → JSON value (null for a missing property)."""

PLAIN = frozenset({str, int, bool})
"""Types of values that JSON has as they are. (Of floats it lacks NaN and the infinities.)"""


def shown(value: Any) -> Any:
    """Return the value as JSON, in one form for every store, for models, files and tables.

    Times, points and bytes become text (`2001-04-25`, `point({…})`, `bytes:00ff`), NaN and the infinities too; lists
    and maps are gone through.
    """
    kind = value.__class__
    if kind in PLAIN or value is None:
        return value
    if kind is float:
        return value if math.isfinite(value) else "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    if kind is Temporal or kind is Point:
        return value.text
    if kind is bytes or kind is bytearray:
        return "bytes:" + value.hex()
    if kind is dict:
        return {name: shown(item) for name, item in value.items()}
    # A user's own query may return values that no graph can hold.
    return [shown(item) for item in value] if isinstance(value, list | tuple) else str(value)


def flat(values: Iterable[Any]) -> Iterator[Any]:
    """Yield the values, and the members of lists in place of these."""
    for value in values:
        yield from flat(value) if isinstance(value, list | tuple) else (value,)


def shown_rows(rows: list[Row]) -> list[Row]:
    """Return the rows with all values in their JSON form."""
    return [{name: shown(value) for name, value in row.items()} for row in rows]
