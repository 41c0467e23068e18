"""Plots as plain data for `plot_files`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

PlotKind = Literal["dots", "lines"]
"""dots: a figure per group with its interval; lines: figures against a number."""
AND = " · "
"""Text between model and setting in the name of a player."""


@dataclass(frozen=True, slots=True)
class PlotPoint:
    """`x` is a number, or the name of a group; `low` and `high` are the ends of the interval of `y`, if it has one."""

    x: str | float
    y: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """The points of a player. `published`: from a paper, or a baseline."""

    name: str
    points: tuple[PlotPoint, ...]
    published: bool = False


@dataclass(frozen=True, slots=True)
class Panel:
    series: tuple[Series, ...]
    title: str = ""


@dataclass(frozen=True)
class Plot:
    """A plot. `name`: stem of its files. `about`: caption. `x` and `y`: titles of the axes.

    `percent`: y is from 0 to 100. `logarithmic`: x spans orders of magnitude and does not start at 0; so does the y of
    lines that are not shares.
    """

    name: str
    title: str
    kind: PlotKind
    panels: tuple[Panel, ...]
    x: str = ""
    y: str = ""
    about: str = ""
    percent: bool = False
    logarithmic: bool = False


def worth_drawing(plots: Sequence[Plot]) -> list[Plot]:
    """Return the plots that show results of our own; a line needs two points."""
    own = [[len(s.points) for panel in plot.panels for s in panel.series if not s.published] for plot in plots]
    return [p for p, sizes in zip(plots, own, strict=True) if max(sizes, default=0) >= (2 if p.kind == "lines" else 1)]
