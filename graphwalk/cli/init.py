"""`graphwalk init`: scaffolding for an experiment or a model backend."""

import re
import shlex
from pathlib import Path
from typing import Annotated

import typer

from graphwalk.errors import ConfigError
from graphwalk.files.resources import data_path
from graphwalk.files.writing import make_folder, write_whole
from graphwalk.terminal.console import data


def init(
    folder: Annotated[
        Path | None, typer.Argument(help="New or empty folder. Default with --backend: graphwalk-NAME.")
    ] = None,
    backend: Annotated[
        str | None, typer.Option(metavar="NAME", help="Create a package for models named NAME/MODEL.")
    ] = None,
) -> None:
    """Create a new experiment, or a model backend with --backend.

    An experiment comes with a question, a tool and a prompt, all commented. A backend is a package with a class, an
    entry point and a test. Both run unchanged.
    """
    if folder is None and backend is None:
        raise ConfigError("no folder given", hint="graphwalk init FOLDER, or graphwalk init --backend NAME")
    folder = folder or Path(f"graphwalk-{backend}")
    if backend is None:
        root = data_path("templates") / "init"
        paths = (path for path in root.rglob("*") if path.is_file())
        files = {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in paths}
    else:
        files = _backend_files(backend)
    make_folder(folder)
    if any(folder.iterdir()):
        raise ConfigError(f"{folder} exists and is not an empty folder", hint="name a new folder")
    for name, text in files.items():
        write_whole(folder / name, [text], parents=True)
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        data(str(path))
    if backend is None:
        data(f"Run it:  graphwalk run {shlex.quote(str(folder / 'experiment.yaml'))}")
    else:
        data(f"Test it:  cd {shlex.quote(str(folder))} && pip install -e '.[test]' && pytest")


def _backend_files(name: str) -> dict[str, str]:
    """Return text by path in the package. Raise ConfigError if the name is invalid or taken."""
    from graphwalk.config.jinja import make_environment
    from graphwalk.models.registry import EPISODE_PROVIDERS, PROVIDERS
    from graphwalk.variables import server_variable

    if not re.fullmatch(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*", name):
        raise ConfigError(f"--backend {name!r}: expected lower-case letters, digits and -", hint="--backend my-models")
    if name in (*PROVIDERS.built_in, *EPISODE_PROVIDERS):
        raise ConfigError(f"--backend {name}: name of a built-in provider", hint="choose another name")
    package = f"graphwalk_{name.replace('-', '_')}"
    words = {
        "name": name,
        "package": package,
        "model_class": "".join(part.capitalize() for part in name.split("-")) + "Model",
        "variable": server_variable(name),
    }
    targets = {
        "pyproject.toml": "pyproject.toml",
        "README.md": "README.md",
        "backend.py": f"{package}/__init__.py",
        "test_backend.py": f"tests/test_{package}.py",
    }
    root, jinja = data_path("templates") / "backend", make_environment({})
    return {
        target: jinja.from_string((root / f"{source}.j2").read_text(encoding="utf-8")).render(words).rstrip() + "\n"
        for source, target in targets.items()
    }
