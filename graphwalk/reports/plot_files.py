"""Plots drawn with matplotlib (the extra `plots`): SVG and PNG for papers, SVG for the page of a run."""

import io
import textwrap
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import chain, cycle, product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from numpy import array_split

from graphwalk.errors import ConfigError, install_hint
from graphwalk.files.resources import data_path
from graphwalk.files.writing import make_folder, write_whole
from graphwalk.reports.plots import AND, COLUMNS, Plot, PlotKind, Series
from graphwalk.reports.text_table import csv_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

_SCHEME = {"ink": ("#1c2126", "#e6e8ea"), "soft": ("#697079", "#a2a9b1"), "rule": ("#e3e6ea", "#30363d")}
"""Colours of templates/plots.mplstyle on a light page, and those on a dark one."""
_PAPER = "#fefefe"
_DOTS_PER_INCH = 200
_PALETTE = ("#3f51b5", "#c8553d", "#35a79c", "#e3b23c", "#a23b72", "#3d9bd1", "#7fa33a", "#9a6fd0")
"""Colours of models; the first four differ in grey too."""
_PUBLISHED = ("#8b8f96", "#b08d74", "#8c96bd", "#a89f7a", "#b58aa6", "#86a9bd")
_DASHES = ("solid", (0, (1, 1.3)), (0, (6, 1.5, 1, 1.5)), (0, (4, 1.5)), (0, (3, 1, 1, 1, 1, 1)), (0, (1, 3)))
_ROUNDS = tuple(zip("os^DvX", _DASHES, strict=True))
"""Marker and dashes by setting, else by series."""
_CORRECT, _FAILED = "#2a9d8f", "#444b54"
_INCHES_WIDE = 7.2
_COLUMN, _CHARACTERS = 3.3, 52
"""Width of a column of a paper in inches, and in characters of a plot of models."""
_MOST_TOGETHER, _SOFT = 6, "#697079"
_MOST_COLUMNS = 3
_NAME_CHARACTERS, _TITLE = 44, 84
_SHORT = 16
"""Characters of a row's name that leave room for a second matrix beside it."""
Styles = Mapping[str, Mapping[str, Any]]
"""Colour, marker and dashes by name of a series."""


def can_draw() -> bool:
    """Return False if the extra `plots` is not installed."""
    return find_spec("matplotlib") is not None


def styles_of(plots: Iterable[Plot]) -> Styles:
    """Return one style per player for all plots of a run; published players are paler and dashed.

    Where a plot shows several models and settings, a model has one colour, and a setting one marker.
    """
    plots = list(plots)
    pairs, published = cycle(zip(cycle(_ROUNDS), cycle(_PALETTE), strict=False)), cycle(product(_ROUNDS, _PUBLISHED))
    own: dict[str, Any] = {}
    for plot in (plot for plot in plots if plot.kind == "models" and len(plot.panels) > 1):
        settings = list(dict.fromkeys(one.name for _, _, one in _players(plot)))
        for number, name, one in _players(plot) if len(settings) > 1 else ():
            own[name] = _ROUNDS[settings.index(one.name)], _PALETTE[number]
    styles: dict[str, dict[str, Any]] = {}
    for name, is_published in {name: one.published for plot in plots for _, name, one in _players(plot)}.items():
        (marker, dashes), colour = own.get(name) or next(published if is_published else pairs)
        styles[name] = {"color": colour, "marker": marker, "linestyle": (0, (4, 3)) if is_published else dashes}
    return styles


def _players(plot: Plot) -> Iterator[tuple[int, str, Series]]:
    """Yield each series with the index of its panel and the name of its player, which has a style."""
    settings = len({one.name for panel in plot.panels for one in panel.series})
    for number, panel in enumerate(plot.panels):
        for one in panel.series if plot.kind not in ("stacked", "heat") else ():
            player = panel.title + (AND + one.name) * (settings > 1)
            yield number, player if plot.kind == "models" else one.name, one


