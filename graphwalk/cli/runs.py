"""`graphwalk publish` and `verify`: commands about run folders."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from graphwalk.cli.options import Run, RunOrFile
from graphwalk.terminal import print_data, print_message, progress_bar, run_async
from graphwalk.variables import read_variables


def publish(
    folder: Run,
    out: Annotated[Path | None, typer.Option(help="Output file. Default: name of the run folder, NAME.zip.")] = None,
) -> None:
    """Write a run as one file to share.

    It contains configuration, versions, texts, results, replies and digests. A run in which the value of a KEY, TOKEN,
    SECRET or PASSWORD variable occurs is refused. report, show, view, verify, compare and export read the file like a
    run folder.
    """
    from graphwalk.analysis.publishing import publish as write
    from graphwalk.runs.folder import RunFolder

    out = out or Path(f"{folder.resolve().name}.zip")
    run = RunFolder.open(folder)
    with progress_bar("publishing", run.planned_episodes()) as done:
        write(run, out, read_variables().secrets, done)
    print_message(f"written to {out}")
    print_message(f"read it with:  graphwalk report {shlex.quote(str(out))}")


def verify(
    folder: RunOrFile,
    json: Annotated[bool, typer.Option("--json", help="Print every difference as JSON.")] = False,
) -> None:
    """Recompute a run, and compare it with its log.

    Graphs, tasks and targets are recomputed from the seed, tool results on the embedded engine, then
    prompts and scores.
    No model is called and no file is changed. Exit code 3: the log differs.
    """
    from graphwalk.analysis.verify import CHECKS, verify_run
    from graphwalk.runs.folder import RunFolder

    run = RunFolder.open(folder)
    with progress_bar("verifying", run.planned_episodes()) as done:
        verification = run_async(verify_run(run, read_variables(), done))
    if json:
        print_data(verification.as_json())
    else:
        width = max(map(len, CHECKS))
        print_data(f"{'Check':<{width}}  Verified  Differing  Not verifiable")
        for name, check in verification.checks.items():
            unknown = "; ".join(f"{number} {reason}" for reason, number in check.unverified.items()) or "0"
            print_data(f"{name:<{width}}  {check.verified:>8}  {len(check.differing):>9}  {unknown}")
    # Raised only now: the table says how far the comparison came.
    if verification.error is not None:
        raise verification.error
    print_message(f"verified: no difference; results sha256 {run.results_digest()}")
