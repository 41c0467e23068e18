"""Plots drawn with matplotlib (the extra `plots`): SVG and PNG for papers, SVG for the page of a run."""

import io
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import cycle, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphwalk.analysis.report.plots import Plot, Series
from graphwalk.config.resources import data_path
from graphwalk.errors import ConfigError, install_hint
from graphwalk.files.writing import make_folder, write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

_PALETTE = {
    "#3f51b5": "#8c9eff",
    "#c8553d": "#f0876d",
    "#35a79c": "#5fc7b8",
    "#e3b23c": "#ecc869",
    "#a23b72": "#dd7fb8",
    "#3d9bd1": "#62b8e8",
    "#7fa33a": "#9dc45a",
    "#9a6fd0": "#b594e4",
}
"""Colours of series on a light page → those on a dark one."""
_DARK = {**_PALETTE, "#1c2126": "#e6e8ea", "#697079": "#a2a9b1", "#e3e6ea": "#30363d"}
"""With the colours of templates/plots.mplstyle."""
_PAPER = "#fefefe"
_DOTS_PER_INCH = 200
_PUBLISHED = ("#8b8f96", "#b08d74", "#8c96bd", "#a89f7a", "#b58aa6", "#86a9bd")
_DASHES = ("solid", (0, (1, 1.3)), (0, (6, 1.5, 1, 1.5)), (0, (4, 1.5)), (0, (3, 1, 1, 1, 1, 1)), (0, (1, 3)))
_ROUNDS = tuple(zip("os^DvX", _DASHES, strict=True))
"""Marker and dashes of a series."""
_INCHES_WIDE = 7.2
_NAME_CHARACTERS, _LEGEND_CHARACTERS = 44, 100
_WIDE = 20
"""Largest through smallest number from which an axis is logarithmic."""
Styles = Mapping[str, Mapping[str, Any]]
"""Colour, marker and dashes by name of a series."""


def can_draw() -> bool:
    """Return False if the extra `plots` is not installed."""
    return find_spec("matplotlib") is not None


def styles_of(plots: Iterable[Plot]) -> Styles:
    """Return one style per player for all plots of a run; published players are paler and dashed."""
    own, published = cycle(zip(cycle(_ROUNDS), cycle(_PALETTE), strict=False)), cycle(product(_ROUNDS, _PUBLISHED))
    styles: dict[str, dict[str, Any]] = {}
    for one in (one for plot in plots for one in plot.series):
        if one.name not in styles:
            (marker, dashes), colour = next(published if one.published else own)
            line = (0, (4, 3)) if one.published else dashes
            styles[one.name] = {"color": colour, "marker": marker, "linestyle": line}
    return styles


def page_svg(plot: Plot, styles: Styles | None = None) -> str:
    """Return an SVG in the colour scheme of its reader, with text as text. `styles`: those of all plots of the page."""
    with canvas_of(plot, "none", styles) as canvas:
        text = _image_bytes(canvas, "svg").decode()
    for colour in _DARK:
        text = text.replace(colour, f"var(--c{colour[1:]})")
    text = text.replace(_PAPER, "transparent")
    light = "".join(f"--c{colour[1:]}:{colour};" for colour in _DARK)
    dark = "".join(f"--c{colour[1:]}:{other};" for colour, other in _DARK.items())
    rules = f"svg{{{light}}}@media (prefers-color-scheme:dark){{svg{{{dark}}}}}text{{font-family:sans-serif}}"
    head, mark, rest = text.partition("<defs>")
    return f"{head}<style>{rules}</style>{mark}{rest}"


def save_plots(plots: Sequence[Plot], folder: Path) -> list[Path]:
    """Write NAME.svg and .png of every plot. Raise ConfigError without matplotlib, or if this cannot be written."""
    images, styles = dict[Path, bytes](), styles_of(plots)
    for plot in plots:
        with canvas_of(plot, "path", styles) as canvas:
            images |= {folder / f"{plot.name}.{form}": _image_bytes(canvas, form) for form in ("svg", "png")}
    make_folder(folder, parents=False)
    for path, image in images.items():
        write_whole(path, [image])
    return list(images)


def _image_bytes(canvas: "Canvas", form: str) -> bytes:
    stream = io.BytesIO()
    metadata: dict[str, Any] = {"Date": None, "Creator": None} if form == "svg" else {}
    canvas.savefig(stream, format=form, dpi=_DOTS_PER_INCH, metadata=metadata)
    return stream.getvalue()


