"""Plots as plain data for `plot_files`, and scenes for the page of a run.

A scene is an episode shown step by step: a graph or a grid (or neither), the steps of a slider, and the answer with the
target.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from graphwalk.reports.text_table import csv_text

PlotKind = Literal["dots", "lines", "steps", "stacked", "points", "heat"]
"""dots: a figure per group with its interval; lines and steps: against a number; stacked: shares that make up a whole;
points: two amounts against each other; heat: a matrix."""
Fate = Literal["", "asked", "way", "right", "wrong", "missed", "given"]
"""State of an element: "" none; "asked" part of the question; "way" on the path to the answer; "right" answered and
in the target; "wrong" answered only; "missed" in the target only; "given" known before.
"""
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

    `percent`: y is from 0 to 100. `shade_rows`: each row of a matrix has its own colour scale, else each panel.
    `logarithmic`: x spans orders of magnitude and does not start at 0; so does the y of
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
    shade_rows: bool = False

    @property
    def rows(self) -> Iterator[tuple[str, str, str | float, float, float | None, float | None]]:
        """Panel, series, x, y, and the ends of the interval."""
        for panel in self.panels:
            for one in panel.series:
                yield from ((panel.title, one.name, p.x, p.y, p.low, p.high) for p in one.points)


@dataclass(frozen=True, slots=True)
class SceneNode:
    """A node. `since`: the step (from 1) that shows it first, 0 from the start. `about`: its properties."""

    name: str
    kind: str = ""
    about: Mapping[str, Any] = field(default_factory=dict)
    since: int = 0
    fate: Fate = ""


@dataclass(frozen=True, slots=True)
class SceneLink:
    """`source` and `target` are places in the list of nodes."""

    source: int
    target: int
    name: str = ""
    about: Mapping[str, Any] = field(default_factory=dict)
    since: int = 0
    fate: Fate = ""
    directed: bool = True


@dataclass(frozen=True)
class StateTable:
    """Rows of cells, the first of each row a `Fate`."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    note: str = ""


@dataclass(frozen=True)
class SceneStep:
    """One position of the slider.

    `turn` counts the turns of the model from 1, `call` its tool calls; 0: none. `focus`: nodes of the call. `shown`:
    new nodes. `nodes`, `links`: states that change. `labels`: captions of nodes. `cell`, `sort`: cell and kind of a
    step in a grid.
    """

    caption: str
    turn: int = 0
    call: int = 0
    focus: tuple[int, ...] = ()
    shown: tuple[int, ...] = ()
    nodes: Mapping[int, Fate] = field(default_factory=dict)
    links: Mapping[int, Fate] = field(default_factory=dict)
    labels: Mapping[int, str] = field(default_factory=dict)
    table: StateTable | None = None
    cell: int | None = None
    sort: str = ""


@dataclass(frozen=True)
class SceneGrid:
    """A square of `size` × `size` cells, numbered row by row. `path` is the answer; -1 is no cell."""

    size: int
    walls: tuple[int, ...]
    start: int
    goal: int
    path: tuple[int, ...] = ()


@dataclass(frozen=True)
class Scene:
    """`comparison`: the answer beside the target; None: the page compares them as they are logged."""

    steps: tuple[SceneStep, ...] = ()
    nodes: tuple[SceneNode, ...] = ()
    links: tuple[SceneLink, ...] = ()
    layout: Literal["force", "circle"] = "force"
    grid: SceneGrid | None = None
    comparison: StateTable | None = None
    legend: Mapping[str, str] = field(default_factory=dict)
    """Explanation of each state or kind."""


def plot_csv(figure: Plot) -> str:
    """Return the data of a plot as CSV, escaped for spreadsheets."""
    return csv_text(COLUMNS, figure.rows)


def worth_drawing(figures: Sequence[Plot]) -> list[Plot]:
    """Return the figures that show results of our own; a line needs two points."""

    def longest(figure: Plot) -> int:
        return max((len(s.points) for panel in figure.panels for s in panel.series if not s.published), default=0)

    return [figure for figure in figures if longest(figure) >= (2 if figure.kind in ("lines", "steps") else 1)]
