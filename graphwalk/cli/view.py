"""`graphwalk view`: runs as one web page."""

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from graphwalk.cli.options import Names, names_in
from graphwalk.errors import counted, install_hint
from graphwalk.terminal import print_data, print_message, stdout


def view(
    folders: Annotated[
        list[Path] | None, typer.Argument(help="Run folders, published runs, or folders of runs. Default: runs.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Output FILE.html. Default: RUN.html beside the first run.")] = None,
    name: Names = None,
) -> None:
    """Write tables, plots and episodes of runs to one HTML file, and open it in a browser.

    The file needs no network. A browser is opened only from a terminal.
    """
    from graphwalk.analysis.page import content_of, write_page
    from graphwalk.analysis.report.names import check_model_names, names_of
    from graphwalk.analysis.report.plot_files import can_draw
    from graphwalk.runs.folder import RunFolder
    from graphwalk.runs.listing import list_runs

    places = folders or [Path("runs")]
    if out is None:
        first = places[0].resolve()
        name_of_run = first.stem if first.is_file() else first.name
        out = first.with_name(f"{name_of_run}.html")

    opened = []
    for place in places:
        # A folder of runs, else a run.
        paths = [run.path for run in list_runs(place) if run.state != "unreadable"]
        for path in paths or [place]:
            opened.append(RunFolder.open(path, conversations=True))
    names = names_in(name)
    configs = {folder.path: folder.read_manifest()["config"] for folder in opened if not folder.is_conversation}
    check_model_names(names, list(configs.values()))
    runs = []
    for folder in opened:
        config = configs.get(folder.path)
        runs.append(content_of(folder, {} if config is None else names_of(config, names)))
    write_page(runs, out)
    if not can_draw():
        print_message(f"The page has no plots, which need matplotlib:  {install_hint('plots')}")
    print_message(f"{counted(sum(len(run.episodes) for run in runs), 'episode')} written")
    print_data(str(out))
    if stdout().is_terminal:
        webbrowser.open(out.resolve().as_uri())
