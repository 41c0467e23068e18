"""Plots drawn with matplotlib (the extra `plots`): SVG and PNG for papers, SVG for the page of a run."""

import io
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from graphwalk.analysis.report.plots import PROVEN_MARK, Plot
from graphwalk.analysis.report.text_table import wrapped_lines
from graphwalk.config.resources import data_path
from graphwalk.errors import ConfigError, install_hint
from graphwalk.files.writing import make_folder, write_whole
from graphwalk.sanitise import one_line

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

_INK = "#1c2126"
_PAPER = "#fefefe"
"""Colours of templates/plots.mplstyle, in place of which a page has those of its reader."""
_DOTS_PER_INCH = 200
_INCHES_WIDE = 7.2
_NAME_CHARACTERS = 44
"""Characters on a line of a name."""
_LEGEND_CHARACTERS = 100
"""Characters on a line of the legend."""
_NAME_LINES = 6
"""Lines of a name."""
_WIDE = 20
"""Largest through smallest number from which an axis is logarithmic."""


def can_draw() -> bool:
    """Return False if the extra `plots` is not installed."""
    return find_spec("matplotlib") is not None


def page_svg(plot: Plot) -> str:
    """Return an SVG in the colour scheme of its reader, with text as text."""
    with canvas_of(plot, "none") as canvas:
        text = _image_bytes(canvas, "svg").decode()
    text = text.replace(_INK, "var(--plot-ink)").replace(_PAPER, "transparent")
    dark = "@media (prefers-color-scheme: dark) {svg {--plot-ink: #e6e8ea}}"
    style = f"<style>svg {{--plot-ink: {_INK}}} {dark} text {{font-family: sans-serif}}</style>"
    return text.replace("<defs>", f"{style}<defs>", 1)


def save_plots(plots: Sequence[Plot], folder: Path) -> list[Path]:
    """Write NAME.svg and .png of every plot. Raise ConfigError without matplotlib, or if this cannot be written."""
    images: dict[Path, bytes] = {}
    for plot in plots:
        with canvas_of(plot, "path") as canvas:
            for form in ("svg", "png"):
                images[folder / f"{plot.name}.{form}"] = _image_bytes(canvas, form)
    make_folder(folder, parents=False)
    for path, image in images.items():
        write_whole(path, [image])
    return list(images)


def _image_bytes(canvas: "Canvas", form: str) -> bytes:
    stream = io.BytesIO()
    # The same plot has the same bytes at any time, and with any release of matplotlib.
    metadata: dict[str, Any] = {"Date": None, "Creator": None} if form == "svg" else {}
    canvas.savefig(stream, format=form, dpi=_DOTS_PER_INCH, metadata=metadata)
    return stream.getvalue()


@contextmanager
def canvas_of(plot: Plot, fonts: str) -> "Iterator[Canvas]":
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
        # Names are in whatever script they are in.
        warnings.filterwarnings("ignore", message="Glyph")
        canvas = NewCanvas(layout="constrained")
        if plot.x:
            _lines(plot, canvas)
        else:
            _dots(plot, canvas)
        yield canvas


def _dots(plot: Plot, canvas: "Canvas") -> None:
    """Draw groups from top to bottom; the contestants of a group one below the other."""
    groups = plot.points["x"].unique(maintain_order=True).to_list()
    contestants = plot.points.partition_by("contestant", maintain_order=True)
    room = max(1, len(contestants))
    step = min(0.8 / room, 0.22)
    axes = canvas.add_subplot()
    colours = _colours(contestants)
    for number, points in enumerate(contestants):
        ys = [groups.index(group) + (number - (room - 1) / 2) * step for group in points["x"]]
        style = {"color": colours[number], "linestyle": "none", "markersize": 4.5}
        _draw(axes, points, points["y"], ys, xerr=_errors(points), **style)
    labels = [_label(group) for group in groups]
    axes.set_yticks(range(len(groups)), labels)
    axes.set_ylim(len(groups) - 0.45, -0.55)
    axes.grid(axis="y", visible=False)
    axes.tick_params(axis="y", length=0)
    axes.set(xlabel=plot.y, xlim=(-2, 102))
    lines_of_a_label = max(label.count("\n") + 1 for label in labels)
    inches_of_a_group = max(0.34, 0.13 * room, 0.17 * lines_of_a_label)
    canvas.set_size_inches(_INCHES_WIDE, 0.9 + inches_of_a_group * len(groups) + 0.2 * _legend(canvas))


