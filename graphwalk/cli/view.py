"""`graphwalk view`: runs as a page, in a file or served to a browser on this machine; episodes as drawings."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphwalk.asynchronous import Interrupted
from graphwalk.cli.options import run_folders
from graphwalk.console import counted, data, say
from graphwalk.errors import ConfigError
from graphwalk.files import write_whole

if TYPE_CHECKING:
    from graphwalk.runs.run_folder import RunFolder
    from graphwalk.suites.suite import Suite

_MOST = 500
"""Largest number of episodes in one drawing."""
_PAGE = (".html", ".htm")


def view(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(help="Run folders, or a folder of them. Default: runs.", autocompletion=run_folders),
    ] = None,
    task: Annotated[str | None, typer.Option(help="Only this task.")] = None,
    model: Annotated[str | None, typer.Option("--model", "-m", help="Only this model.")] = None,
    setting: Annotated[str | None, typer.Option(help="Only this setting.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="FILE.html (the page); FILE.svg, FILE.txt, where the suite draws such. Default: serve it."),
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="To serve at; 0: any that is free.")] = 0,
) -> None:
    """Look at runs: tables, plots and every episode, step by step.

    With --out one file that needs no network. Else a page for a browser on this machine, which lists the runs, follows
    those that go on, and compares them; Ctrl-C ends it.
    """
    asked = {"task_id": task, "model": model, "setting": setting}
    wanted = {name: value for name, value in asked.items() if value is not None}
    places = folders or [Path("runs")]
    if out is None:
        _serve(places, wanted, port)
    elif out.suffix.lower() in _PAGE:
        _write_page(places, wanted, out)
    else:
        _draw(_one_run(places), wanted, out)


def write_pictures(suite: "Suite[Any, Any]", records: list[dict[str, Any]], out: Path, title: str) -> None:
    """Into a file of one of the suite's forms, or as a page."""
    if out.suffix.lower() in _PAGE:
        from graphwalk.serve.page import write_page
        from graphwalk.serve.page_content import RunContent, episodes_of

        episodes = episodes_of(records, suite.name)
        say(f"written to {write_page([RunContent(title, suite.name, {}, episodes=episodes)], out)}")
        return
    form, pictures = drawn_format(suite, out), suite.presentation.pictures
    assert pictures is not None, "drawn_format refuses the forms of suites without pictures"
    page = pictures.page(records, form, title)
    # Models may write halves of characters, which no file can hold.
    write_whole(out, [page.encode("utf-8", "replace").decode()])
    say(f"written to {out}")


def drawn_format(suite: "Suite[Any, Any]", out: Path) -> str:
    """The form that a file name asks for. ConfigError for one that there is not."""
    form, pictures = out.suffix.lower(), suite.presentation.pictures
    known = (_PAGE[0], *(pictures.formats if pictures else ()))
    if form not in (*known, *_PAGE):
        raise ConfigError(f"{out.name}: episodes are written as {', '.join(known)}", hint=f"--out {out.stem}{known[0]}")
    return form


def _draw(run: "RunFolder", wanted: Mapping[str, str], out: Path) -> None:
    from graphwalk.suites.registry import suite_named

    suite = suite_named(run.read_manifest()["config"]["suite"]["name"])
    drawn_format(suite, out)
    chosen = _chosen(run, wanted)
    write_pictures(suite, chosen, out, f"{suite.name}: {run.path.name}")
    if out.suffix.lower() == ".svg" and len(chosen) > 1:
        say(f"a picture holds one episode, this is the first of {len(chosen)}: choose with --task, --model, --setting")


def _write_page(places: Sequence[Path], wanted: Mapping[str, str], out: Path) -> None:
    from graphwalk.serve.page import write_page
    from graphwalk.serve.page_content import content_of

    folders = [folder for place in places for folder in _runs_at(place)]
    runs = [content_of(folder, lambda record: _fits(record, wanted)) for folder in folders]
    if wanted and not any(run.episodes for run in runs):
        raise ConfigError(f"{', '.join(map(str, places))}: no episode with {_told(wanted)}")
    written = write_page(runs, out)
    say(f"{counted(sum(len(run.episodes) for run in runs), 'episode')} written to {written}")


def _runs_at(place: Path) -> "list[RunFolder]":
    """The run, the published run, or the runs in a folder of them. Opening names what is wrong with any other place."""
    from graphwalk.runs.listing import list_runs
    from graphwalk.runs.run_folder import RunFolder

    found = [run.path for run in list_runs(place) if run.state != "unreadable"]
    return [RunFolder.open(path) for path in (found or [place])]


def _serve(places: Sequence[Path], wanted: Mapping[str, str], port: int) -> None:
    """Serves until Ctrl-C. Runs in several places are served from the folder above them."""
    from graphwalk.serve.page_server import PageServer

    for place in places:
        if place.is_file():
            raise ConfigError(f"{place} is a file, and folders are served", hint="--out FILE.html takes published runs")
        if not place.is_dir():
            raise ConfigError(
                f"there is no folder {place}", hint="graphwalk run quickstart   makes runs/ and a run in it"
            )
    alone = len(places) == 1
    root = places[0] if alone else Path(os.path.commonpath([place.resolve().parent for place in places]))
    first = [place.resolve().name for place in places if (place / "run.json").exists()]
    if not alone and any(place.resolve().parent != root for place in places):
        raise ConfigError(
            "runs that are served together are in one folder", hint="--out FILE.html takes them from anywhere"
        )
    if wanted:
        _chosen(_one_run(places), wanted)
    try:
        server = PageServer(root, port, first, lambda record: _fits(record, wanted))
    except OSError as error:
        raise ConfigError(
            f"port {port} cannot be opened: {error.strerror}", hint="--port 0 takes any that is free"
        ) from error
    with server:
        try:
            say("open this address in a browser on this machine; Ctrl-C ends")
            data(server.address)
            server.serve_forever(poll_interval=0.2)
        except (KeyboardInterrupt, Interrupted):
            say("ended")


def _one_run(places: Sequence[Path]) -> "RunFolder":
    from graphwalk.runs.run_folder import RunFolder

    if len(places) > 1:
        raise ConfigError("drawings are of one run", hint="--out FILE.html takes several")
    return RunFolder.open(places[0])


def _chosen(run: "RunFolder", wanted: Mapping[str, str]) -> list[dict[str, Any]]:
    from graphwalk.runs.result import key_of

    records = {key_of(record): record for record in run.records() if _fits(record, wanted)}
    if not records:
        what = _told(wanted)
        raise ConfigError(f"{run.path} has no episode{f' with {what}' if what else ''}")
    return [records[key] for key in sorted(records)[:_MOST]]


def _fits(record: Mapping[str, Any], wanted: Mapping[str, str]) -> bool:
    return all(record[name] == value for name, value in wanted.items())


def _told(wanted: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in wanted.items())
