"""`graphwalk init`: a new experiment with files of its own."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from graphwalk.config.resources import data_path
from graphwalk.errors import ConfigError
from graphwalk.files.writing import make_folder, write_whole
from graphwalk.terminal.console import data


def init(folder: Annotated[Path, typer.Argument(help="New or empty folder.")]) -> None:
    """Create a new experiment with a question, a tool and a prompt of its own, all commented. It runs unchanged."""
    make_folder(folder)
    if any(folder.iterdir()):
        raise ConfigError(f"{folder} exists and is not an empty folder", hint="name a new folder")
    root = data_path("templates") / "init"
    for path in sorted(path for path in root.rglob("*") if path.is_file()):
        copy = folder / path.relative_to(root)
        write_whole(copy, [path.read_text(encoding="utf-8")], parents=True)
        data(str(copy))
    data(f"Run it:  graphwalk run {shlex.quote(str(folder / 'experiment.yaml'))}")
