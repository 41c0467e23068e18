"""`graphwalk view`: runs as a web page, in a file or served locally."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphwalk.errors import ConfigError, counted, install_hint
from graphwalk.terminal.console import data, say
from graphwalk.terminal.signals import Interrupted

if TYPE_CHECKING:
    from graphwalk.runs.folder.result import EpisodeFilter

_PAGE = (".html", ".htm")


def view(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(help="Run folders, or a folder of them; one without --out. Default: runs."),
    ] = None,
    task: Annotated[str | None, typer.Option(help="With --out, only this task.")] = None,
    model: Annotated[str | None, typer.Option("--model", "-m", help="With --out, only this model.")] = None,
    setting: Annotated[str | None, typer.Option(help="With --out, only this setting.")] = None,
    out: Annotated[Path | None, typer.Option(help="Output FILE.html. Default: serve the page.")] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of the local server; 0 for any free port.")] = 0,
) -> None:
    """View tables, plots and episodes of runs in a browser.

    The page lists runs, follows those in progress and compares them, until Ctrl-C. With --out it is written to one
    file that needs no network, with all episodes or those of a task, model or setting.
    """
    from graphwalk.runs.folder.result import EpisodeFilter

    wanted = EpisodeFilter(*((name,) if name is not None else None for name in (model, setting, task)))
    places = folders or [Path("runs")]
    if out is None:
        if len(places) > 1 or wanted != EpisodeFilter():
            problem = "several folders" if len(places) > 1 else "chosen episodes"
            raise ConfigError(f"cannot serve {problem}", hint="--out FILE.html; the served page has lists and filters")
        _serve(places[0], port)
    elif out.suffix.lower() not in _PAGE:
        raise ConfigError(f"{out.name}: unsupported format; expected .html", hint=f"--out {out.stem}.html")
    else:
        _write_page(places, wanted, out)


def _write_page(places: Sequence[Path], wanted: "EpisodeFilter", out: Path) -> None:
    from graphwalk.reports.plot_files import can_draw
    from graphwalk.runs.folder.listing import heads, list_runs
    from graphwalk.runs.folder.result import EpisodeFilter, key_of
    from graphwalk.runs.folder.run_folder import RunFolder
    from graphwalk.serve.page import content_of, write_page

    folders = []
    for place in places:
        paths = [run.path for run in list_runs(place) if run.state != "unreadable"]
        folders += [RunFolder.open(path) for path in paths or [place]]  # raises for a place without a run
    runs = [content_of(folder, wanted) for folder in folders]
    if wanted != EpisodeFilter() and not any(run.episodes for run in runs):
        played = [key_of(head) for folder in folders for head in heads(folder)]
        raise wanted.nothing(", ".join(map(str, places)), played)
    write_page(runs, out)
    if not can_draw():
        say(f"The page has tables in place of plots, which need matplotlib:  {install_hint('plots')}")
    say(f"{counted(sum(len(run.episodes) for run in runs), 'episode')} written to {out}")


def _serve(place: Path, port: int) -> None:
    """Serve a run, or the runs in a folder, until Ctrl-C."""
    from graphwalk.serve.page_server import PageServer

    if place.is_file():
        raise ConfigError(
            f"cannot serve {place}: expected a run folder",
            hint=f"for a published run:  graphwalk view {place} --out FILE.html",
        )
    if not place.is_dir():
        raise ConfigError(f"no folder {place}", hint="create a run with  graphwalk run quickstart")
    try:
        server = PageServer(place, port)
    except OSError as error:
        raise ConfigError(f"cannot open port {port}: {error.strerror}", hint="--port 0 chooses a free port") from error
    with server:
        try:
            say("Open this address in a browser on this machine. Stop with Ctrl-C.")
            data(server.address)
            server.serve_forever(poll_interval=0.2)
        except (KeyboardInterrupt, Interrupted):
            say("stopped")
