"""`graphwalk view`: runs as one web page."""

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from graphwalk.errors import ConfigError, counted, install_hint
from graphwalk.terminal import data, say, stdout

_PAGE = (".html", ".htm")


def view(
    folders: Annotated[
        list[Path] | None, typer.Argument(help="Run folders, published runs, or folders of runs. Default: runs.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Output FILE.html. Default: RUN.html beside the first run.")] = None,
) -> None:
    """Write tables, plots and episodes of runs to one HTML file, and open it in a browser.

    The file needs no network. A browser is opened only from a terminal.
    """
    from graphwalk.analysis.page import content_of, write_page
    from graphwalk.analysis.report.plot_files import can_draw
    from graphwalk.runs.folder import RunFolder
    from graphwalk.runs.listing import list_runs

    places = folders or [Path("runs")]
    out = out or _default_page(places[0])
    if out.suffix.lower() not in _PAGE:
        raise ConfigError(f"{out.name}: unsupported format; expected .html", hint=f"--out {out.stem}.html")
    opened = []
    for place in places:
        paths = [run.path for run in list_runs(place) if run.state != "unreadable"]
        opened += [RunFolder.open(path, conversations=True) for path in paths or [place]]
    runs = [content_of(folder) for folder in opened]
    write_page(runs, out)
    if not can_draw():
        say(f"The page has no plots, which need matplotlib:  {install_hint('plots')}")
    say(f"{counted(sum(len(run.episodes) for run in runs), 'episode')} written")
    data(str(out))
    if stdout().is_terminal:
        webbrowser.open(out.resolve().as_uri())


def _default_page(place: Path) -> Path:
    """Return the path of a page beside a run."""
    name = place.stem if place.is_file() else place.resolve().name
    return place.resolve().with_name(f"{name}.html")
