"""`graphwalk show`: legible, whole, and obeyed by no terminal."""

import re
from pathlib import Path

import pytest

from tests.cli.test_commands import graphwalk
from tests.exports.hostile_run import RUNS


def test_one_episode_with_its_calls_rows_and_score(tmp_path: Path) -> None:
    done = graphwalk("show", RUNS / "questions", "remote_node", "-m", "scripted/flawed")
    assert (done.returncode, done.stderr) == (0, "")
    shown = done.stdout
    assert "remote_node_property-0  scripted/flawed, tools  incorrect (answered)" in shown
    assert "Start from the Kacemiha node" in shown
    assert 'get_all_nearest_neighbors  {"label": "Kacemihas"' in shown
    assert "unknown_name: There is no node label" in shown
    assert re.search(r"center_key +direction +type", shown)
    assert re.search(r"✓ +723\.75\n +✗ +728\.75", shown)
    assert "4 turns · 5 calls (reference 4)" in shown
    assert "1 more of 11 rows (--all)" in shown
    assert "How to work:" not in shown
    whole = graphwalk("show", RUNS / "questions", "remote_node", "-m", "scripted/flawed", "--all", "--prompt").stdout
    assert "How to work:" in whole
    assert "(--all)" not in whole


def test_a_part_of_several_ids_lists_their_episodes() -> None:
    several = graphwalk("show", RUNS / "questions", "node")
    assert several.returncode == 0
    listed = re.findall(r"^\S+", several.stdout, re.M)
    assert len(listed) > 2
    assert all("node" in task for task in listed)
    assert re.search(r"^  scripted/expert +correct +1 call", several.stdout, re.M)
    assert f"'node' matches {len(listed)} tasks" in several.stderr
    assert "no task nobody" in graphwalk("show", RUNS / "questions", "nobody").stderr
    assert "scripted/expert tools" in graphwalk("show", RUNS / "questions", "-m", "x/y").stderr
    both = graphwalk("show", RUNS / "questions", "node_count").stdout
    assert both.count("node_count-0  scripted/") == 2


@pytest.mark.parametrize("suite", ["questions", "mazes", "magma"])
@pytest.mark.parametrize(
    "columns", ["60", *(pytest.param(columns, marks=pytest.mark.extended) for columns in ("80", "200"))]
)
def test_a_run_at_a_glance_fits_the_window(suite: str, columns: str) -> None:
    done = graphwalk("show", RUNS / suite, COLUMNS=columns)
    assert done.returncode == 0, done.stderr
    assert "correct" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= int(columns)
    task = re.search(r"^(\S+-\S+) *$", done.stdout, re.M)
    assert task is not None
    episode = graphwalk("show", RUNS / suite, task[1], COLUMNS=columns)
    assert episode.returncode == 0
    assert ("+------------+" in episode.stdout) == (suite == "mazes")


def test_colours_only_where_they_are_wanted() -> None:
    plain = graphwalk("show", RUNS / "questions", "node_count").stdout
    assert "\x1b" not in plain
    assert "\x1b[1m" in graphwalk("show", RUNS / "questions", "node_count", NO_COLOR="", FORCE_COLOR="1").stdout
