"""Dates, times and durations from ISO 8601 text, in the one form that Cypher's `toString` gives.

date            2001-04-25
time            12:30:00.5+02:00            local time        12:30:00.5
datetime        2001-04-25T12:30:00+02:00[Europe/Berlin]      local datetime    2001-04-25T12:30:00
duration        P1Y2M3DT4H5M6.5S

Seconds may be left out of a time that is read, and so may the colon of an offset.
"""

import datetime as dt
import re
from typing import get_args

from graphwalk.graphs.values import Temporal, TemporalKind

LONGEST = 120
"""Characters of the longest text that can be a date, a time or a duration."""
_DATE = r"(?P<year>[+-]?\d{4,9})-(?P<month>\d\d)-(?P<day>\d\d)"
_CLOCK = r"(?P<hour>\d\d):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,9}))?)?"
_OFFSET = r"(?P<offset>[Zz]|[+-]\d\d(?::?\d\d(?::\d\d)?)?)"
_ZONE = r"(?:\[(?P<zone>[A-Za-z][\w+/:-]{0,60})\])?"
_FORMS: dict[TemporalKind, re.Pattern[str]] = {
    "date": re.compile(_DATE, re.ASCII),
    "time": re.compile(_CLOCK + _OFFSET, re.ASCII),
    "local time": re.compile(_CLOCK, re.ASCII),
    "datetime": re.compile(f"{_DATE}[T ]{_CLOCK}{_OFFSET}{_ZONE}", re.ASCII),
    "local datetime": re.compile(f"{_DATE}[T ]{_CLOCK}", re.ASCII),
}
_NUMBER = r"([+-]?\d{1,18})"
_DURATION = re.compile(
    rf"(-)?P(?:{_NUMBER}Y)?(?:{_NUMBER}M)?(?:{_NUMBER}W)?(?:{_NUMBER}D)?"
    rf"(T(?:{_NUMBER}H)?(?:{_NUMBER}M)?(?:([+-]?)(\d{{1,18}})(?:[.,](\d{{1,9}}))?S)?)?",
    re.ASCII,
)
_NANOSECONDS = 10**9
KINDS: tuple[TemporalKind, ...] = get_args(TemporalKind)
TEMPORAL_FUNCTIONS: dict[str, TemporalKind] = {kind.replace(" ", ""): kind for kind in KINDS}
"""Names of Cypher's functions and of the types of Neo4j's importer, in lower case: "localtime"."""
_INT64 = 2**63


def read_temporal(text: str, kind: TemporalKind | None = None) -> Temporal:
    """Return the date, time or duration in a text, of this kind or (None) of any kind.

    ValueError if it writes none.
    """
    text = text.strip() if len(text) <= LONGEST else ""
    if kind == "duration" or (kind is None and _DURATION.fullmatch(text)):
        return Temporal("duration", duration_text(*duration_parts(text)))
    kind = kind or next((one for one, form in _FORMS.items() if form.fullmatch(text)), None)
    match = _FORMS[kind].fullmatch(text) if kind else None
    if kind is None or match is None:
        raise ValueError(f"{text!r} is not a {kind or 'date, time or duration'} in the form of ISO 8601")
    parts = match.groupdict()
    try:
        day = _day(parts) if "year" in parts else ""
        clock = _clock(parts) if "hour" in parts else ""
    except ValueError as error:
        raise ValueError(f"{text!r} is not a {kind}: {error}") from None
    zone = f"[{parts['zone']}]" if parts.get("zone") else ""
    return Temporal(kind, "T".join(filter(None, (day, clock))) + zone)


def duration_text(months: int, days: int, seconds: int, nanoseconds: int) -> str:
    """Return the text of a duration. Its four parts stay separate, except that nanoseconds carry into seconds."""
    whole = seconds * _NANOSECONDS + nanoseconds
    if max(abs(months), abs(days), abs(whole) // _NANOSECONDS) >= _INT64:
        raise ValueError("a part of the duration does not fit into 64 bits")
    # Divided towards zero, as in Java: the sign is on every part.
    years, months = (_with_sign(part, months) for part in divmod(abs(months), 12))
    minutes, rest = divmod(abs(whole), 60 * _NANOSECONDS)
    hours, minutes = (_with_sign(part, whole) for part in divmod(minutes, 60))
    date = "".join(f"{part}{letter}" for part, letter in ((years, "Y"), (months, "M"), (days, "D")) if part)
    clock = "".join(f"{part}{letter}" for part, letter in ((hours, "H"), (minutes, "M")) if part)
    if rest:
        sign = "-" if whole < 0 else ""
        clock += f"{sign}{rest // _NANOSECONDS}{_fraction(f'{rest % _NANOSECONDS:09d}')}S"
    return "P" + (date + (f"T{clock}" if clock else "") or "T0S")


def clock_text(hour: int, minute: int, second: int, nanosecond: int) -> str:
    """Return the text of a time of day, with seconds and as few decimals as possible."""
    return f"{hour:02}:{minute:02}:{second:02}{_fraction(f'{nanosecond:09}')}"


def day_text(year: int, month: int, day: int) -> str:
    """Return the text of a day, with a sign for years before 0 and after 9999."""
    sign = "-" if year < 0 else "+" if year > 9999 else ""
    return f"{sign}{abs(year):04d}-{month:02d}-{day:02d}"


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


def duration_parts(text: str) -> tuple[int, int, int, int]:
    """Return months, days, seconds and nanoseconds of a duration. Raise ValueError for other text."""
    match = _DURATION.fullmatch(text)
    if match is None or text.endswith(("P", "T")):
        raise ValueError(f"{text!r} is not a duration")
    minus, years, months, weeks, days, _, hours, minutes, sign, seconds, fraction = match.groups()
    factor = -1 if minus else 1
    inner = -1 if sign == "-" else 1
    return (
        factor * (int(years or 0) * 12 + int(months or 0)),
        factor * (int(weeks or 0) * 7 + int(days or 0)),
        factor * (int(hours or 0) * 3600 + int(minutes or 0) * 60 + inner * int(seconds or 0)),
        factor * inner * int((fraction or "0").ljust(9, "0")),
    )


def _day(parts: dict[str, str | None]) -> str:
    year, month, day = int(parts["year"] or 0), int(parts["month"] or 0), int(parts["day"] or 0)
    # The calendar repeats every 400 years; Python's years end at 9999, Cypher's do not.
    dt.date(2000 + year % 400, month, day)
    return day_text(year, month, day)


def _clock(parts: dict[str, str | None]) -> str:
    hour, minute, second = (int(parts[name] or 0) for name in ("hour", "minute", "second"))
    dt.time(hour, minute, second)
    text = f"{hour:02d}:{minute:02d}:{second:02d}{_fraction(parts['fraction'] or '')}"
    return text + _offset(parts.get("offset") or "")


def _offset(text: str) -> str:
    if not text or text in "Zz":
        return text.upper()
    digits = text[1:].replace(":", "").ljust(4, "0")
    hours, minutes = int(digits[:2]), int(digits[2:4])
    if hours > 18 or minutes > 59 or int(digits[4:] or 0) > 59:
        raise ValueError(f"the offset {text} is out of range")
    seconds = f":{digits[4:]}" if int(digits[4:] or 0) else ""
    return "Z" if not int(digits) else f"{text[0]}{digits[:2]}:{digits[2:4]}{seconds}"


def _fraction(digits: str) -> str:
    significant = digits.rstrip("0")
    return f".{significant}" if significant else ""


def _with_sign(number: int, other: int) -> int:
    """Return the number with the sign of the other."""
    return -number if other < 0 else number
