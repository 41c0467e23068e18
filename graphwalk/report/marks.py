"""How each kind of figure is laid out on a canvas of matplotlib."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from graphwalk.report.figures import Figure, Kind, Panel, Point

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

_PALETTE = ("#2a9d8f", "#e07a3f", "#5e72d9", "#c9a227", "#c45b9a", "#3d9bd1", "#7fa33a", "#9a6fd0")
_PUBLISHED = ("#8b8f96", "#b08d74", "#8c96bd", "#a89f7a", "#b58aa6", "#86a9bd")
_OUTCOMES = ("#2a9d8f", "#c2c7cd", "#e9b872", "#d9694f", "#b04a6b", "#8a63b8", "#5e72d9", "#6f8f9f", "#444b54")
_WIDTH = 7.2
"""Inches."""
_MOST_COLUMNS = 3
_LONGEST = 44
"""Characters of a name."""


def _dots(figure: Figure, canvas: "Canvas") -> None:
    """Groups from top to bottom; the players of a group one below the other."""
    (panel,) = figure.panels
    groups = list(dict.fromkeys(str(p.x) for one in panel.series for p in one.points))
    room = max(1, len(panel.series))
    step = min(0.8 / room, 0.22)
    canvas.set_size_inches(_WIDTH, 0.9 + max(0.34, 0.13 * room) * len(groups) + 0.2 * ((room + 2) // 3))
    axes = canvas.add_subplot()
    for number, (one, style) in enumerate(zip(panel.series, _styles(panel), strict=True)):
        shift = (number - (room - 1) / 2) * step
        for p in one.points:
            y = groups.index(str(p.x)) + shift
            if p.low is not None and p.high is not None:
                axes.plot(
                    [p.low, p.high], [y, y], color=style["color"], linewidth=1.6, alpha=0.55, solid_capstyle="butt"
                )
        xs, ys = [p.y for p in one.points], [groups.index(str(p.x)) + shift for p in one.points]
        face = "none" if one.published else style["color"]
        axes.plot(xs, ys, "o", color=style["color"], markerfacecolor=face, markersize=4.5, label=_label(one.name))
    axes.set_yticks(range(len(groups)), [_label(group) for group in groups])
    axes.set_ylim(len(groups) - 0.45, -0.55)
    axes.grid(axis="y", visible=False)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(figure.y)
    if figure.percent:
        axes.set_xlim(-2, 102)
    else:
        axes.set_xlim(left=0)
    _legend(canvas, axes)


def _lines(figure: Figure, canvas: "Canvas") -> None:
    """One set of axes per panel."""
    columns = min(_MOST_COLUMNS, len(figure.panels))
    lines = -(-len(figure.panels) // columns)
    names = {one.name for panel in figure.panels for one in panel.series}
    canvas.set_size_inches(_WIDTH, (3.4 if lines == columns == 1 else 2.3 * lines) + 0.2 * ((len(names) + 2) // 3))
    grid = canvas.subplots(lines, columns, squeeze=False, sharey=figure.percent)
    every = [axes for line in grid for axes in line]
    named: dict[str, Any] = {}
    styles = _named_styles(figure)
    for place, (axes, panel) in enumerate(zip(every, figure.panels, strict=False)):
        beside = _shifts(panel, figure.logarithmic)
        for one in panel.series:
            style = styles[one.name]
            drawn = _line(
                axes, one.points, style, beside[one.name], stairs=figure.kind == "steps", dashed=one.published
            )
            named.setdefault(_label(one.name), drawn)
        axes.set_title(_label(panel.title))
        _limits(figure, axes)
        if place + columns >= len(figure.panels):
            axes.set_xlabel(figure.x)
        if place % columns == 0:
            axes.set_ylabel(figure.y)
    for axes in every[len(figure.panels) :]:
        axes.set_visible(False)
    canvas.legend(list(named.values()), list(named), loc="outside lower center", ncols=_columns(named))


def _shifts(panel: Panel, logarithmic: bool) -> dict[str, float]:
    """How far the points of each series stand beside the others', so that no interval hides another."""
    xs = [float(p.x) for one in panel.series for p in one.points]
    ours = [one.name for one in panel.series if not one.published]
    wide = 0.0 if logarithmic else 0.012 * (max(xs, default=0.0) - min(xs, default=0.0))
    beside = {name: (place - (len(ours) - 1) / 2) * wide for place, name in enumerate(ours)}
    return {one.name: beside.get(one.name, 0.0) for one in panel.series}


