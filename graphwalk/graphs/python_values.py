"""Values of Python's libraries as those of a property graph: numpy's scalars and arrays, pandas' times and gaps."""

import datetime as dt
from typing import Any

import numpy as np

from graphwalk.types.temporals import duration_text, read_temporal
from graphwalk.types.values import Temporal


def plain_value(value: Any) -> Any:
    """A value without the types of numpy and pandas; None for what is missing there. Anything else as it is.

    pandas is asked nothing: its timestamps are Python's datetimes with more digits, and its gaps are unequal to
    themselves, or say that they have no truth.
    """
    if isinstance(value, np.ndarray):
        return [plain_value(item) for item in value.tolist()]
    if isinstance(value, list | tuple | set | frozenset):
        return [plain_value(item) for item in (sorted(value) if isinstance(value, set | frozenset) else value)]
    if isinstance(value, np.datetime64 | np.timedelta64):
        return _numpy_time(value)
    if isinstance(value, np.generic):
        return value.item()
    if type(value).__name__ in ("NaTType", "NAType") or value is np.ma.masked:
        return None
    return _precise(value)


def _numpy_time(value: Any) -> Any:
    if np.isnat(value):
        return None
    if isinstance(value, np.timedelta64):
        return Temporal("duration", duration_text(0, 0, 0, int(value.astype("timedelta64[ns]").astype(np.int64))))
    unit = np.datetime_data(value.dtype)[0]
    if unit in ("Y", "M", "W", "D"):
        return read_temporal(str(value.astype("datetime64[D]")), "date")
    return read_temporal(str(value), "local datetime")


def _precise(value: Any) -> Any:
    """pandas' timestamps and spans have nanoseconds, which Python's have not."""
    nanoseconds = getattr(value, "nanosecond", None)
    if isinstance(value, dt.datetime) and type(nanoseconds) is int:
        zone = getattr(value.tzinfo, "key", None) or getattr(value.tzinfo, "zone", None)
        named = f"[{zone}]" if zone and zone != "UTC" else ""
        return read_temporal(value.isoformat() + named, "local datetime" if value.tzinfo is None else "datetime")
    if isinstance(value, dt.timedelta) and type(getattr(value, "nanoseconds", None)) is int:
        nanoseconds = value.microseconds * 1000 + value.nanoseconds  # type: ignore[attr-defined]
        return Temporal("duration", duration_text(0, value.days, value.seconds, nanoseconds))
    return value
