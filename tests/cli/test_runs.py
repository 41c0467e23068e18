"""`graphwalk list runs`: finished runs, broken ones, running ones."""

import json
from pathlib import Path

from graphwalk.runs.listing import list_runs
from tests.cli.test_commands import graphwalk
from tests.runs.runs import experiment, start


async def test_runs_are_listed_with_what_came_out(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    runs.mkdir()
    config = experiment(models=["scripted/expert"])
    await start(runs / "1", config)
    await start(runs / "2", config)
    results = runs / "2" / "results.jsonl"
    results.write_text("".join((runs / "2" / "results.jsonl").read_bytes().decode().splitlines(keepends=True)[:4]))
    (runs / "3").mkdir()
    (runs / "3" / "run.json").write_text("{")
    (runs / "4").mkdir()
    listed = list(list_runs(runs))
    assert [run.state for run in listed] == ["finished", "not finished", "unreadable"]
    assert [(run.done, run.episodes, run.accuracy) for run in listed] == [
        (12, 12, 100.0),
        (4, 12, 100.0),
        (0, None, None),
    ]
    shown = graphwalk("list", "runs", folder=tmp_path).stdout
    assert "scripted/expert" in shown
    assert "4/12" in shown
    lines = graphwalk("list", "runs", "--json", folder=tmp_path).stdout.splitlines()
    assert [json.loads(line)["state"] for line in lines] == ["finished", "not finished", "unreadable"]


def test_empty_folder_of_runs(tmp_path: Path) -> None:
    missing = graphwalk("list", "runs", folder=tmp_path)
    assert (missing.returncode, missing.stdout) == (2, "")
    assert "no folder runs" in missing.stderr
    assert "no run in ." in graphwalk("list", "runs", ".", folder=tmp_path).stderr


def test_a_finished_run_has_nothing_left_to_do(tmp_path: Path) -> None:
    words = ("run", "quickstart", "--limit", "2", "-m", "scripted/expert", "--out", "run")
    assert graphwalk(*words, folder=tmp_path).returncode == 0
    again = graphwalk("resume", "run", folder=tmp_path)
    assert again.returncode == 0
    assert "nothing left to do: all 2 episodes have a score" in again.stderr
