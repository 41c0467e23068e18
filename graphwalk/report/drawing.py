"""Figures drawn with matplotlib (the extra `plots`), as SVG and PNG for papers and as SVG for the page of a run."""

import io
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphwalk.errors import ConfigError
from graphwalk.files import make_folder, write_whole
from graphwalk.report.figures import Figure, figure_csv
from graphwalk.report.marks import MARKS

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

INSTALL = "pip install 'graphwalk-agents[plots]'"
INK, SOFT, RULE, PAPER = "#1c2126", "#697079", "#e3e6ea", "#fefefe"
_SCHEME = {INK: "ink", SOFT: "soft", RULE: "rule", PAPER: "paper"}
_DARK = {"ink": "#e6e8ea", "soft": "#a2a9b1", "rule": "#30363d", "paper": "transparent"}
_RC: Any = {
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.edgecolor": SOFT,
    "axes.labelcolor": SOFT,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 9.5,
    "axes.titlelocation": "left",
    "grid.color": RULE,
    "grid.linewidth": 0.7,
    "figure.facecolor": PAPER,
    "axes.facecolor": PAPER,
    "legend.frameon": False,
    "text.color": INK,
    "text.parse_math": False,  # a dollar sign in a name is a dollar sign
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "svg.hashsalt": "graphwalk",
}
_DOTS_PER_INCH = 200


def can_draw() -> bool:
    """False where the extra `plots` is not installed."""
    return find_spec("matplotlib") is not None


def page_svg(figure: Figure) -> str:
    """An SVG document that follows the colour scheme of the reader, with its text as text."""
    with _drawn(figure, "none") as canvas:
        text = _saved(canvas, "svg").decode()
    for colour, name in _SCHEME.items():
        text = text.replace(colour, f"var(--{name})")
    light = "".join(f"--{name}:{'transparent' if name == 'paper' else colour};" for colour, name in _SCHEME.items())
    dark = "".join(f"--{name}:{colour};" for name, colour in _DARK.items())
    rules = f"svg{{{light}}}@media (prefers-color-scheme:dark){{svg{{{dark}}}}}text{{font-family:sans-serif}}"
    head, mark, rest = text.partition("<defs>")
    return f"{head}<style>{rules}</style>{mark}{rest}"


def save_figures(figures: Sequence[Figure], folder: Path) -> list[Path]:
    """NAME.svg, NAME.png and NAME.csv of every figure. ConfigError without matplotlib, or for a place of no use."""
    if not can_draw():
        raise ConfigError("drawing needs matplotlib, which is not installed", hint=INSTALL)
    make_folder(folder, parents=False)
    written = []
    for figure in figures:
        with _drawn(figure, "path") as canvas:
            write_whole(folder / f"{figure.name}.svg", [_saved(canvas, "svg").decode()])
            (folder / f"{figure.name}.png").write_bytes(_saved(canvas, "png"))
        write_whole(folder / f"{figure.name}.csv", [figure_csv(figure)])
        written += [folder / f"{figure.name}.{form}" for form in ("svg", "png", "csv")]
    return written


def _saved(canvas: "Canvas", form: str) -> bytes:
    stream = io.BytesIO()
    metadata: dict[str, Any] = {"Date": None, "Creator": None} if form == "svg" else {}
    canvas.savefig(stream, format=form, dpi=_DOTS_PER_INCH, metadata=metadata)
    return stream.getvalue()


@contextmanager
def _drawn(figure: Figure, fonts: str) -> "Iterator[Canvas]":
    """`fonts`: "path" draws letters, so that they look the same everywhere; "none" leaves them to the reader."""
    import matplotlib
    from matplotlib.figure import Figure as NewCanvas

    with matplotlib.rc_context({**_RC, "svg.fonttype": fonts}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")  # names are in whatever script they are in
        canvas = NewCanvas(layout="constrained")
        MARKS[figure.kind](figure, canvas)
        yield canvas
