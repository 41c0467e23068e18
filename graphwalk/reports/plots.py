"""Plots as plain data: figures, which `plot_files` draws with matplotlib, and scenes, which the page of a run draws.

A scene is an episode that is played step by step: a graph or a grid (or neither), the steps of a slider, and the answer
beside the target.
"""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from graphwalk.reports.text_table import csv_cell

Kind = Literal["dots", "lines", "steps", "stacked", "points", "heat"]
"""dots: a figure per group with its interval; lines and steps: against a number; stacked: shares that make up a whole;
points: two amounts against each other; heat: a matrix."""
Fate = Literal["", "asked", "way", "right", "wrong", "missed", "given"]
"""What became of a thing: "" nothing was made of it; "asked" the question is about it; "way" it joins these to the
answer; "right" answered and in the target; "wrong" answered only; "missed" in the target only; "given" told before."""
COLUMNS = ("panel", "series", "x", "y", "low", "high")


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
class Plot:
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


@dataclass(frozen=True, slots=True)
class SceneNode:
    """`since`: the step (from 1) that shows it first, 0 for what is there from the start. `about`: its properties."""

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
    """One place of the slider.

    `turn` counts the turns of the model from 1, `call` its tool calls; 0: none. `focus`: nodes that the step looks at,
    `shown`: nodes that it brought. `nodes`, `links`: what becomes of them here; `labels`: what is written at nodes.
    `cell`, `sort`: what a step in a grid does.
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
    """A square of `size` × `size` cells, numbered row by row; `path` is the answer, -1 for what is no cell."""

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
    """Fate or sort → what it means here."""


def plot_csv(figure: Plot) -> str:
    """The data of a figure; cells that a spreadsheet would run are inert."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([csv_cell(value) for value in row] for row in figure.rows)
    return stream.getvalue()


def worth_drawing(figures: Sequence[Plot]) -> list[Plot]:
    """Return the figures that show results of our own; a line needs two points."""

    def longest(figure: Plot) -> int:
        return max((len(s.points) for panel in figure.panels for s in panel.series if not s.published), default=0)

    return [figure for figure in figures if longest(figure) >= (2 if figure.kind in ("lines", "steps") else 1)]
