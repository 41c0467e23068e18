"""The files of a release: the same bytes from the same tree, and locked, licensed packages (supply chain)."""

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import supply_chain

ROOT = Path(__file__).parents[1]
PARTS = ("graphwalk", "templates", "tools", "docs", "requirements", "examples", "benchmarks", "tests")


def built(tree: Path, out: Path) -> dict[str, str]:
    """Name → SHA-256 of what is built from a tree."""
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(out)]
    environment = {"SOURCE_DATE_EPOCH": "1700000000", "PATH": "/usr/bin:/bin", "HOME": str(out)}
    subprocess.run(command, cwd=tree, check=True, capture_output=True, env=environment)
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in out.glob("graphwalk*")}


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
    assert names - supply_chain.pins(name).keys() == set()


def test_image_installs_packages_by_digest_only() -> None:
    installs = re.findall(r"^RUN pip install (.*)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    packages, project = (set(words.split()) for words in installs)
    assert {"--require-hashes", "requirements/image.txt"} <= packages
    assert {"--no-deps", "--no-build-isolation", "."} <= project
    assert "hatchling" in supply_chain.pins("image")


def test_actions_are_pinned_by_digest() -> None:
    for path in (ROOT / ".github" / "workflows").iterdir():
        actions = re.findall(r"uses: *(\S+)", path.read_text())
        assert actions
        assert [action for action in actions if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", action)] == []


def test_no_package_of_users_binds_by_its_licence() -> None:
    table = (ROOT / "requirements" / "licences.md").read_text()
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", table, re.MULTILINE)[1:]
    assert len(rows) > 40
    assert [row for row in rows if "unknown" in row[1] or supply_chain._COPYLEFT.search(row[1])] == []


@pytest.mark.extended
def test_the_bill_of_materials_is_the_same_each_time(tmp_path: Path) -> None:
    bills = []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        assert supply_chain.bill(tmp_path / name) == 0
        (place,) = (tmp_path / name).iterdir()
        bills.append(place.read_bytes())
    assert bills[0] == bills[1]
    bill = json.loads(bills[0])
    assert bill["metadata"]["component"]["name"] == "graphwalk-agents"
    names = {component["name"].lower() for component in bill["components"]}
    assert names == supply_chain.pins("run").keys()
