"""The expert that points at results is right, and where it does so the loop ends with its call."""

from typing import Any

from graphwalk.experiments.loading import load_experiment
from graphwalk.runs.execute import start_run
from graphwalk.runs.experiment import resolve
from graphwalk.runs.progress import Progress
from graphwalk.runs.result import Result
from graphwalk.runs.run_folder import NewRun
from graphwalk.settings import Settings
from graphwalk.suites.questions.catalogue import choose_kinds, shipped_kinds
from graphwalk.suites.questions.kinds import PythonPart


async def test_kinds_that_can_are_answered_by_reference(tmp_path: Any) -> None:
    fields = {"suite.graphs": [{"nodes": 30}], "models": ["scripted/by_reference"]}
    config = load_experiment("small-models", flags=fields)
    new = NewRun.make(config.name, tmp_path / "run")
    await start_run(resolve(config, Settings()), new, Progress())
    results = [Result.from_dict(record) for record in new.folder.records()]
    assert {result.task["template"] for result in results} == {kind.name for kind in choose_kinds()}
    for result in results:
        assert result.score
        assert result.score["correct"], result.key
        assert result.score["grounded"] == 1, result.key
        python: Any = shipped_kinds()[result.task["template"]].python
        last = result.trajectory.turns[-1]
        assert any(held.final for held in last.results) == (python.by_reference is not PythonPart.by_reference), (
            result.key
        )
