"""How numbers and texts are written in tables. An unknown value is a dash."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

UNKNOWN = "–"
_LARGE = (("M", 1_000_000), ("k", 10_000))


def integer(value: Any) -> str:
    return str(value)


def short(value: Any) -> str:
    """Large counts in thousands or millions."""
    for unit, size in _LARGE:
        if value >= size:
            return f"{value / (1_000_000 if unit == 'M' else 1000):.1f}{unit}"
    return f"{value:.0f}"


def two_decimals(value: Any) -> str:
    return f"{value:.2f}"


def one_decimal(value: Any) -> str:
    return f"{value:.1f}"


def dollars(value: Any) -> str:
    return f"${value:.4f}" if 0 < value < 1 else f"${value:.2f}"


def duration(seconds: Any) -> str:
    return f"{seconds:.1f} s" if seconds < 100 else f"{seconds:.0f} s"


def p_value(value: Any) -> str:
    return "<0.0001" if value < 0.0001 else f"{value:.4f}"


def interval_text(row: Mapping[str, Any], field: str, form: Callable[[Any], str]) -> str:
    """The range of a figure; a dash where there should be one, and the notes say why not."""
    ends = row.get("intervals", {}).get(field)
    return "–".join(map(form, ends)) if ends else UNKNOWN * (field in row.get("no_interval", {}))


def without_range(reasons: Iterable[str]) -> Iterator[str]:
    """One note on ranges that are missing, if there are any."""
    if reasons := sorted(set(reasons)):
        yield f"{UNKNOWN} in place of a range: {', or '.join(reasons)}; how graphs differ is not known."
