"""`graphwalk init`: a small experiment of one's own, to be changed."""

from pathlib import Path
from typing import Annotated

import typer


def init(folder: Annotated[Path, typer.Argument(help="A new or empty folder.")]) -> None:
    """Write a small experiment of your own.

    An experiment, a question, a tool and a prompt, each with comments on every part. It runs at once, and is yours to
    change.
    """
    import shlex
    import shutil

    from graphwalk.console import data
    from graphwalk.errors import ConfigError
    from graphwalk.resources import data_path

    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise ConfigError(f"{folder} exists and is not an empty folder", hint="name a new folder")
        shutil.copytree(data_path("templates") / "init", folder, dirs_exist_ok=True)
    except OSError as error:
        raise ConfigError(f"{folder} cannot be written: {error}", hint="name another folder") from error
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        data(str(path))
    data(f"Run it:  graphwalk run {shlex.quote(str(folder / 'experiment.yaml'))}")
