"""A store of another package, under every command that keeps graphs somewhere."""

import json

import pytest

from tests.extending.packages import EXAMPLES, Place


@pytest.mark.extended
def test_runs_use_it(place: Place) -> None:
    place.install(EXAMPLES / "store")
    variables = {"LOGGED_STORE_FILE": str(place.folder / "queries.jsonl")}
    words = ("run", "quickstart", "--graphs", 1, "--limit", 3, "--store", "demo", "--out", "run")
    done = place.graphwalk(*words, **variables)
    assert done.returncode == 0, done.stderr
    queries = [json.loads(line) for line in (place.folder / "queries.jsonl").read_text().splitlines()]
    assert any("MATCH" in query["cypher"] and query["rows"] for query in queries)
    assert place.graphwalk("resume", "run", **variables).returncode == 0
    assert "0 scores changed" in place.graphwalk("rescore", "run").stderr
    rows = json.loads(place.graphwalk("report", "run", "--json").stdout)["rows"]
    assert {row["model"]: row["accuracy"] for row in rows}["scripted/expert"] == 100.0


def test_missing_capability_error_names_the_next_step(place: Place) -> None:
    place.install(EXAMPLES / "store")
    done = place.graphwalk("run", "quickstart", "--store", "demo")
    assert done.returncode == 2
    assert "LOGGED_STORE_FILE is not set" in done.stderr
    unknown = place.graphwalk("run", "quickstart", "--store", "other")
    assert "known: embedded, neo4j, demo" in unknown.stderr
    assert not list(place.folder.glob("runs/*/results.jsonl*"))
