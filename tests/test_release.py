"""The files of a release: the same bytes from the same tree, and locked packages with digests."""

import hashlib
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PARTS = ("graphwalk", "templates", "tools", "docs", "requirements", "examples", "benchmarks", "tests")


def built(tree: Path, out: Path) -> dict[str, str]:
    """Name → SHA-256 of what is built from a tree."""
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(out)]
    environment = {"SOURCE_DATE_EPOCH": "1700000000", "PATH": "/usr/bin:/bin", "HOME": str(out)}
    subprocess.run(command, cwd=tree, check=True, capture_output=True, env=environment)
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in out.glob("graphwalk*")}


@pytest.mark.extended
def test_two_builds_are_the_same_bytes(tmp_path: Path) -> None:
    builds = []
    for number, name in enumerate(("here", "a/longer/place")):
        tree = tmp_path / name
        hidden = shutil.ignore_patterns("__pycache__", ".*")
        for part in PARTS:
            shutil.copytree(ROOT / part, tree / part, ignore=hidden)
        for file in ROOT.glob("*.*"):
            if file.is_file():
                # Copied with a new time of change, which must not be seen in what is built.
                shutil.copyfile(file, tree / file.name)
        for file in ("LICENSE", "Makefile"):
            shutil.copyfile(ROOT / file, tree / file)
        builds.append(built(tree, tmp_path / f"out-{number}"))
    assert {name.rpartition("-")[2] for name in builds[0]} == {"any.whl", "0.1.0.tar.gz"}
    assert builds[0] == builds[1]


@pytest.mark.parametrize("name", ["run", "dev", "image"])
def test_every_locked_package_has_a_digest(name: str) -> None:
    text = (ROOT / "requirements" / f"{name}.txt").read_text()
    blocks = re.split(r"\n(?=[A-Za-z0-9])", text)
    assert len(blocks) > 40
    assert [block.splitlines()[0] for block in blocks if "--hash=sha256:" not in block] == []
    assert "://" not in text


@pytest.mark.parametrize(("name", "extra"), [("run", None), ("dev", "dev"), ("image", "mcp")])
def test_the_lock_holds_all_that_is_asked_for(name: str, extra: str | None) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    requirements = [*project["dependencies"], *(project["optional-dependencies"][extra] if extra else ())]
    names = {re.split(r"[\[><=~ ;]", item)[0].lower() for item in requirements} - {"graphwalk-agents"}
    locked = re.findall(r"^([A-Za-z0-9._-]+)==", (ROOT / "requirements" / f"{name}.txt").read_text(), re.MULTILINE)
    assert names - {package.lower() for package in locked} == set()