def _line(
    axes: "Axes", points: Sequence[Point], style: Mapping[str, Any], shift: float, *, stairs: bool, dashed: bool
) -> Any:
    by = 0.0 if stairs else shift
    xs, ys = [float(p.x) + by for p in points], [p.y for p in points]
    for x, p in zip(xs, points, strict=True):
        if p.low is not None and p.high is not None:
            axes.plot([x, x], [p.low, p.high], color=style["color"], linewidth=1.4, alpha=0.4)
    if stairs:
        (drawn,) = axes.plot(xs, ys, drawstyle="steps-post", linewidth=1.8, **style)
    else:
        dash = (0, (4, 3)) if dashed else "-"
        (drawn,) = axes.plot(
            xs, ys, marker="o", markersize=3.8, linewidth=1.1 if dashed else 1.8, linestyle=dash, **style
        )
    return drawn


def _limits(figure: Figure, axes: "Axes") -> None:
    from matplotlib.ticker import MaxNLocator

    if figure.percent:
        axes.set_ylim(-3, 103)
    elif not figure.logarithmic:
        axes.set_ylim(bottom=0)
    if figure.kind == "steps":
        axes.set_xlim(left=0)
    elif figure.logarithmic:
        _by_magnitude(axes, "x")
        if not figure.percent:
            _by_magnitude(axes, "y")
    elif figure.kind == "lines":
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))


