"""`graphwalk list runs`: finished runs, broken ones, running ones."""

import json
from pathlib import Path

from graphwalk.runs.folder import RunFolder
from graphwalk.runs.listing import list_runs
from tests.forked_commands import graphwalk
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
    listed = list_runs(runs)
    assert [run.state for run in listed] == ["finished", "not finished", "unreadable"]
    assert [(run.done, run.episodes, run.accuracy) for run in listed] == [
        (12, 12, {"scripted/expert": 100.0}),
        (4, 12, {"scripted/expert": 100.0}),
        (0, None, {}),
    ]
    shown = graphwalk("list", "runs", folder=tmp_path).stdout
    assert "scripted/expert" in shown
    assert "4/12" in shown
    lines = graphwalk("list", "runs", "--json", folder=tmp_path).stdout.splitlines()
    assert [json.loads(line)["state"] for line in lines] == ["finished", "not finished", "unreadable"]
    older = RunFolder(runs / "2")
    older.write_manifest({**older.read_manifest(), "created": "2020-01-01T00:00:00+00:00"})
    assert [run.path.name for run in list_runs(runs)] == ["2", "1", "3"]