def page_svg(plot: Plot, styles: Styles | None = None) -> str:
    """Return an SVG in the colour scheme of its reader, with text as text. `styles`: those of all plots of the page."""
    with canvas_of(plot, "none", styles) as canvas:
        text = _image_bytes(canvas, "svg").decode()
    for name, (colour, _) in _SCHEME.items():
        text = text.replace(colour, f"var(--{name})")
    text = text.replace(_PAPER, "transparent")
    light, dark = ("".join(f"--{name}:{pair[i]};" for name, pair in _SCHEME.items()) for i in (0, 1))
    rules = f"svg{{{light}}}@media (prefers-color-scheme:dark){{svg{{{dark}}}}}text{{font-family:sans-serif}}"
    head, mark, rest = text.partition("<defs>")
    return f"{head}<style>{rules}</style>{mark}{rest}"


def save_plots(plots: Sequence[Plot], folder: Path) -> list[Path]:
    """Write NAME.svg, .png and .csv of every plot. ConfigError without matplotlib, or if this cannot be written."""
    if not can_draw():
        raise ConfigError("plots require matplotlib, which is not installed", hint=install_hint("plots"))
    make_folder(folder, parents=False)
    written, styles = [], styles_of(plots)
    for plot in plots:
        with canvas_of(plot, "path", styles) as canvas:
            write_whole(folder / f"{plot.name}.svg", [_image_bytes(canvas, "svg").decode()])
            (folder / f"{plot.name}.png").write_bytes(_image_bytes(canvas, "png"))
        write_whole(folder / f"{plot.name}.csv", [csv_text(COLUMNS, plot.rows)])
        written += [folder / f"{plot.name}.{form}" for form in ("svg", "png", "csv")]
    return written


def _image_bytes(canvas: "Canvas", form: str) -> bytes:
    stream = io.BytesIO()
    metadata: dict[str, Any] = {"Date": None, "Creator": None} if form == "svg" else {}
    canvas.savefig(stream, format=form, dpi=_DOTS_PER_INCH, metadata=metadata)
    return stream.getvalue()


@contextmanager
def canvas_of(plot: Plot, fonts: str, styles: Styles | None = None) -> "Iterator[Canvas]":
    """Draw a plot. `fonts`: "path" draws letters as outlines, "none" keeps them as text."""
    import matplotlib
    from matplotlib.figure import Figure as NewCanvas

    small: Any = dict.fromkeys(("font.size", "axes.titlesize", "legend.fontsize"), 7.5) if plot.kind == "models" else {}
    with (
        matplotlib.rc_context({"svg.fonttype": fonts, **small}, data_path("templates") / "plots.mplstyle"),
        warnings.catch_warnings(),
    ):
        warnings.filterwarnings("ignore", message="Glyph")  # names are in whatever script they are in
        canvas = NewCanvas(layout="constrained")
        _DRAW[plot.kind](plot, canvas, styles or styles_of([plot]))
        yield canvas


def _models(plot: Plot, canvas: "Canvas", styles: Styles) -> None:
    """Draw the width of a column: over numbers as lines, else as dots below the name of each model."""
    if any(not isinstance(p.x, str) for _, _, one in _players(plot) for p in one.points):
        _lines(plot, canvas, styles)
        return
    axes, y = canvas.add_subplot(), 0.0
    for number, name, one in _players(plot):
        if one is plot.panels[number].series[0]:
            title = _title(plot.panels[number].title, _CHARACTERS)
            y += 1.2 + 0.8 * title.count("\n")
            axes.text(0, y - 0.45, title, transform=axes.get_yaxis_transform(), va="bottom")
        style = {**styles[name], "linestyle": "none"}
        axes.errorbar([p.y for p in one.points], [y], xerr=_errors(one), markersize=4.5, **_bars(style, 1.6, 0.55))
        y += 0.8
    for level, thin in _thin(plot):
        axes.axvline(level.points[0].y, **thin)
    axes.set(ylim=(y, -0.2), xlim=(-2, 102), xlabel=plot.y, yticks=[])
    axes.spines["left"].set_visible(False)
    canvas.set_size_inches(_COLUMN, 0.5 + 0.16 * y + _key(plot, canvas, styles, models=False, linestyle="none"))


