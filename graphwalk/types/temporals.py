"""Dates, times and durations read from ISO 8601 text, and written as Cypher's `toString` writes them.

2001-04-25   10:00:00.5+01:00   10:00:00   2001-04-25T10:00:00+02:00[Europe/Paris]   2001-04-25T10:00:00   P1Y2MT4H5S
"""

import re
from calendar import monthrange
from typing import get_args

from graphwalk.types.values import Temporal, TemporalKind

_DATE = r"(?P<date>(?P<year>[+-]?\d{4,9})-(?P<month>\d\d)-(?P<day>\d\d))"
_CLOCK = r"(?P<clock>(?:[01]\d|2[0-3]):[0-5]\d)(?::(?P<second>[0-5]\d)(?:\.(?P<fraction>\d{1,9}))?)?"
_OFFSET = r"(?P<offset>Z|[+-]\d\d:[0-5]\d(?::[0-5]\d)?)"
_ZONE = r"(?P<zone>\[[A-Za-z0-9_+/-]+\])?"
_FORMS: dict[TemporalKind, re.Pattern[str]] = {
    "date": re.compile(_DATE, re.ASCII),
    "time": re.compile(_CLOCK + _OFFSET, re.ASCII),
    "local time": re.compile(_CLOCK, re.ASCII),
    "datetime": re.compile(f"{_DATE}T{_CLOCK}{_OFFSET}{_ZONE}", re.ASCII),
    "local datetime": re.compile(f"{_DATE}T{_CLOCK}", re.ASCII),
}
_NUMBER = r"[+-]?\d{1,18}"
_DURATION = re.compile(
    rf"(?P<sign>-?)P(?:(?P<years>{_NUMBER})Y)?(?:(?P<months>{_NUMBER})M)?(?:(?P<weeks>{_NUMBER})W)?"
    rf"(?:(?P<days>{_NUMBER})D)?"
    rf"(?:T(?:(?P<hours>{_NUMBER})H)?(?:(?P<minutes>{_NUMBER})M)?"
    rf"(?:(?P<seconds>{_NUMBER})(?:\.(?P<fraction>\d{{1,9}}))?S)?)?",
    re.ASCII,
)
_NANOSECONDS = 10**9
KINDS: tuple[TemporalKind, ...] = get_args(TemporalKind)


def read_temporal(text: str, kind: TemporalKind | None = None) -> Temporal:
    """The date, time or duration of this kind (None: of whatever kind it is) in canonical text.

    ValueError where the text is none. A time zone that has a name needs its offset too.
    """
    for one in KINDS if kind is None else (kind,):
        if one == "duration":
            if (found := _DURATION.fullmatch(text)) and any(
                value for name, value in found.groupdict().items() if name != "sign"
            ):
                return Temporal(one, duration_text(*_parts(found)))
        elif (match := _FORMS[one].fullmatch(text)) and _is_a_day(match.groupdict()):
            return Temporal(one, _canonical(match.groupdict()))
    raise ValueError(f"{text!r} is not a {kind or 'date, time or duration'} in the form of ISO 8601")


def duration_text(months: int, days: int, seconds: int, nanoseconds: int) -> str:
    """A duration as Cypher writes it; `seconds` and `nanoseconds` may differ in sign."""
    whole = seconds * _NANOSECONDS + nanoseconds
    sign, (left, fraction) = "-" if whole < 0 else "", divmod(abs(whole), _NANOSECONDS)
    minutes, rest = divmod(left, 60)
    hours, minutes = divmod(minutes, 60)
    years, months = _divided(months, 12)
    date = "".join(f"{number}{unit}" for number, unit in ((years, "Y"), (months, "M"), (days, "D")) if number)
    time = "".join(f"{sign}{number}{unit}" for number, unit in ((hours, "H"), (minutes, "M")) if number)
    if rest or fraction:
        time += f"{sign}{rest}{_fraction(f'{fraction:09}')}S"
    return f"P{date}T{time}" if time else f"P{date}" if date else "PT0S"


def duration_parts(text: str) -> tuple[int, int, int, int]:
    """Months, days, seconds and nanoseconds of a duration. ValueError where the text is none."""
    if not (found := _DURATION.fullmatch(text)):
        raise ValueError(f"{text!r} is not a duration")
    return _parts(found)


def clock_text(hour: int, minute: int, second: int, nanosecond: int) -> str:
    """A time of the day as Cypher writes it: with seconds, and as many digits behind them as are needed."""
    return f"{hour:02}:{minute:02}:{second:02}{_fraction(f'{nanosecond:09}')}"


def _parts(found: re.Match[str]) -> tuple[int, int, int, int]:
    number = {name: int(value or 0) for name, value in found.groupdict().items() if name not in ("sign", "fraction")}
    below = int((found["fraction"] or "0").ljust(9, "0"))
    if (found["seconds"] or "").startswith("-"):
        below = -below
    sign = -1 if found["sign"] else 1
    months = 12 * number["years"] + number["months"]
    days = 7 * number["weeks"] + number["days"]
    seconds = 3600 * number["hours"] + 60 * number["minutes"] + number["seconds"]
    return sign * months, sign * days, sign * seconds, sign * below


def _divided(number: int, by: int) -> tuple[int, int]:
    """Quotient and rest, both with the sign of the number."""
    quotient, rest = divmod(abs(number), by)
    return (quotient, rest) if number >= 0 else (-quotient, -rest)


def _is_a_day(part: dict[str, str | None]) -> bool:
    if part.get("date") is None:
        return True
    year, month, day = int(part["year"] or 0), int(part["month"] or 0), int(part["day"] or 0)
    # The calendar repeats every 400 years.
    return 1 <= month <= 12 and 1 <= day <= monthrange(2000 + year % 400, month)[1]


def _canonical(part: dict[str, str | None]) -> str:
    text = part.get("date") or ""
    if part.get("clock"):
        text += "T" if text else ""
        text += f"{part['clock']}:{part['second'] or '00'}{_fraction(part['fraction'] or '')}"
    offset = part.get("offset") or ""
    return text + ("Z" if offset in ("+00:00", "-00:00") else offset) + (part.get("zone") or "")


def _fraction(digits: str) -> str:
    digits = digits.rstrip("0")
    return f".{digits}" if digits else ""