@contextmanager
def canvas_of(plot: Plot, fonts: str, styles: Styles | None = None) -> "Iterator[Canvas]":
    """Draw a plot. `fonts`: "path" draws letters as outlines, "none" keeps them as text.

    Raise ConfigError without matplotlib.
    """
    if not can_draw():
        raise ConfigError("plots require matplotlib, which is not installed", hint=install_hint("plots"))
    import matplotlib
    from matplotlib.figure import Figure as NewCanvas

    with (
        matplotlib.rc_context({"svg.fonttype": fonts}, data_path("templates") / "plots.mplstyle"),
        warnings.catch_warnings(),
    ):
        warnings.filterwarnings("ignore", message="Glyph")  # names are in whatever script they are in
        canvas = NewCanvas(layout="constrained")
        (_lines if plot.x else _dots)(plot, canvas, styles or styles_of([plot]))
        yield canvas


def _dots(plot: Plot, canvas: "Canvas", styles: Styles) -> None:
    """Draw groups from top to bottom; the players of a group one below the other."""
    groups = list(dict.fromkeys(str(p.x) for one in plot.series for p in one.points))
    room = max(1, len(plot.series))
    step = min(0.8 / room, 0.22)
    canvas.set_size_inches(_INCHES_WIDE, 0.9 + max(0.34, 0.13 * room) * len(groups) + 0.2 * ((room + 2) // 3))
    axes = canvas.add_subplot()
    for number, one in enumerate(plot.series):
        face = "none" if one.published else None
        style = {**styles[one.name], "linestyle": "none", "markerfacecolor": face}
        ys = [groups.index(str(p.x)) + (number - (room - 1) / 2) * step for p in one.points]
        xs = [p.y for p in one.points]
        axes.errorbar(xs, ys, xerr=_errors(one), markersize=4.5, label=_label(one.name), **_bars(style, 1.6, 0.55))
    axes.set_yticks(range(len(groups)), [_label(group) for group in groups])
    axes.set_ylim(len(groups) - 0.45, -0.55)
    axes.grid(axis="y", visible=False)
    axes.tick_params(axis="y", length=0)
    axes.set(xlabel=plot.y, xlim=(-2, 102))
    _legend(canvas)


def _errors(one: Series) -> list[list[float]]:
    """Return the lengths of the bars below and above the points; NaN without an interval."""
    nan = float("nan")
    below = [nan if p.low is None else p.y - p.low for p in one.points]
    return [below, [nan if p.high is None else p.high - p.y for p in one.points]]


def _bars(style: Mapping[str, Any], width: float, opacity: float) -> dict[str, Any]:
    """Return the style of points with pale bars of their colour."""
    return {**style, "ecolor": (style["color"], opacity), "elinewidth": width}


def _lines(plot: Plot, canvas: "Canvas", styles: Styles) -> None:
    """Draw lines against a number, on a logarithmic scale if it spans orders of magnitude."""
    axes = canvas.add_subplot()
    numbers = [float(p.x) for one in plot.series for p in one.points]
    for one in plot.series:
        xs, ys = [float(p.x) for p in one.points], [p.y for p in one.points]
        style = {**_bars(styles[one.name], 1.4, 0.4), "linewidth": 1.1 if one.published else 1.8}
        axes.errorbar(xs, ys, yerr=_errors(one), label=_label(one.name), markersize=3.8, **style)
    axes.set(xlabel=plot.x, ylabel=plot.y, ylim=(-3, 103))
    if 0 < _WIDE * min(numbers) < max(numbers):
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(lambda number, _: f"{number:,.0f}" if number >= 1 else f"{number:g}")
        axes.xaxis.set_minor_formatter("")
    else:
        axes.locator_params(axis="x", integer=True)
    canvas.set_size_inches(_INCHES_WIDE, 0.2 * _legend(canvas) + 3.4)


def _legend(canvas: "Canvas") -> int:
    """Name each series once below the plot. Return the number of lines."""
    (axes,) = canvas.axes
    handles: Any
    handles, labels = axes.get_legend_handles_labels()
    named = {label: handle[0] for label, handle in zip(labels, handles, strict=True)}
    if not named:
        return 0
    columns = max(1, min(len(named), _LEGEND_CHARACTERS // (max(map(len, named)) + 7)))
    canvas.legend(list(named.values()), list(named), loc="outside lower center", ncols=columns, columnspacing=1.2)
    return -(-len(named) // columns)


def _label(name: str) -> str:
    """Return a shortened label without a leading underscore, which matplotlib would hide."""
    shown = name if len(name) <= _NAME_CHARACTERS else name[: _NAME_CHARACTERS - 1] + "…"
    return f" {shown}" if shown.startswith("_") else shown
