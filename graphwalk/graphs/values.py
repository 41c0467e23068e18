"""Values of properties: their types, texts and JSON forms, and the rows of queries.

Dates, times and durations are ISO 8601 text in the one form that Cypher's `toString` gives:

date            2001-04-25
time            12:30:00.5+02:00            local time        12:30:00.5
datetime        2001-04-25T12:30:00+02:00[Europe/Berlin]      local datetime    2001-04-25T12:30:00
duration        P1Y2M3DT4H5M6.5S

`neo4j.time` does not read them: it refuses a time zone in brackets and the offset +0200, loses the seconds of an offset
(+00:09:21), takes three times as long, and importing it takes longer than most graphs take to load.

Seconds may be left out of a time that is read, and so may the colon of an offset. Values that JSON lacks are objects
with one field, whose name is the type:

{"$date": "2001-04-25"}   {"$time": "12:30:00+02:00"}   {"$localTime": "12:30:00"}   {"$duration": "P1DT2H"}
{"$dateTime": "2001-04-25T12:30:00Z"}   {"$localDateTime": "2001-04-25T12:30:00"}
{"$point": {"srid": 4326, "x": 12.5, "y": 55.7}}   {"$bytes": "00ff"}   {"$float": "NaN"}
"""

import datetime as dt
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias, get_args

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
        return _shown_float(value)
    if kind is Temporal or kind is Point:
        return value.text
    if kind is bytes or kind is bytearray:
        return "bytes:" + value.hex()
    if kind is dict:
        return {name: shown(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [shown(item) for item in value]
    # A user's own query may return values that no graph can hold.
    return str(value)


def _shown_float(number: float) -> float | str:
    if math.isfinite(number):
        return number
    if math.isnan(number):
        return "NaN"
    return "Infinity" if number > 0 else "-Infinity"


def flat(values: Iterable[Any]) -> Iterator[Any]:
    """Yield the values, and the members of lists in place of these."""
    for value in values:
        if isinstance(value, list | tuple):
            yield from flat(value)
        else:
            yield value


def shown_rows(rows: list[Row]) -> list[Row]:
    """Return the rows with all values in their JSON form."""
    json_rows = []
    for row in rows:
        json_rows.append({name: shown(value) for name, value in row.items()})
    return json_rows


def brief(value: Any) -> str:
    """Return a value for a message, shortened if long."""
    text = repr(value)
    if len(text) <= _LONGEST_QUOTE:
        return text
    return text[:_LONGEST_QUOTE] + "…"


_LONGEST_QUOTE = 100
_SINGLE = (str, int, float, bool, Temporal, Point, bytes)


def value_of(data: Any) -> Value | None:
    """Return data of JSON or of Python as a value that a graph can hold: a list as a tuple of one kind, None for None.

    Raise ValueError for anything else.
    """
    if isinstance(data, dict):
        data = from_json(data)
    if isinstance(data, dt.date | dt.time | dt.timedelta):
        return temporal_of(data)
    if isinstance(data, list | tuple):
        items = tuple(value_of(item) for item in data)
        kinds = {_kind_of_item(item) for item in items}
        # [1, 2.5]
        if kinds == {"int", "float"}:
            return tuple(float(item) for item in items)  # type: ignore[arg-type]
        if len(kinds) > 1:
            raise ValueError(f"a list holds values of one kind, not of {', '.join(sorted(kinds))}")
        # Not [[1, 2], [3]] and [null]: no graph database stores them.
        if not kinds & {"tuple", "NoneType"}:
            return items
    elif data is None or type(data) in _SINGLE:
        if isinstance(data, int) and not -_INT64 <= data < _INT64:
            raise ValueError(f"{brief(data)} does not fit into 64 bits")
        if isinstance(data, str):
            data.encode()  # raises UnicodeEncodeError, a ValueError, for half of a surrogate pair
        return data  # type: ignore[no-any-return]
    raise ValueError(
        f"a value must be text, a number, a boolean, a date, a time, a point or a list of these, not {brief(data)}"
    )


def _kind_of_item(item: Value | None) -> str:
    return item.kind if isinstance(item, Temporal) else type(item).__name__


_TAGS: dict[TemporalKind, str] = {
    "date": "$date",
    "time": "$time",
    "local time": "$localTime",
    "datetime": "$dateTime",
    "local datetime": "$localDateTime",
    "duration": "$duration",
}


def json_value(value: Value) -> Any:
    """Return the value as JSON, tagged if JSON has no such type."""
    match value:
        case tuple():
            return [json_value(item) for item in value]
        case Temporal(kind, text):
            return {_TAGS[kind]: text}
        case Point(srid, coordinates):
            fields: dict[str, float] = {"srid": srid}
            fields.update(zip("xyz", coordinates, strict=False))
            return {"$point": fields}
        case bytes():
            return {"$bytes": value.hex()}
        case float() if not math.isfinite(value):
            return {"$float": shown(value)}
    return value


def from_json(data: Any) -> Any:
    """Invert `json_value`; return other values unchanged. Raise ValueError for an object that is not a value.

    An object with the fields of a point in Cypher is a point.
    """
    if isinstance(data, list):
        return tuple(from_json(item) for item in data)
    if not isinstance(data, dict):
        return data

    # {"longitude": 12.5, "latitude": 55.7}
    if len(data) > 1 and data.keys() <= _POINT_FIELDS:
        return point_of(data)

    tags = (*_TAGS.values(), "$point", "$bytes", "$float")
    tag = next(iter(data), "")
    if len(data) != 1 or tag not in tags:
        raise ValueError(f"an object cannot be a value, unless it is one of {', '.join(tags)}: {brief(data)}")
    content = data[tag]
    # {"$point": {"srid": 4326, "x": 12.5, "y": 55.7}}
    if tag == "$point" and isinstance(content, dict):
        return point_of(content)
    # {"$date": "2001-04-25"}; the type of {"$localTime": "12:30"} is localtime
    if isinstance(content, str):
        return read_value(tag.removeprefix("$").lower(), content)
    raise ValueError(f"{tag} cannot be {brief(content)}")


_LONGEST_TEMPORAL = 120
"""Characters of the longest text that can be a date, a time or a duration."""
_CLOCK = r"(?P<clock>\d\d:\d\d)(?::(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,9}))?)?"
_OFFSET = r"(?P<offset>[Zz]|[+-]\d\d(?::?\d\d(?::\d\d)?)?)"
_ZONE = r"(?P<zone>\[[A-Za-z][\w+/:-]{0,60}\])"
_TIME = re.compile(f"{_CLOCK}{_OFFSET}?", re.ASCII)
_DAY = re.compile(rf"(?P<date>\d{{4}}-\d\d-\d\d)(?:[T ]{_CLOCK}(?:{_OFFSET}{_ZONE}?)?)?", re.ASCII)
_NUMBER = r"([+-]?\d{1,18})"
_DURATION = re.compile(
    rf"(-)?P(?:{_NUMBER}Y)?(?:{_NUMBER}M)?(?:{_NUMBER}W)?(?:{_NUMBER}D)?"
    rf"(?:T(?:{_NUMBER}H)?(?:{_NUMBER}M)?(?:{_NUMBER}(?:[.,](\d{{1,9}}))?S)?)?",
    re.ASCII,
)
_NANOSECONDS = 10**9
TEMPORAL_FUNCTIONS: dict[str, TemporalKind] = {kind.replace(" ", ""): kind for kind in get_args(TemporalKind)}
"""Names of Cypher's functions and of the types of Neo4j's importer, in lower case: "localtime"."""
_INT64 = 2**63


def read_temporal(text: str, kind: TemporalKind | None = None) -> Temporal:
    """Return the date, time or duration in a text, of this kind or (None) of any kind.

    ValueError if it writes none. Years are from 1 to 9999.
    """
    text = text.strip() if len(text) <= _LONGEST_TEMPORAL else ""
    value = None
    if match := _DURATION.fullmatch(text):
        value = _read_duration(match)
    elif match := _DAY.fullmatch(text) or _TIME.fullmatch(text):
        try:
            value = _read_moment(**match.groupdict(""))
        except ValueError as error:
            raise ValueError(f"{text!r} is not a date or time: {error}") from None
    if value is None or kind not in (None, value.kind):
        raise ValueError(f"{text!r} is not a {kind or 'date, time or duration'} in the form of ISO 8601")
    return value


def _read_moment(*, clock: str, second: str, fraction: str, offset: str, date: str = "", zone: str = "") -> Temporal:
    """Return a date or a time from its parts. Raise ValueError for one that does not exist."""
    if date:
        dt.date.fromisoformat(date)
    if not clock:
        return Temporal("date", date)

    # clock "12:30", second "5", fraction "50" and offset "+0200" become 12:30:05.5+02:00; Python knows no nanoseconds.
    time = dt.time.fromisoformat(f"{clock}:{second or '00'}{offset.upper()}").isoformat()
    text = time[:8]
    offset = time[8:]
    if fraction.rstrip("0"):
        text += f".{fraction.rstrip('0')}"
    text += "Z" if offset == "+00:00" else offset
    if not date:
        return Temporal("time" if offset else "local time", text)
    return Temporal("datetime" if offset else "local datetime", f"{date}T{text}{zone}")


def _read_duration(match: re.Match[str]) -> Temporal | None:
    # "P" and "P1DT" match, but lack the part that they announce.
    if match[0].endswith(("P", "T")):
        return None
    minus, *numbers, fraction = match.groups()
    years, months, weeks, days, hours, minutes, seconds = (int(number or 0) for number in numbers)
    nanoseconds = int((fraction or "0").ljust(9, "0"))
    # PT-0.5S: the 0 has no sign in Python.
    if (numbers[-1] or "").startswith("-"):
        nanoseconds = -nanoseconds
    sign = -1 if minus else 1
    text = duration_text(
        months=sign * (years * 12 + months),
        days=sign * (weeks * 7 + days),
        seconds=sign * (hours * 3600 + minutes * 60 + seconds),
        nanoseconds=sign * nanoseconds,
    )
    return Temporal("duration", text)


def duration_text(months: int, days: int, seconds: int, nanoseconds: int) -> str:
    """Return the text of a duration. Its four parts stay separate, except that nanoseconds carry into seconds."""
    whole = seconds * _NANOSECONDS + nanoseconds
    if max(abs(months), abs(days), abs(whole) // _NANOSECONDS) >= _INT64:
        raise ValueError("a part of the duration does not fit into 64 bits")
    years, months = _divided(months, 12)
    minutes, rest = _divided(whole, 60 * _NANOSECONDS)
    hours, minutes = _divided(minutes, 60)

    date = _with_units({"Y": years, "M": months, "D": days})
    clock = _with_units({"H": hours, "M": minutes})
    if rest:
        sign = "-" if rest < 0 else ""
        full_seconds, fraction = divmod(abs(rest), _NANOSECONDS)
        decimal = f"{full_seconds}.{fraction:09}".rstrip("0").rstrip(".")
        clock += f"{sign}{decimal}S"
    if clock:
        return f"P{date}T{clock}"
    return f"P{date}" if date else "PT0S"


def _divided(number: int, divisor: int) -> tuple[int, int]:
    """Return quotient and rest, divided towards zero as in Java: of -14 months, -1 year and -2 months."""
    quotient, rest = divmod(abs(number), divisor)
    return (quotient, rest) if number >= 0 else (-quotient, -rest)


def _with_units(numbers: Mapping[str, int]) -> str:
    """Return the numbers other than 0 with their units: 1Y-2M."""
    return "".join(f"{number}{unit}" for unit, number in numbers.items() if number)


def temporal_of(value: dt.date | dt.time | dt.timedelta) -> Temporal:
    """Return a date, time or timedelta of Python or pandas; those without an offset are local."""
    if isinstance(value, dt.timedelta):
        nanoseconds = value.microseconds * 1000 + getattr(value, "nanoseconds", 0)  # which those of pandas have
        return Temporal("duration", duration_text(0, value.days, value.seconds, nanoseconds))
    if isinstance(value, dt.datetime):
        zone = getattr(value.tzinfo, "key", None) or getattr(value.tzinfo, "zone", None)
        text = value.isoformat() + (f"[{zone}]" if zone and zone != "UTC" else "")
        return read_temporal(text, "local datetime" if value.tzinfo is None else "datetime")
    if isinstance(value, dt.time):
        return read_temporal(value.isoformat(), "local time" if value.tzinfo is None else "time")
    return read_temporal(value.isoformat(), "date")


_SYSTEMS = {"cartesian": 7203, "cartesian-3d": 9157, "wgs-84": 4326, "wgs-84-3d": 4979}
"""Numbers of Neo4j's coordinate systems."""
_THREE_DIMENSIONAL = (9157, 4979)
_AXES = {"longitude": "x", "latitude": "y", "height": "z"}
_POINT_FIELDS = {*_AXES, *_AXES.values(), "crs", "srid"}


def point_of(fields: Mapping[str, Any]) -> Point:
    """Return the point with x, y, z or longitude, latitude, height, and `srid` or `crs`, as in Cypher.

    Raise ValueError unless Neo4j has such a coordinate system with as many axes.
    """
    # {"longitude": 12.5, "latitude": 55.7} is {"x": 12.5, "y": 55.7} in the system wgs-84.
    rest = {_AXES.get(name, name): value for name, value in fields.items() if value is not None}
    coordinates = []
    for axis in ("x", "y", "z"):
        if axis in rest:
            coordinates.append(rest.pop(axis))

    default = "wgs-84" if "longitude" in fields else "cartesian"
    if len(coordinates) == 3:
        default += "-3d"
    system = str(rest.pop("crs", default)).lower()
    srid = rest.pop("srid", _SYSTEMS.get(system, system))
    if rest:
        raise ValueError(f"{brief(dict(fields))} is not a point")

    is_known = type(srid) is int and srid in _SYSTEMS.values()
    axes = 3 if srid in _THREE_DIMENSIONAL else 2
    if not is_known or len(coordinates) != axes:
        raise ValueError(f"no coordinate system {brief(srid)} has {len(coordinates)} coordinates")
    if not all(type(number) in (int, float) for number in coordinates):
        raise ValueError(f"the coordinates of a point are numbers, not {brief(coordinates)}")
    return Point(srid, tuple(float(number) for number in coordinates))


_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
_WHOLE = re.compile(r"\s*[+-]?\d+\s*", re.ASCII)
_POINT = re.compile(r"\s*(?:point\s*\(\s*)?\{(.*)\}\s*\)?\s*", re.IGNORECASE | re.DOTALL)


def type_name(value: Value) -> str:
    """Return string, long, double, boolean, bytes, point or a name of `TEMPORAL_FUNCTIONS`.

    The type of a list is that of its items with [] behind it, string[] if it is empty.
    """
    if isinstance(value, tuple):
        item_type = type_name(value[0]) if value else "string"
        return f"{item_type}[]"
    if isinstance(value, Temporal):
        return value.kind.replace(" ", "")
    return _NAMES[type(value)]


def value_text(value: Value) -> str:
    """Return a value as text that can be read back given its type; not for lists."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Point):
        return value.text.removeprefix("point(").removesuffix(")")
    if isinstance(value, bytes):
        return value.hex()
    return str(shown(value))


def read_value(type_: str, text: str) -> Value:
    """Return the value of a text of a type. Raise ValueError for wrong text and for an unknown type."""
    if type_ not in READERS:
        raise ValueError(f"the type {type_!r} is unknown")
    return READERS[type_](text)


def _read_whole(text: str) -> int:
    if not _WHOLE.fullmatch(text):
        raise ValueError(f"{brief(text)} is not a whole number")
    return int(text)


def _read_float(text: str) -> float:
    number = float(text)
    if "_" in text or (math.isinf(number) and "inf" not in text.lower()):
        raise ValueError(f"{brief(text)} is not a number that can be held")
    return number


def _read_boolean(text: str) -> bool:
    if text.strip().lower() not in _BOOLEANS:
        raise ValueError(f"{brief(text)} is neither true nor false")
    return _BOOLEANS[text.strip().lower()]


def _read_point(text: str) -> Point:
    """Return a point for Neo4j's importer: `{latitude: 55.7, longitude: 12.5}`, `{srid: 4326, x: 12.5, y: 55.7}`."""
    match = _POINT.fullmatch(text)
    if match is None:
        raise ValueError(f"{brief(text)} is not a point")
    fields: dict[str, str] = {}
    for entry in match[1].split(","):
        name, _, value = entry.partition(":")
        fields[name.strip().strip("'\"").lower()] = value.strip().strip("'\"")
    readers: dict[str, Callable[[str], Any]] = {"crs": str, "srid": _read_whole}
    return point_of({name: readers.get(name, _read_float)(value) for name, value in fields.items()})


_NAMES: dict[type, str] = {str: "string", int: "long", float: "double", bool: "boolean", Point: "point", bytes: "bytes"}
READERS: dict[str, Callable[[str], Value]] = {
    "string": str,
    "char": str,
    **dict.fromkeys(("int", "long", "short", "byte", "integer"), _read_whole),
    **dict.fromkeys(("float", "double"), _read_float),
    "boolean": _read_boolean,
    "bytes": bytes.fromhex,
    "point": _read_point,
    **{name: partial(read_temporal, kind=kind) for name, kind in TEMPORAL_FUNCTIONS.items()},
}
"""Readers of texts by the types of Neo4j's importer and of GraphML."""
