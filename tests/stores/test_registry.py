"""A store that another package brings along: it is found by its entry point, and used through the command."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STORE = """
from pathlib import Path

from graphwalk.stores.base import Database, GraphStore
from graphwalk.stores.embedded import EmbeddedDatabase


class NotedStore(GraphStore):
    kind = "noted"

    def __init__(self, inner, notes):
        self._inner, self._notes = inner, notes
        self.render = inner.render

    async def schema(self, samples=0):
        return await self._inner.schema(samples)

    async def drop(self):
        await self._inner.drop()

    async def run(self, cypher, parameters=None):
        with self._notes.open("a") as file:
            file.write(cypher.replace("\\\\n", " ") + "\\\\n")
        return await self._inner.run(cypher, parameters)


class NotedDatabase(Database):
    kind = "noted"

    def __init__(self, timeout_seconds, notes):
        self._inner, self._notes = EmbeddedDatabase(timeout_seconds=timeout_seconds), notes

    async def load(self, graph):
        return NotedStore(await self._inner.load(graph), self._notes)

    async def close(self):
        await self._inner.close()


async def open_noted(environment, *, run_id, timeout_seconds, wait_seconds):
    return NotedDatabase(timeout_seconds, Path(environment.require("NOTES", "where queries are noted")))


async def open_underived(environment, **settings):
    return object()
""".replace("\\\\", "\\")


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A folder with an installed package, as pip would leave it; a second store of it cannot be imported."""
    folder = tmp_path / "site"
    facts = folder / "noted_store-1.0.dist-info"
    facts.mkdir(parents=True)
    (folder / "noted_store.py").write_text(STORE)
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: noted-store\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text(
        "[graphwalk.stores]\nnoted = noted_store:open_noted\nbroken = noted_store:no_such_function\n"
        "underived = noted_store:open_underived\n"
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
        env={**given, "PYTHONPATH": places, "NOTES": str(folder / "notes"), "GRAPHWALK_HOME": str(folder / "home")},
        timeout=120,
        check=False,
    )


@pytest.mark.extended
def test_a_run_on_a_store_of_another_package(package: Path) -> None:
    own = graphwalk(package, "run", "quickstart", "--graphs", "1", "--out", "embedded")
    assert own.returncode == 0, own.stderr
    done = graphwalk(package, "run", "quickstart", "--store", "noted", "--graphs", "1", "--out", "noted")
    assert done.returncode == 0, done.stderr
    assert "MATCH" in (package.parent / "notes").read_text()
    accuracies = [[row["accuracy"] for row in report(package, name)] for name in ("embedded", "noted")]
    assert accuracies[0] == accuracies[1]
    assert 100.0 in accuracies[0]


def report(package: Path, run: str) -> list[dict[str, float]]:
    done = graphwalk(package, "report", run, "--json")
    assert done.returncode == 0, done.stderr
    rows: list[dict[str, float]] = json.loads(done.stdout)["rows"]
    return rows


def test_unknown_store_error_lists_stores(package: Path) -> None:
    done = graphwalk(package, "run", "quickstart", "--store", "nowhere", "--graphs", "1")
    assert done.returncode == 2
    assert "no store 'nowhere'" in done.stderr
    assert "known: embedded, neo4j, broken, noted, underived" in done.stderr
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
    assert lines["ok      stores"] == "embedded, neo4j, broken, noted, underived"
    assert lines["ok      suites"] == "questions, mazes, magma, ask"
    assert "noted_store:open_noted" in lines["ok      store noted"]
    assert "no_such_function" in lines["broken  store broken"]
