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


def test_unknown_store_error_lists_stores(package: Path) -> None:
    done = graphwalk(package, "run", "quickstart", "--store", "nowhere", "--graphs", "1")
    assert done.returncode == 2
    assert "no store 'nowhere'" in done.stderr
    assert "known: embedded, neo4j, broken, own, underived" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_database_that_does_not_derive_from_the_base_class(package: Path) -> None:
    done = graphwalk(package, "run", "quickstart", "--store", "underived", "--graphs", "1")
    assert done.returncode == 2
    assert "must return a graphwalk.stores.base.Database" in done.stderr
    assert "Traceback" not in done.stderr


def test_doctor_lists_what_is_installed_and_what_is_broken(package: Path) -> None:
    done = graphwalk(package, "doctor")
    assert done.returncode == 3
    lines = {line[:24].strip(): line[24:].strip() for line in done.stdout.splitlines()}
    assert lines["ok      stores"] == "embedded, neo4j, broken, own, underived"
    assert lines["ok      suites"] == "questions, mazes, magma, graphwalks, ask, own_questions"
    assert "own_store:open_embedded" in lines["ok      store own"]
    assert "no_such_function" in lines["broken  store broken"]
