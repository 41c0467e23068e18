"""Plots as plain data for `plot_files`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

PlotKind = Literal["models", "dots", "lines", "steps", "stacked", "points", "heat"]
"""models: a panel per model with a series per setting, over numbers or in total; dots: a figure per group
with its interval; lines and steps: against a number; stacked: shares that make up a whole;
points: two amounts against each other; heat: a matrix."""
AND = " · "
"""Text between model and setting in the name of a player."""
COLUMNS = ("panel", "series", "x", "y", "low", "high")


@dataclass(frozen=True, slots=True)
class PlotPoint:
    """`x` is a number, or the name of a group; `low` and `high` are the ends of the interval of `y`, if it has one."""

    x: str | float
    y: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """The points of a player. `published`: from a paper."""

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
    lines that are not shares. `levels`: thin lines behind the panels.
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
    levels: tuple[Series, ...] = ()

    @property
    def rows(self) -> Iterator[tuple[str, str, str | float, float, float | None, float | None]]:
        """Panel, series, x, y, and the ends of the interval."""
        for panel in (*self.panels, Panel(self.levels)):
            for one in panel.series:
                yield from ((panel.title, one.name, p.x, p.y, p.low, p.high) for p in one.points)


def worth_drawing(figures: Sequence[Plot]) -> list[Plot]:
    """Return the figures that show results of our own; a line needs two points."""
    own = [[len(s.points) for panel in figure.panels for s in panel.series if not s.published] for figure in figures]
    least = {"lines": 2, "steps": 2}
    return [f for f, sizes in zip(figures, own, strict=True) if max(sizes, default=0) >= least.get(f.kind, 1)]
