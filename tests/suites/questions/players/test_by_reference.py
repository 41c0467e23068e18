"""The expert that points at results is right, and where it does so the loop ends with its call."""

from typing import Any

from graphwalk.environment import Environment
from graphwalk.experiments.loading import load_experiment
from graphwalk.runlog.result import Result
from graphwalk.runlog.run_folder import NewRun
from graphwalk.runner.progress import Silent
from graphwalk.runner.resolve import resolve
from graphwalk.runner.run import start_run

IN_TEXT = {"path_finding", "variable_hop_path"}
"""Rows of these are put together from several results."""


async def test_ten_of_twelve_kinds_are_answered_by_reference(tmp_path: Any) -> None:
    fields = {"suite.graphs": [{"nodes": 30}], "models": ["scripted/by_reference"]}
    config = load_experiment("small-models", flags=fields)
    new = NewRun.make(config.name, tmp_path / "run")
    await start_run(resolve(config, Environment()), new, Silent())
    results = [Result.from_dict(record) for record in new.folder.records()]
    assert len(results) == 12
    for result in results:
        assert result.score
        assert result.score["correct"], result.key
        assert result.score["grounded"] == 1, result.key
        last = result.trajectory.turns[-1]
        assert any(held.final for held in last.results) == (result.task["template"] not in IN_TEXT), result.key