def _lines(plot: Plot, canvas: "Canvas") -> None:
    """Draw lines against a number, on a logarithmic scale if it spans orders of magnitude."""
    axes = canvas.add_subplot()
    contestants = plot.points.partition_by("contestant", maintain_order=True)
    for points, colour in zip(contestants, _colours(contestants), strict=True):
        style: dict[str, Any] = {"linewidth": 1.8}
        if points["published"][0]:
            style = {"linestyle": (0, (4, 3)), "linewidth": 1.1}
        style["color"] = colour
        _draw(axes, points, points["x"], points["y"], yerr=_errors(points), markersize=3.8, **style)
    axes.set(xlabel=plot.x, ylabel=plot.y, ylim=(-3, 103))
    numbers = plot.points["x"].to_list()
    if 0 < _WIDE * min(numbers) < max(numbers):
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(lambda number, _: f"{number:,.0f}" if number >= 1 else f"{number:g}")
        axes.xaxis.set_minor_formatter("")
    else:
        axes.locator_params(axis="x", integer=True)
    canvas.set_size_inches(_INCHES_WIDE, 0.2 * _legend(canvas) + 3.4)


def _colours(contestants: Sequence[pl.DataFrame]) -> list[str]:
    """Return a colour for each series, one for all answers and for the right and proven ones of a contestant."""
    from matplotlib import rcParams

    colours = rcParams["axes.prop_cycle"].by_key()["color"]
    names = [points["contestant"][0].removesuffix(PROVEN_MARK) for points in contestants]
    order = list(dict.fromkeys(names))
    return [colours[order.index(name) % len(colours)] for name in names]


def _errors(points: pl.DataFrame) -> list[Any]:
    """Return the lengths of the bars below and above the points; NaN without an interval."""
    below = points["y"] - points["low"]
    above = points["high"] - points["y"]
    return [below.to_numpy(), above.to_numpy()]


def _draw(axes: Any, points: pl.DataFrame, xs: Iterable[float], ys: Iterable[float], **style: Any) -> None:
    """Draw the points of one series with pale bars: proven ones hollow, published ones hollow and pale."""
    is_published = points["published"][0]
    look: dict[str, Any] = {}
    if is_published or points["proven"][0]:
        look["markerfacecolor"] = "none"
    if is_published:
        look["alpha"] = 0.6
    drawn = axes.errorbar(xs, ys, label=_label(points["contestant"][0]), elinewidth=1.5, **look, **style)
    for bars in drawn.lines[2]:
        bars.set_alpha(0.25 if is_published else 0.5)


def _legend(canvas: "Canvas") -> int:
    """Name each contestant below the plot. Return the number of lines."""
    (axes,) = canvas.axes
    _, labels = axes.get_legend_handles_labels()
    longest_line = max(len(line) for label in labels for line in label.split("\n"))
    columns = max(1, min(len(labels), _LEGEND_CHARACTERS // (longest_line + 7)))
    canvas.legend(loc="outside lower center", ncols=columns, columnspacing=1.2)
    lines_of_a_name: int = max(label.count("\n") + 1 for label in labels)
    rows = ceil(len(labels) / columns)
    return rows * lines_of_a_name


def _label(name: str) -> str:
    """Return a name on lines that fit, without a leading underscore, which matplotlib would hide.

    Of a name of many lines, the middle is left out: no plot has room for it.
    """
    lines = wrapped_lines(one_line(name, len(name)), _NAME_CHARACTERS)
    if len(lines) > _NAME_LINES:
        half = _NAME_LINES // 2
        lines = [*lines[:half], "…", *lines[-half:]]
    label = "\n".join(lines)
    return f" {label}" if label.startswith("_") else label
