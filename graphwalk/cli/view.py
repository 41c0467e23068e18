"""`graphwalk view`: episodes as pictures, if their suite draws any."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphwalk.cli.naming import run_folders
from graphwalk.console import say, stdout
from graphwalk.errors import ConfigError
from graphwalk.files import write_whole

if TYPE_CHECKING:
    from graphwalk.runlog.run_folder import RunFolder
    from graphwalk.suites.suite import Pictures

_MOST = 500
"""Largest number of episodes on one page."""


def view(
    folder: Annotated[
        Path,
        typer.Argument(help="A run folder of a suite that draws pictures, such as mazes.", autocompletion=run_folders),
    ],
    task: Annotated[str | None, typer.Option(help="Only this task.")] = None,
    model: Annotated[str | None, typer.Option("--model", "-m", help="Only this model.")] = None,
    setting: Annotated[str | None, typer.Option(help="Only this setting.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="FILE.html (animation), FILE.svg or FILE.txt. Default: draw in the terminal."),
    ] = None,
) -> None:
    """Show what models did, step by step.

    For mazes: the exploration and the path that was answered, in the terminal, as a picture or an animation.
    """
    from graphwalk.runlog.run_folder import RunFolder
    from graphwalk.suites.registry import suite_named

    run = RunFolder.open(folder)
    suite = suite_named(run.read_manifest()["config"]["suite"]["name"])
    pictures = suite.pictures()
    if pictures is None:
        raise ConfigError(f"{folder} is a run of the suite {suite.name}, which draws no pictures")
    asked = {"task_id": task, "model": model, "setting": setting}
    chosen = _chosen(run, {name: value for name, value in asked.items() if value is not None})
    show(pictures, chosen, out, f"{suite.name}: {folder.name}")
    if out is not None and out.suffix.lower() == ".svg" and len(chosen) > 1:
        say(f"a picture holds one episode, this is the first of {len(chosen)}: choose with --task, --model, --setting")


def show(pictures: "Pictures", records: list[dict[str, Any]], out: Path | None, title: str) -> None:
    """Draw in the terminal, or into a file. ConfigError for a form that the suite does not draw."""
    if out is None:
        for drawing in pictures.drawings(records):
            stdout().print(drawing, markup=False)
        return
    page = pictures.page(records, drawn_format(pictures, out, title), title)
    # Models may write halves of characters, which no file can hold.
    write_whole(out, [page.encode("utf-8", "replace").decode()])
    say(f"written to {out}")


def drawn_format(pictures: "Pictures | None", out: Path, suite: str) -> str:
    """The form of picture that a file name asks for. ConfigError for one that the suite does not draw."""
    if pictures is None:
        raise ConfigError(f"the suite {suite} draws no pictures", hint="leave --out away")
    form = out.suffix.lower()
    if form not in pictures.formats:
        known = ", ".join(pictures.formats)
        raise ConfigError(f"{out.name}: episodes are written as {known}", hint=f"--out {out.stem}{pictures.formats[0]}")
    return form


def _chosen(run: "RunFolder", asked: Mapping[str, str]) -> list[dict[str, Any]]:
    from graphwalk.runlog.result import key_of

    records = {key_of(r): r for r in run.records() if all(r[name] == value for name, value in asked.items())}
    if not records:
        what = ", ".join(f"{name} {value}" for name, value in asked.items())
        raise ConfigError(f"{run.path} has no episode{f' with {what}' if what else ''}")
    return [records[key] for key in sorted(records)[:_MOST]]
