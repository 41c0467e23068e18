"""`graphwalk publish`: a run in one file for others."""

from pathlib import Path
from typing import Annotated

import typer

from graphwalk.cli.naming import run_folders
from graphwalk.console import say
from graphwalk.environment import read_environment
from graphwalk.errors import ConfigError
from graphwalk.long_work import long_work


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
    from graphwalk.runlog.private import Cleaner
    from graphwalk.runlog.publishing import publish as write
    from graphwalk.runlog.run_folder import RunFolder
    from graphwalk.runner.reporting import planned_episodes

    if out.suffix != ".zip":
        raise ConfigError(f"{out}: a published run is a ZIP", hint=f"graphwalk publish {folder} {out.stem}.zip")
    run = RunFolder.open(folder)
    cleaner = Cleaner(read_environment(), redact=redact, folder=Path.cwd())
    with long_work("publishing", planned_episodes(run)) as done:
        removed = write(run, out, cleaner, done)
    taken = ", ".join(f"{number} {what}" for what, number in sorted(removed.items()) if number)
    say(f"written to {out}" + (f"; taken out: {taken}" if taken else ""))
    say(f"it is read as a folder is:  graphwalk report {out}")
