"""`graphwalk verify`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphwalk.asynchronous import run_async
from graphwalk.cli.naming import run_folders
from graphwalk.console import data, printable, say
from graphwalk.environment import read_environment
from graphwalk.long_work import long_work

if TYPE_CHECKING:
    from graphwalk.runner.verification.findings import Verification


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
    from graphwalk.runlog.run_folder import RunFolder
    from graphwalk.runner.reporting import planned_episodes
    from graphwalk.runner.verification.verify import verify_run

    run = RunFolder.open(folder)
    with long_work("verifying", planned_episodes(run)) as done:
        found = run_async(verify_run(run, read_environment(), store, done))
    if json:
        data(found.as_json())
    else:
        _print_table(found)
    if found.error is not None:
        raise found.error
    say("all that can be verified holds")


def _print_table(found: "Verification") -> None:
    from graphwalk.runner.verification.findings import CHECKS

    width = max(map(len, CHECKS))
    data(f"{'check':<{width}}  verified  differing  could not be verified")
    for name, check in found.checks.items():
        unknown = "; ".join(f"{number} {reason}" for reason, number in check.unverified.items()) or "0"
        data(printable(f"{name:<{width}}  {check.verified:>8}  {len(check.differing):>9}  {unknown}"))
