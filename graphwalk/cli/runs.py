"""`graphwalk runs`, `merge`, `publish` and `verify`: commands about run folders."""

import json as json_module
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphwalk.cli.options import Run, RunOrFile
from graphwalk.cli.report import OVERVIEW, print_report
from graphwalk.errors import ConfigError, counted
from graphwalk.sanitise import printable
from graphwalk.terminal.console import data, say, stdout
from graphwalk.terminal.progress import progress_bar
from graphwalk.terminal.signals import run_async
from graphwalk.variables import read_variables

if TYPE_CHECKING:
    from graphwalk.runs.folder.listing import ListedRun


def runs(
    folder: Annotated[Path, typer.Argument(help="Folder that contains run folders.")] = Path("runs"),
    tag: Annotated[list[str] | None, typer.Option(help="Only runs with this tag; repeatable.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object per line.")] = False,
) -> None:
    """List the runs in a folder, oldest first.

    Columns: models, state, episodes, accuracy and cost. Continue an unfinished run with `graphwalk resume`.
    """
    from graphwalk.runs.folder.listing import list_runs

    if not folder.is_dir():
        raise ConfigError(f"no folder {folder}", hint="create a run with  graphwalk run quickstart")
    listed = [run for run in list_runs(folder) if set(tag or ()) <= set(run.tags)]
    if json:
        for run in listed:
            data(json_module.dumps(run.as_dict()))
    elif listed:
        _print(listed)
    else:
        say(f"no run in {folder}" + (f" with the tag {', '.join(tag)}" if tag else ""))


def _print(listed: "list[ListedRun]") -> None:
    from rich.text import Text

    from graphwalk.reports.text_table import plain_grid

    table = plain_grid()
    for title in ("Run", "Models", "State"):
        table.add_column(title, overflow="fold")
    for title in ("Episodes", "Accuracy %", "Cost"):
        table.add_column(title, justify="right")
    for run in listed:
        table.add_row(
            Text(printable(str(run.path))),
            Text(printable("\n".join(run.models))),
            run.state if run.shard is None else f"{run.shard}, {run.state}",
            f"{run.done}/{'?' if run.episodes is None else run.episodes}",
            "–" if run.accuracy is None else f"{run.accuracy:.2f}",
            "–" if run.cost is None else f"${run.cost:.4f}",
        )
    stdout().print(table)


def merge(
    shards: Annotated[list[Path], typer.Argument(help="Run folders of all shards.")],
    out: Annotated[Path, typer.Option(help="Run folder of the merged run.")],
) -> None:
    """Merge the shards of a run into one run folder.

    The shards come from `graphwalk run … --shard 1/8`. Missing or repeated episodes, and shards with different plans,
    are refused. The merged run is an ordinary run: report, compare, rescore or resume it.
    """
    from graphwalk.runs.folder.run_folder import NewRun, RunFolder
    from graphwalk.runs.playing.shards import merge_runs

    folders = [RunFolder.open(shard) for shard in shards]
    new = NewRun.make(str(folders[0].read_manifest()["name"]), out)
    episodes = merge_runs(folders, new)
    print_report(new.folder, "terminal", tables=OVERVIEW)
    say(f"merged {counted(episodes, 'episode')} of {counted(len(folders), 'shard')} into {new.folder.path}")


def publish(
    folder: Run,
    out: Annotated[Path | None, typer.Option(help="Output file, NAME.zip.")] = None,
) -> None:
    """Write a run as one file to share.

    It contains configuration, versions, texts, results, replies and digests. A run in which the value of a KEY, TOKEN,
    SECRET or PASSWORD variable occurs is refused. report, show, view, verify, compare and export read the file like a
    run folder.
    """
    from graphwalk.runs.finished.publishing import publish as write
    from graphwalk.runs.folder.run_folder import RunFolder

    if out is None or out.suffix != ".zip":
        problem = "name the file to write" if out is None else f"{out} does not end in .zip"
        hint = f"graphwalk publish {shlex.quote(str(folder))} --out {shlex.quote(f'{(out or folder).stem}.zip')}"
        raise ConfigError(problem, hint=hint)
    run = RunFolder.open(folder)
    with progress_bar("publishing", run.planned_episodes()) as done:
        write(run, out, read_variables().secrets, done)
    say(f"written to {out}")
    say(f"read it with:  graphwalk report {shlex.quote(str(out))}")


def verify(
    folder: RunOrFile,
    json: Annotated[bool, typer.Option("--json", help="Print every difference as JSON.")] = False,
) -> None:
    """Recompute a run, and compare it with its log.

    Graphs, tasks and targets are recomputed from the seed, tool results on the embedded engine, then
    prompts and scores.
    No model is called and no file is changed. Exit code 3: the log differs.
    """
    from graphwalk.runs.finished.verify import CHECKS, verify_run
    from graphwalk.runs.folder.run_folder import RunFolder

    run = RunFolder.open(folder)
    with progress_bar("verifying", run.planned_episodes()) as done:
        verification = run_async(verify_run(run, read_variables(), done))
    if json:
        data(verification.as_json())
    else:
        width = max(map(len, CHECKS))
        data(f"{'Check':<{width}}  Verified  Differing  Not verifiable")
        for name, check in verification.checks.items():
            unknown = "; ".join(f"{number} {reason}" for reason, number in check.unverified.items()) or "0"
            data(f"{name:<{width}}  {check.verified:>8}  {len(check.differing):>9}  {unknown}")
    if verification.error is not None:
        raise verification.error
    say(f"verified: no difference; results sha256 {run.results_digest()}")
