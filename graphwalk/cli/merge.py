"""`graphwalk merge`."""

from pathlib import Path
from typing import Annotated

import typer

from graphwalk.cli import naming
from graphwalk.cli.report import OVERVIEW, print_report
from graphwalk.console import counted, say


def merge(
    shards: Annotated[
        list[Path],
        typer.Argument(help="The run folders of all shards.", autocompletion=naming.run_folders),
    ],
    out: Annotated[Path, typer.Option(help="The folder of the whole run.")],
) -> None:
    """Put the shards of a run together (`graphwalk run … --shard 1/8`).

    Refused where an episode is missing or there twice, or a shard is of another plan. The whole run is like one that a
    single process made: report, compare, rescore and resume it.
    """
    from graphwalk.runlog.run_folder import NewRun, RunFolder
    from graphwalk.runner.merging import merge_runs

    folders = [RunFolder.open(shard) for shard in shards]
    new = NewRun.make(str(folders[0].read_manifest()["name"]), out)
    try:
        episodes = merge_runs(folders, new)
    finally:
        if not new.folder.manifest_path.exists():
            new.folder.remove()
    print_report(new.folder.path, "terminal", tables=OVERVIEW)
    say(f"{counted(episodes, 'episode')} of {counted(len(folders), 'shard')} are in {new.folder.path}")
