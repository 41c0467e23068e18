"""Faults of an experiment are errors before its first call."""

from pathlib import Path

import pytest

from graphwalk.analysis.estimate import estimate_run
from graphwalk.analysis.report.report import report_of
from graphwalk.errors import ConfigError
from graphwalk.runs.experiment import load_experiment
from graphwalk.runs.folder import RunFolder
from graphwalk.runs.resolve import resolve
from graphwalk.variables import Variables
from tests.runs.runs import NOTHING_SET, experiment, start


def test_a_secret_in_an_experiment_is_refused() -> None:
    secret = "swordfish-12345"
    config = experiment(**{"options.extra.user": f"for {secret}"})
    with pytest.raises(ConfigError, match="contains the value of LAB_API_KEY") as caught:
        resolve(config, Variables({"LAB_API_KEY": secret}))
    assert secret not in f"{caught.value} {caught.value.hint}"


async def test_episodes_that_a_scripted_agent_cannot_play_are_named_in_plan_log_and_report(tmp_path: Path) -> None:
    config = experiment(models=["scripted/expert"], settings=["tools", "no_tools"])
    note = "12 episodes of scripted/expert left out: this scripted agent cannot play no_tools."
    assert (await start(tmp_path / "run", config)).episodes == 12
    assert note in (await estimate_run(resolve(config, NOTHING_SET), {})).notes
    assert note in (tmp_path / "run" / "run.log").read_text(encoding="utf-8")
    assert note in report_of(RunFolder.open(tmp_path / "run")).notes


def test_a_setting_that_no_named_agent_can_play_is_refused_with_what_to_do() -> None:
    config = experiment(models=["scripted/expert"], settings=["no_tools"])
    with pytest.raises(ConfigError, match="scripted/expert cannot play no_tools") as caught:
        resolve(config, NOTHING_SET)
    assert "--model openai/" in caught.value.hint
    assert "--setting tools" in caught.value.hint


async def test_experiment_without_tasks_names_the_reason(tmp_path: Path) -> None:
    file = tmp_path / "one.json"
    file.write_text('{"nodes": [{"key": "a", "labels": ["A"], "properties": {}}], "relationships": []}')
    config = load_experiment("own-graph", flags={"suite.graphs": [{"file": str(file)}], "store": "embedded"})
    with pytest.raises(ConfigError, match="no task can be played in tools, no_tools, write_cypher\n") as caught:
        await estimate_run(resolve(config, NOTHING_SET), {})
    assert "one: without node_count: " in str(caught.value)
