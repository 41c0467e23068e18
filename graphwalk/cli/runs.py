"""`graphwalk runs`, `merge`, `publish` and `verify`: commands about run folders."""

import json as json_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphwalk.asynchronous import run_async
from graphwalk.cli import options
from graphwalk.cli.options import run_folders
from graphwalk.cli.report import OVERVIEW, print_report
from graphwalk.console import NO_LIMIT, counted, data, prose, say, stdout
from graphwalk.errors import ConfigError
from graphwalk.progress import progress_bar
from graphwalk.sanitise import printable
from graphwalk.settings import read_settings

if TYPE_CHECKING:
    from rich.table import Table

    from graphwalk.runs.listing import ListedRun
    from graphwalk.runs.verify import Verification


def runs(
    folder: Annotated[Path, typer.Argument(help="A folder of run folders.")] = Path("runs"),
    tag: Annotated[list[str] | None, typer.Option(help="Only runs with this tag; repeatable.")] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """List the runs in a folder, oldest first.

    With models, state, episodes, accuracy and cost. A run that is not finished goes on with `graphwalk resume`.
    """
    from graphwalk.errors import ConfigError
    from graphwalk.runs.listing import list_runs

    if not folder.is_dir():
        raise ConfigError(f"there is no folder {folder}", hint="graphwalk run quickstart   makes runs/ and a run in it")
    listed = [run for run in list_runs(folder) if set(tag or ()) <= set(run.tags)]
    if json:
        for run in listed:
            data(json_module.dumps(run.as_dict()))
    elif listed:
        _print(listed)
    else:
        say(f"no run in {folder}" + (f" has the tag {', '.join(tag)}" if tag else ""))


def _print(listed: "list[ListedRun]") -> None:
    """A table where it has room; else the name of a run, which people copy, has a line of its own."""
    from rich.measure import Measurement

    for between in (", ", "\n"):
        table = _table(listed, between)
        if Measurement.get(stdout(), stdout().options.update(width=NO_LIMIT), table).maximum <= stdout().width:
            stdout().print(table)
            return
    for run in listed:
        episodes, accuracy, cost = _figures(run)
        data(printable(str(run.path)))
        prose(f"    {_state(run)}, {episodes} episodes, {accuracy} % right, cost {cost}")
        prose(f"    {', '.join(run.models)}")


def _table(listed: "list[ListedRun]", between: str) -> "Table":
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for title in ("run", "models", "state"):
        table.add_column(title)
    for title in ("episodes", "Accuracy %", "cost"):
        table.add_column(title, justify="right")
    for run in listed:
        names = Text(printable(str(run.path))), Text(printable(between.join(run.models)))
        table.add_row(*names, _state(run), *_figures(run))
    return table


def _state(run: "ListedRun") -> str:
    return run.state if run.shard is None else f"{run.shard}, {run.state}"


def _figures(run: "ListedRun") -> tuple[str, str, str]:
    """Episodes, accuracy, cost."""
    total = "?" if run.episodes is None else run.episodes
    return (
        f"{run.done}/{total}",
        "–" if run.accuracy is None else f"{run.accuracy:.2f}",
        "–" if run.cost is None else f"${run.cost:.4f}",
    )


def merge(
    shards: Annotated[
        list[Path],
        typer.Argument(help="The run folders of all shards.", autocompletion=options.run_folders),
    ],
    out: Annotated[Path, typer.Option(help="The folder of the whole run.")],
) -> None:
    """Put the shards of a run together (`graphwalk run … --shard 1/8`).

    Refused where an episode is missing or there twice, or a shard is of another plan. The whole run is like one that a
    single process made: report, compare, rescore and resume it.
    """
    from graphwalk.runs.run_folder import NewRun, RunFolder
    from graphwalk.runs.shards import merge_runs

    folders = [RunFolder.open(shard) for shard in shards]
    new = NewRun.make(str(folders[0].read_manifest()["name"]), out)
    try:
        episodes = merge_runs(folders, new)
    finally:
        if not new.folder.manifest_path.exists():
            new.folder.remove()
    print_report(new.folder.path, "terminal", tables=OVERVIEW)
    say(f"{counted(episodes, 'episode')} of {counted(len(folders), 'shard')} are in {new.folder.path}")


def publish(
    folder: Annotated[Path, typer.Argument(help="A run folder.", autocompletion=run_folders)],
    out: Annotated[Path, typer.Argument(help="The file to be written, NAME.zip.")],
    redact: Annotated[
        bool, typer.Option("--redact", help="Put *** in place of secrets and of all that looks like a key.")
    ] = False,
) -> None:
    """Write a run into one file for others.

    With configuration, versions, texts, results, replies and their digests; without secrets, home folders, paths and
    addresses of servers. report, show, view, verify, compare and export read it as they read a folder.
    """
    from graphwalk.runs.publishing import publish as write
    from graphwalk.runs.reporting import planned_episodes
    from graphwalk.runs.run_folder import RunFolder
    from graphwalk.sanitise import Cleaner

    if out.suffix != ".zip":
        raise ConfigError(f"{out}: a published run is a ZIP", hint=f"graphwalk publish {folder} {out.stem}.zip")
    run = RunFolder.open(folder)
    cleaner = Cleaner(read_settings().variables, redact=redact, folder=Path.cwd())
    with progress_bar("publishing", planned_episodes(run)) as done:
        removed = write(run, out, cleaner, done)
    taken = ", ".join(f"{number} {what}" for what, number in sorted(removed.items()) if number)
    say(f"written to {out}" + (f"; taken out: {taken}" if taken else ""))
    say(f"it is read as a folder is:  graphwalk report {out}")


def verify(
    folder: Annotated[
        Path, typer.Argument(help="A run folder, finished or not, or a published run.", autocompletion=run_folders)
    ],
    store: Annotated[str | None, typer.Option(help="Where graphs are made again. Default: as in the run.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Every difference, as JSON.")] = False,
) -> None:
    """Work a run out again, and compare everything that was logged.

    Graphs, tasks and targets come from the seed, tool results from a fresh store, prompts and scores from those. No
    model is called, and the folder is only read. Exit code 3 where the log differs, 1 where a target is wrong.
    """
    from graphwalk.runs.reporting import planned_episodes
    from graphwalk.runs.run_folder import RunFolder
    from graphwalk.runs.verify import verify_run

    run = RunFolder.open(folder)
    with progress_bar("verifying", planned_episodes(run)) as done:
        found = run_async(verify_run(run, read_settings(), store, done))
    if json:
        data(found.as_json())
    else:
        _print_table(found)
    if found.error is not None:
        raise found.error
    say("all that can be verified holds")


def _print_table(found: "Verification") -> None:
    from graphwalk.runs.verify import CHECKS

    width = max(map(len, CHECKS))
    data(f"{'check':<{width}}  verified  differing  could not be verified")
    for name, check in found.checks.items():
        unknown = "; ".join(f"{number} {reason}" for reason, number in check.unverified.items()) or "0"
        data(printable(f"{name:<{width}}  {check.verified:>8}  {len(check.differing):>9}  {unknown}"))
