"""Figures as plain data: what is plotted, whoever draws it. `graphwalk.report.drawing` draws them with matplotlib."""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from graphwalk.report.written import csv_cell

Kind = Literal["dots", "lines", "steps", "stacked", "points", "heat"]
"""dots: a figure per group with its interval; lines and steps: against a number; stacked: shares that make up a whole;
points: two amounts against each other; heat: a matrix."""


@dataclass(frozen=True, slots=True)
class Point:
    """`x` is a number, or the name of a group; `low` and `high` are the ends of the interval of `y`, if it has one."""

    x: str | float
    y: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """The points of a player. `published`: they are a paper's."""

    name: str
    points: tuple[Point, ...]
    published: bool = False


@dataclass(frozen=True, slots=True)
class Panel:
    series: tuple[Series, ...]
    title: str = ""


@dataclass(frozen=True)
class Figure:
    """`name` is the stem of its files, `about` what a reader has to know; `x` and `y` are the titles of the axes.

    `percent`: y goes from 0 to 100. `logarithmic`: x does not start at 0 and spans orders of magnitude; so does
    the y of lines that are no shares.
    """

    name: str
    title: str
    kind: Kind
    panels: tuple[Panel, ...]
    x: str = ""
    y: str = ""
    about: str = ""
    percent: bool = False
    logarithmic: bool = False

    @property
    def rows(self) -> Iterator[tuple[str, str, str | float, float, float | None, float | None]]:
        """Panel, series, x, y, and the ends of the interval."""
        for panel in self.panels:
            for one in panel.series:
                yield from ((panel.title, one.name, p.x, p.y, p.low, p.high) for p in one.points)


COLUMNS = ("panel", "series", "x", "y", "low", "high")


def figure_csv(figure: Figure) -> str:
    """The data of a figure; cells that a spreadsheet would run are inert."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([csv_cell(value) for value in row] for row in figure.rows)
    return stream.getvalue()


def worth_drawing(figures: Sequence[Figure]) -> list[Figure]:
    """Those with something in them of our own; a line needs two points."""
    return [figure for figure in figures if _tells(figure)]


def _tells(figure: Figure) -> bool:
    longest = max((len(one.points) for panel in figure.panels for one in panel.series if not one.published), default=0)
    return longest >= (2 if figure.kind in ("lines", "steps") else 1)
