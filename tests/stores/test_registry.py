"""A store that another package brings along: it is found by its entry point, and used through the command."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STORE = """
from graphwalk.stores.embedded import open_embedded


async def open_underived(environment, **settings):
    return object()
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A folder with an installed package, as pip would leave it; a second store of it cannot be imported."""
    folder = tmp_path / "site"
    facts = folder / "own_store-1.0.dist-info"
    facts.mkdir(parents=True)
    (folder / "own_store.py").write_text(STORE)
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: own-store\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text(
        "[graphwalk.stores]\nown = own_store:open_embedded\nbroken = own_store:no_such_function\n"
        "underived = own_store:open_underived\n"
    )
    return folder


def graphwalk(package: Path, *words: str) -> subprocess.CompletedProcess[str]:
    folder = package.parent
    places = os.pathsep.join([str(ROOT), str(package)])
    hidden = {name for name in os.environ if name.endswith("_API_KEY") or name.startswith("NEO4J_")}
    given = {name: value for name, value in os.environ.items() if name not in hidden}
    return subprocess.run(
        [sys.executable, "-m", "graphwalk", *words],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**given, "PYTHONPATH": places, "GRAPHWALK_HOME": str(folder / "home")},
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize(
    ("store", "problem"),
    [
        ("nowhere", "known: embedded, neo4j, broken, own, underived"),
        ("underived", "must return a graphwalk.stores.base.Database"),
    ],
)
def test_a_store_that_cannot_be_used_is_an_error(package: Path, store: str, problem: str) -> None:
    done = graphwalk(package, "run", "quickstart", "--store", store, "--graphs", "1")
    assert (done.returncode, problem in done.stderr, "Traceback" in done.stderr) == (2, True, False)


def test_doctor_lists_what_is_installed_and_what_is_broken(package: Path) -> None:
    done = graphwalk(package, "doctor")
    assert done.returncode == 3
    lines = {line[:24].strip(): line[24:].strip() for line in done.stdout.splitlines()}
    assert lines["ok      stores"] == "embedded, neo4j, broken, own, underived"
    assert lines["ok      suites"] == "questions, mazes, magma, graphwalks, ask, own_questions"
    assert "own_store:open_embedded" in lines["ok      store own"]
    assert "no_such_function" in lines["broken  store broken"]