def _thin(plot: Plot) -> Iterator[tuple[Series, dict[str, Any]]]:
    """Yield each level with the style of its dotted line."""
    for level in plot.levels:
        yield level, {"color": _SOFT, "linewidth": 0.8, "zorder": 1, "linestyle": (0, (1, 2))}


def _key(plot: Plot, canvas: "Canvas", styles: Styles, models: bool, **how: Any) -> float:
    """Name models by colour, settings by marker, and levels below the plot. Return the height in inches."""
    shown = list(_players(plot)) if models else []
    named: dict[str, Any] = {_title(plot.panels[n].title, _CHARACTERS): styles[name] for n, name, _ in shown}
    settings = {_label(one.name): styles[name] for _, name, one in _players(plot)}
    if len(settings) > 1:
        named = {model: {"color": style["color"], "linewidth": 3} for model, style in named.items()}
        how |= {"color": _SOFT} if len(plot.panels) > 1 else {}
        named |= {name: {**style, "markersize": 4, **how} for name, style in settings.items()}
    named |= {_label(level.name): thin for level, thin in _thin(plot)}
    return 0.16 * _legend(canvas, {name: canvas.axes[0].plot([], [], **style)[0] for name, style in named.items()})


def _dots(plot: Plot, canvas: "Canvas", styles: Styles) -> None:
    """Draw groups from top to bottom; the players of a group one below the other."""
    (panel,) = plot.panels
    groups = list(dict.fromkeys(str(p.x) for one in panel.series for p in one.points))
    room = max(1, len(panel.series))
    step = min(0.8 / room, 0.22)
    canvas.set_size_inches(_INCHES_WIDE, 0.9 + max(0.34, 0.13 * room) * len(groups) + 0.2 * ((room + 2) // 3))
    axes = canvas.add_subplot()
    for number, one in enumerate(panel.series):
        face = "none" if one.published else None
        style = {**styles[one.name], "linestyle": "none", "markerfacecolor": face}
        ys = [groups.index(str(p.x)) + (number - (room - 1) / 2) * step for p in one.points]
        xs = [p.y for p in one.points]
        axes.errorbar(xs, ys, xerr=_errors(one), markersize=4.5, label=_label(one.name), **_bars(style, 1.6, 0.55))
    _name_rows(plot, axes, groups)
    axes.set_xlim(*((-2, 102) if plot.percent else (0, None)))
    _legend(canvas)


def _errors(one: Series) -> list[list[float]]:
    """Return the lengths of the bars below and above the points; NaN without an interval."""
    nan = float("nan")
    below = [nan if p.low is None else p.y - p.low for p in one.points]
    return [below, [nan if p.high is None else p.high - p.y for p in one.points]]


def _bars(style: Mapping[str, Any], width: float, opacity: float) -> dict[str, Any]:
    """Return the style of points with pale bars of their colour."""
    return {**style, "ecolor": (style["color"], opacity), "elinewidth": width}


def _name_rows(plot: Plot, axes: "Axes", names: Sequence[str]) -> None:
    axes.set_yticks(range(len(names)), [_label(name) for name in names])
    axes.set_ylim(len(names) - 0.45, -0.55)
    axes.grid(axis="y", visible=False)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(plot.y)


def _lines(plot: Plot, canvas: "Canvas", styles: Styles) -> None:
    """Draw one set of axes per panel; of models with few lines, one for all."""
    from matplotlib.transforms import ScaledTranslation

    players, models = list(_players(plot)), plot.kind == "models"
    columns = min(2 if models else _MOST_COLUMNS, len(plot.panels))
    columns = 1 if models and len(players) <= _MOST_TOGETHER else columns
    lines = 1 if models and columns == 1 else -(-len(plot.panels) // columns)
    every = _grid(plot, canvas, lines, columns, share=plot.percent)
    for place, (number, name, one) in enumerate(players):
        axes, panel = every[number % len(every)], plot.panels[number]
        beside = place - (len(players) - 1) / 2 if columns == 1 else panel.series.index(one) - 0.5
        moved = axes.transData + ScaledTranslation(beside / 40, 0, canvas.dpi_scale_trans)
        _line(axes, one, {**styles[name], **({"transform": moved} if models else {})}, plot.kind)
        if len(every) == len(plot.panels):
            axes.set_title(_title(panel.title, (_CHARACTERS if models else _TITLE) // columns))
    for axes, (level, thin) in product(every, _thin(plot)):
        axes.plot([float(p.x) for p in level.points], [p.y for p in level.points], **thin)
    for place, axes in enumerate(every):
        _limits(plot, axes)
        if place + columns >= len(every):
            axes.set_xlabel(plot.x)
        if place % columns == 0:
            axes.set_ylabel(plot.y)
    if models:
        legend = _key(plot, canvas, styles, models=len(every) < len(plot.panels))
        canvas.set_size_inches(_COLUMN, legend + (2.3 if lines == columns == 1 else 0.3 + 1.25 * lines))
    else:
        legend = 0.2 * _legend(canvas)
        canvas.set_size_inches(_INCHES_WIDE, legend + (3.4 if lines == columns == 1 else 2.3 * lines))


def _grid(plot: Plot, canvas: "Canvas", lines: int, columns: int, share: bool = False) -> "list[Axes]":
    """Return the axes of the panels; those beyond the last panel are hidden."""
    every = list(canvas.subplots(lines, columns, squeeze=False, sharey=share).flat)
    for axes in every[len(plot.panels) :]:
        axes.set_visible(False)
    return every[: len(plot.panels)]


def _line(axes: "Axes", one: Series, style: Mapping[str, Any], kind: PlotKind) -> None:
    form: dict[str, Any] = {"markersize": 7 if kind == "points" else 3.8, "linewidth": 1.1 if one.published else 1.8}
    if kind == "steps":
        form |= {"drawstyle": "steps-post", "marker": ""}
    xs, ys = [float(p.x) for p in one.points], [p.y for p in one.points]
    axes.errorbar(xs, ys, yerr=_errors(one), label=_label(one.name), **{**_bars(style, 1.4, 0.4), **form})


def _limits(plot: Plot, axes: "Axes") -> None:
    if plot.percent:
        axes.set_ylim(-3, 103)
    elif not plot.logarithmic:
        axes.set_ylim(bottom=0)
    if plot.logarithmic:
        _by_magnitude(axes, "x")
        if not plot.percent:
            _by_magnitude(axes, "y")
        return
    axes.locator_params(axis="x", integer=True)
    if plot.kind in ("steps", "points"):
        furthest = axes.dataLim.x1
        axes.set_xlim(-0.03 * furthest, 1.03 * furthest)


def _by_magnitude(axes: "Axes", which: Literal["x", "y"]) -> None:
    """Set a logarithmic axis with plain numbers instead of formulas."""
    axes.set(**{f"{which}scale": "log"})
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_formatter(lambda number, _: f"{number:,.0f}" if number >= 1 else f"{number:g}")
    axis.set_minor_formatter("")


def _draw_stacked(plot: Plot, canvas: "Canvas", styles: Styles) -> None:
    """Draw one bar per player, from left to right."""
    (panel,) = plot.panels
    players = list(dict.fromkeys(str(p.x) for one in panel.series for p in one.points))
    canvas.set_size_inches(_INCHES_WIDE, 0.9 + 0.36 * len(players) + 0.2 * ((len(panel.series) + 3) // 4))
    axes = canvas.add_subplot()
    ends = dict.fromkeys(players, 0.0)
    for one in panel.series:
        colour = {"correct": _CORRECT, "failed": _FAILED}.get(one.name)
        values = dict.fromkeys(players, 0.0) | {str(p.x): p.y for p in one.points}
        starts, places = list(ends.values()), range(len(players))
        axes.barh(places, list(values.values()), left=starts, height=0.62, color=colour, label=_label(one.name))
        ends = {player: end + values[player] for player, end in ends.items()}
    _name_rows(plot, axes, players)
    axes.set_xlim(0, 100)
    _legend(canvas)


def _heat(plot: Plot, canvas: "Canvas", styles: Styles) -> None:
    """Draw a matrix per panel: a row per series, a column per x; darker is nearer to the largest of its panel."""
    longest = max(len(one.name) for panel in plot.panels for one in panel.series)
    columns = min(2 if longest <= _SHORT else 1, len(plot.panels))
    lines = -(-len(plot.panels) // columns)
    tallest = max(len(panel.series) for panel in plot.panels)
    canvas.set_size_inches(_INCHES_WIDE, (0.95 + 0.3 * tallest) * lines + 0.2)
    for axes, panel in zip(_grid(plot, canvas, lines, columns), plot.panels, strict=True):
        names = list(dict.fromkeys(str(p.x) for one in panel.series for p in one.points))
        cells = [[next((p.y for p in one.points if p.x == name), 0.0) for name in names] for one in panel.series]
        largest = max(chain.from_iterable(cells), default=0.0) or 1.0
        shades = [[value / largest for value in line] for line in cells]
        axes.pcolormesh(shades, cmap="YlOrBr", vmin=0, vmax=1, edgecolors=axes.get_facecolor(), linewidth=1.5)
        axes.invert_yaxis()
        for i, line in enumerate(cells):
            for j, value in enumerate(line):
                colour = "#ffffff" if shades[i][j] > 0.6 else "#3b2f20"
                axes.text(j + 0.5, i + 0.5, f"{value:.2f}", ha="center", va="center", fontsize=8, color=colour)
        axes.set_xticks([place + 0.5 for place in range(len(names))], names)
        axes.set_yticks([place + 0.5 for place in range(len(panel.series))], [_label(one.name) for one in panel.series])
        axes.tick_params(length=0)
        axes.grid(visible=False)
        axes.spines[:].set_visible(False)
        axes.set_title(_title(panel.title, _TITLE // columns))


def _title(name: str, width: int) -> str:
    """Return a title in at most three lines of `width` characters."""
    return _label(textwrap.fill(name, width, max_lines=3, placeholder="…"), 3 * width)


def _legend(canvas: "Canvas", handles: Mapping[str, Any] | None = None) -> int:
    """Name each series once below the plot, or these handles in a column of a paper. Return the number of lines."""
    named, characters = {**(handles or {})}, _CHARACTERS + 4 if handles else 100
    for axes in canvas.axes if not handles else ():
        containers: tuple[Any, list[str]] = axes.get_legend_handles_labels()
        named |= {label: handle[0] for handle, label in zip(*containers, strict=True)}
    widths = [len(name.partition("\n")[0]) + 7 for name in named]
    fitting = (n for n in (4, 3, 2) if n <= len(widths) and sum(map(max, array_split(widths, n))) <= characters)
    columns = next(fitting, 1)
    if named:
        canvas.legend(list(named.values()), list(named), loc="outside lower center", ncols=columns, columnspacing=1.2)
    return -(-len(named) // columns) + sum(name.count("\n") for name in named)


def _label(name: str, most: int = _NAME_CHARACTERS) -> str:
    """Return a shortened label without a leading underscore, which matplotlib would hide."""
    shown = name if len(name) <= most else name[: most - 1] + "…"
    return f" {shown}" if shown.startswith("_") else shown


_DRAW: Mapping[PlotKind, Callable[[Plot, "Canvas", Styles], None]] = {
    "models": _models,
    "dots": _dots,
    "lines": _lines,
    "steps": _lines,
    "stacked": _draw_stacked,
    "points": _lines,
    "heat": _heat,
}
