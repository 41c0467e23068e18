"""`graphwalk init`: a new experiment with files of its own, or a package with a suite, a store or a backend."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from graphwalk.errors import ConfigError
from graphwalk.files.writing import make_folder, write_whole
from graphwalk.terminal import print_data

_DEMO = "demo"
"""The name of the packages in examples/; replaced by another one in texts and in the names of files."""


def init(
    folder: Annotated[Path, typer.Argument(help="New or empty folder.")],
    suite: Annotated[str | None, typer.Option(metavar="NAME", help="Write a package with a suite.")] = None,
    store: Annotated[str | None, typer.Option(metavar="NAME", help="Write a package with a store.")] = None,
    backend: Annotated[str | None, typer.Option(metavar="NAME", help="Write a package with a model backend.")] = None,
) -> None:
    """Create a new experiment with a question, a tool and a prompt of its own, all commented. It runs unchanged.

    With --suite, --store or --backend: a Python package that works unchanged, with its test.
    """
    from graphwalk.config.resources import data_path

    names = {"suite": suite, "store": store, "backend": backend}
    chosen = [(kind, name) for kind, name in names.items() if name]
    if len(chosen) > 1:
        raise typer.BadParameter("choose one of --suite, --store, --backend")
    kind, name = chosen[0] if chosen else ("experiment", "")
    if name and not (name.isidentifier() and name.islower()):
        raise typer.BadParameter(
            f"--{kind} {name!r}: expected a name of small letters, digits and _, as of a Python module"
        )
    if name:
        from graphwalk.models.registry import PROVIDERS
        from graphwalk.stores.base import STORES
        from graphwalk.suites.suite import SUITES

        if name in {"suite": SUITES, "store": STORES, "backend": PROVIDERS}[kind].built_in:
            raise typer.BadParameter(f"--{kind} {name}: GraphWalk has a {kind} of this name; choose another")
    make_folder(folder)
    if any(folder.iterdir()):
        raise ConfigError(f"{folder} exists and is not an empty folder", hint="name a new folder")
    root = data_path("examples") / kind
    for path in sorted(root.rglob("*")):
        # An example that was run has left bytecode.
        if not path.is_file() or path.suffix == ".pyc":
            continue
        text = path.read_text(encoding="utf-8")
        place = str(path.relative_to(root))
        if name:
            text = text.replace(_DEMO, name)
            place = place.replace(_DEMO, name)
        copy = folder / place
        make_folder(copy.parent)
        write_whole(copy, [text])
        print_data(str(copy))
    where = shlex.quote(str(folder))
    if name:
        print_data(f"Install and test it:  pip install pytest -e {where} && python -m pytest {where}")
    else:
        print_data(f"Run it:  graphwalk run {shlex.quote(str(folder / 'experiment.yaml'))}")
