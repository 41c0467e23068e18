"""Measurements in pairs: ours and the plain way, taken in turns so that noise of the machine meets both alike."""

import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Literal


@dataclass(frozen=True)
class Row:
    """One line of the table: what was measured (`ours`, in `unit`), and the same by the plain way, pair by pair.

    The aim is about the ratio ours ÷ plain where there is a plain way, else about the measured value. `missing` is the
    reason for no measurement.
    """

    name: str
    unit: str = "s"
    ours: Sequence[float] = ()
    plain: Sequence[float] = ()
    aim: float | None = None
    sense: Literal["at most", "at least"] = "at most"
    missing: str = ""

    @property
    def ratio(self) -> float | None:
        """The median of the ratios of all pairs; None where there is no plain way."""
        return median(a / b for a, b in zip(self.ours, self.plain, strict=True)) if self.plain else None

    @property
    def verdict(self) -> str:
        if self.aim is None or not self.ours:
            return ""
        reached = median(self.ours) if self.ratio is None else self.ratio
        return "ok" if (reached <= self.aim if self.sense == "at most" else reached >= self.aim) else "short"


@dataclass
class Pair:
    """Seconds of our way and of the plain one."""

    ours: list[float] = field(default_factory=list)
    plain: list[float] = field(default_factory=list)


def in_turns(ours: Callable[[], object], plain: Callable[[], object], repetitions: int) -> Pair:
    """Wall seconds of both, one after the other, the first one changing."""
    pair = Pair()
    for number in range(repetitions):
        both = [(ours, pair.ours), (plain, pair.plain)]
        for work, seconds in both if number % 2 == 0 else reversed(both):
            seconds.append(seconds_of(work))
    return pair


def seconds_of(work: Callable[[], object]) -> float:
    """Wall seconds, without what is left over from earlier work."""
    gc.collect()
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def table(rows: Sequence[Row]) -> str:
    """All rows as text: name, median, spread (least to most), ratio, aim, ok or short."""
    cells = [("", "median", "spread", "ratio", "aim", ""), *map(_cells, rows)]
    widths = [max(len(line[column]) for line in cells if line[-1] != "-") for column in range(6)]
    return "\n".join(_line(line, widths) for line in cells)


def _cells(row: Row) -> tuple[str, ...]:
    if not row.ours:
        return (row.name, row.missing, "", "", "", "-")
    spread = f"{figure(min(row.ours))}–{figure(max(row.ours))}"
    ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
    sign = "≤" if row.sense == "at most" else "≥"
    aim = "" if row.aim is None else f"{sign} {row.aim:g}{'' if row.plain else ' ' + row.unit}"
    return (row.name, f"{figure(median(row.ours))} {row.unit}", spread, ratio, aim, row.verdict)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    if cells[-1] == "-":
        return f"{cells[0]:<{widths[0]}}  {cells[1]}"
    padded = (f"{cell:>{width}}" for cell, width in zip(cells[1:], widths[1:], strict=True))
    return "  ".join([f"{cells[0]:<{widths[0]}}", *padded]).rstrip()


def figure(value: float) -> str:
    """Three significant digits, without exponents."""
    digits = 0 if value >= 100 else 1 if value >= 10 else 2 if value >= 1 else 3
    return f"{value:,.{digits}f}"
