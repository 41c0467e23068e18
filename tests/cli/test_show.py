"""`graphwalk show`: legible, whole, and obeyed by no terminal."""

import re
from pathlib import Path

from tests.analysis.exports.hostile_run import RUNS
from tests.forked_commands import graphwalk


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
    whole = graphwalk("show", RUNS / "questions", "remote_node", "-m", "scripted/flawed", "--all").stdout
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
