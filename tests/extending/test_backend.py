"""A model backend of another package, from the list of providers to the report."""

import json

import pytest

from graphwalk.suites.questions.catalogue import choose_kinds
from tests.extending.packages import EXAMPLES, Place
from tests.runs.runs import log_bytes


@pytest.mark.extended
def test_it_runs_to_its_report(place: Place) -> None:
    place.install(EXAMPLES / "backend")
    assert "constant" in place.graphwalk("models", "list").stdout
    words = ("run", "quickstart", "--graphs", 1, "-m", "constant/[]", "-m", "scripted/expert", "--out", "run")
    done = place.graphwalk(*words)
    assert done.returncode == 0, done.stderr
    rows = json.loads(place.graphwalk("report", "run", "--json").stdout)["rows"]
    assert {row["model"]: row["correct"] for row in rows} == {"constant/[]": 0, "scripted/expert": len(choose_kinds())}
    estimate = place.graphwalk("run", "quickstart", "--graphs", 1, "-m", "constant/[]", "--dry-run", "--json")
    assert json.loads(estimate.stdout)["rows"][0]["episodes"] == len(choose_kinds())
    episodes = 2 * len(choose_kinds())
    assert f"nothing left to do: all {episodes} episodes have a score" in place.graphwalk("resume", "run").stderr
    assert f"{episodes} results rescored, 0 scores changed" in place.graphwalk("rescore", "run").stderr


def test_it_reads_the_environment(place: Place) -> None:
    place.install(EXAMPLES / "backend")
    words = ("run", "quickstart", "--limit", 1, "-m", "constant/]", "--out", "run")
    assert place.graphwalk(*words, CONSTANT_PREFIX="[").returncode == 0
    record = json.loads(log_bytes(place.folder / "run").decode())
    assert record["answer"] == []


def test_it_passes_the_shipped_checks(place: Place) -> None:
    """A backend with one constant reply fails the checks of a reaction, and no other."""
    place.install(EXAMPLES / "backend")
    check = """
import asyncio
from graphwalk.settings import Settings
from graphwalk.models.registry import open_model
from graphwalk.testing import check_model
deaf = {"system_prompt", "tool_result", "unicode", "hostile_text", "long_context"}
asyncio.run(check_model(open_model("constant/yes", Settings()), without=deaf))
asyncio.run(check_model(open_model("constant/yes", Settings())))
"""
    done = place.python("-c", check)
    assert done.returncode == 1
    assert "AssertionError: system_prompt: expected" in done.stderr
    assert done.stderr.count("line 8") == 1


def test_a_backend_that_fails_ends_the_episode_and_not_the_run(place: Place) -> None:
    module = "class Sick:\n    def __init__(self, name, settings): ...\n    async def complete(self, *args): 1 / 0\n"
    place.install_text("sick_backend", module, "[graphwalk.models]\nsick = sick_backend:Sick\n")
    done = place.graphwalk("run", "quickstart", "--limit", 1, "-m", "sick/any", "--out", "run")
    assert done.returncode == 4
    assert "sick/any failed: ZeroDivisionError" in log_bytes(place.folder / "run").decode()
