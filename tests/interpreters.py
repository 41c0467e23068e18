"""The Pythons of this machine that GraphWalk runs on, and commands in each with the packages that are locked."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from uv import find_uv_bin

ROOT = Path(__file__).parents[1]
VERSIONS = ("3.11", "3.12", "3.13")


def interpreters() -> dict[str, str]:
    """By version, where it is: on the path, or installed by pyenv. Those that are not here are left out."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = {}
    for version in VERSIONS:
        installed = [str(path) for path in sorted(pyenv.glob(f"{version}.*/bin/python{version}"))]
        on_path = [place for place in [shutil.which(f"python{version}")] if place and "shims" not in place]
        if places := [*installed, *on_path]:
            found[version] = places[0]
    return found


def run_with(python: str, *words: str, environment: Mapping[str, str] = os.environ) -> str:
    """Return the output of `python -m WORDS…`, with the locked packages and no others but pytest; uv keeps them for next time."""
    packages = ["--with-requirements", str(ROOT / "requirements" / "run.txt"), "--with", "pytest"]
    command = [find_uv_bin(), "run", "--quiet", "--no-project", "--python", python, *packages, "python", "-m", *words]
    given = {name: value for name, value in environment.items() if name != "VIRTUAL_ENV"}
    return subprocess.run(
        command, cwd=ROOT, env={**given, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True
    ).stdout


def run_here(*words: str, environment: Mapping[str, str] = os.environ) -> str:
    """The same in this Python."""
    command = [sys.executable, "-m", *words]
    return subprocess.run(
        command, cwd=ROOT, env={**environment, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True
    ).stdout
