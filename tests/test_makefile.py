"""The targets of the Makefile that a newcomer calls first."""

import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def make(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run `make` with the Makefile of this checkout on a folder that has no packages."""
    (folder / "pyproject.toml").touch()
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}
    command = ["make", "--no-print-directory", "-C", str(folder), "-f", str(ROOT / "Makefile"), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def old_python() -> str | None:
    """Return a Python of this machine that is too old, if there is one."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for version in ("3.10", "3.9", "3.8"):
        for path in pyenv.glob(f"{version}.*/bin/python{version}"):
            return str(path)
        on_path = shutil.which(f"python{version}")
        if on_path and "shims" not in on_path:  # pyenv's shims start no Python that is not chosen
            return on_path
    return None


def test_an_old_python_is_refused_before_anything_is_installed(tmp_path: Path) -> None:
    if (python := old_python()) is None:
        pytest.skip("no Python older than 3.11 on this machine")
    done = make(tmp_path, "quickstart", f"PYTHON={python}")
    assert done.returncode == 2
    assert "GraphWalk needs Python 3.11 or newer" in done.stderr
    assert "Try: make quickstart PYTHON=python3.12" in done.stderr
    assert "Installing" not in done.stdout
    assert not (tmp_path / ".venv").exists()


@pytest.mark.extended
def test_the_commands_that_quickstart_prints_can_be_pasted(tmp_path: Path) -> None:
    venv.create(tmp_path / ".venv")
    command = tmp_path / ".venv" / "bin" / "graphwalk"
    script = f"""#!/bin/sh\n[ "$1" = run ] && set -- "$@" --limit 1\nexec {sys.executable} -m graphwalk "$@"\n"""
    command.write_text(script, encoding="utf-8")
    command.chmod(0o755)
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / ".venv" / ".installed").touch()
    done = make(tmp_path, "quickstart")
    assert done.returncode == 0, done.stderr
    activate = done.stdout.splitlines()[-1].partition(":  ")[2]
    (report,) = re.findall(r"graphwalk report [^)]+", done.stderr)
    pasted = subprocess.run(
        ["sh", "-c", f"{activate} && {report}"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), "HOME": str(tmp_path)},
    )
    assert pasted.returncode == 0, pasted.stderr
    assert "scripted/expert" in pasted.stdout