def _by_magnitude(axes: "Axes", which: Literal["x", "y"]) -> None:
    """A logarithmic axis with its numbers written out: formulas are not read here."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    axes.set(**{f"{which}scale": "log"})
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_formatter(FuncFormatter(lambda number, _: f"{number:,.0f}" if number >= 1 else f"{number:g}"))
    axis.set_minor_formatter(NullFormatter())


def _stacked(figure: Figure, canvas: "Canvas") -> None:
    """One bar per player, from left to right."""
    (panel,) = figure.panels
    players = list(dict.fromkeys(str(p.x) for one in panel.series for p in one.points))
    canvas.set_size_inches(_WIDTH, 0.9 + 0.36 * len(players) + 0.2 * ((len(panel.series) + 3) // 4))
    axes = canvas.add_subplot()
    ends = dict.fromkeys(players, 0.0)
    for number, one in enumerate(panel.series):
        colour = _OUTCOMES[0] if one.name == "right" else _OUTCOMES[-1] if one.name == "failed" else None
        colour = colour or _OUTCOMES[1 + (number - 1) % (len(_OUTCOMES) - 2)]
        known = {str(p.x): p.y for p in one.points}
        starts, widths = [ends[player] for player in players], [known.get(player, 0.0) for player in players]
        axes.barh(range(len(players)), widths, left=starts, height=0.62, color=colour, label=_label(one.name))
        for player in players:
            ends[player] += known.get(player, 0.0)
    axes.set_yticks(range(len(players)), [_label(player) for player in players])
    axes.set_ylim(len(players) - 0.45, -0.55)
    axes.set_xlim(0, 100)
    axes.grid(axis="y", visible=False)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(figure.y)
    _legend(canvas, axes)


def _points(figure: Figure, canvas: "Canvas") -> None:
    """A dot per player; the legend names them, so that no name lies on another."""
    (panel,) = figure.panels
    canvas.set_size_inches(_WIDTH, 3.3 + 0.2 * ((len(panel.series) + 2) // 3))
    axes = canvas.add_subplot()
    for one, style in zip(panel.series, _styles(panel), strict=True):
        for p in one.points:
            if p.low is not None and p.high is not None:
                axes.plot([p.x, p.x], [p.low, p.high], linewidth=1.6, alpha=0.5, color=style["color"])
            axes.plot([p.x], [p.y], "o", markersize=7, label=_label(one.name), color=style["color"])
    if figure.logarithmic:
        _by_magnitude(axes, "x")
    else:
        axes.set_xlim(left=0)
        axes.margins(x=0.08)
    axes.set_ylim(-3, 103)
    axes.set_xlabel(figure.x)
    axes.set_ylabel(figure.y)
    _legend(canvas, axes)


def _heat(figure: Figure, canvas: "Canvas") -> None:
    """A matrix per panel: a row per series, a column per x; the darker, the more."""
    columns = min(2, len(figure.panels))
    lines = -(-len(figure.panels) // columns)
    most = max((p.y for panel in figure.panels for one in panel.series for p in one.points), default=1.0) or 1.0
    tallest = max(len(panel.series) for panel in figure.panels)
    canvas.set_size_inches(_WIDTH, (0.95 + 0.3 * tallest) * lines + 0.2)
    grid = canvas.subplots(lines, columns, squeeze=False)
    every = [axes for line in grid for axes in line]
    for axes, panel in zip(every, figure.panels, strict=False):
        names = list(dict.fromkeys(str(p.x) for one in panel.series for p in one.points))
        cells = [[next((p.y for p in one.points if p.x == name), 0.0) for name in names] for one in panel.series]
        axes.pcolormesh(cells, cmap="YlOrBr", vmin=0, vmax=most, edgecolors=axes.get_facecolor(), linewidth=1.5)
        axes.invert_yaxis()
        for i, line in enumerate(cells):
            for j, value in enumerate(line):
                colour = "#ffffff" if value > 0.6 * most else "#3b2f20"
                axes.text(j + 0.5, i + 0.5, f"{value:.2f}", ha="center", va="center", fontsize=8, color=colour)
        axes.set_xticks([place + 0.5 for place in range(len(names))], names)
        axes.set_yticks([place + 0.5 for place in range(len(panel.series))], [_label(one.name) for one in panel.series])
        axes.tick_params(length=0)
        axes.grid(visible=False)
        axes.spines[:].set_visible(False)
        axes.set_title(_label(panel.title))
    for axes in every[len(figure.panels) :]:
        axes.set_visible(False)


def _styles(panel: Panel) -> Iterator[dict[str, str]]:
    """A colour per series; those of papers are paler."""
    ours = published = 0
    for one in panel.series:
        if one.published:
            yield {"color": _PUBLISHED[published % len(_PUBLISHED)]}
            published += 1
        else:
            yield {"color": _PALETTE[ours % len(_PALETTE)]}
            ours += 1


def _named_styles(figure: Figure) -> dict[str, dict[str, str]]:
    """The same colour for the same name in every panel."""
    series = {one.name: one for panel in figure.panels for one in panel.series}
    return dict(zip(series, _styles(Panel(tuple(series.values()))), strict=True))


def _legend(canvas: "Canvas", axes: "Axes") -> None:
    handles, labels = axes.get_legend_handles_labels()
    if len(labels) > 1 or labels:
        canvas.legend(handles, labels, loc="outside lower center", ncols=_columns(labels))


def _columns(labels: Sequence[str] | Mapping[str, Any]) -> int:
    longest = max((len(label) for label in labels), default=1)
    return max(1, min(4, len(labels), 92 // (longest + 6)))


def _label(name: str) -> str:
    """Cut where it would leave no room to draw; matplotlib leaves out what begins with an underscore."""
    shown = name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"
    return f" {shown}" if shown.startswith("_") else shown


MARKS: Mapping[Kind, Callable[[Figure, "Canvas"], None]] = {
    "dots": _dots,
    "lines": _lines,
    "steps": _lines,
    "stacked": _stacked,
    "points": _points,
    "heat": _heat,
}
