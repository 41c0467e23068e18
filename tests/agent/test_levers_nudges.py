"""After a reply without a call and without an answer a message names what is missing, at most so many times."""

import json
from pathlib import Path
from typing import Any

import pytest

from graphwalk.analysis.verify import verify_run
from graphwalk.errors import ConfigError
from graphwalk.models.trajectory import ExitStatus
from graphwalk.runs.experiment import load_experiment
from graphwalk.runs.folder import RunFolder
from graphwalk.runs.resolve import resolve
from graphwalk.training.environment import TaskEnvironment
from graphwalk.variables import Variables
from tests.agent.played import SUITES, play
from tests.models.player import Player, said

PLAN = said("First I look the node up.")


async def played(folder: Path, *replies: Any, **agent: Any) -> tuple[Player, Any]:
    player = Player(*replies)
    (result,) = await play(folder, "node_by_property", agent, models=["openai/m"], objects={"openai/m": player})
    outcome = await verify_run(RunFolder.open(folder / "run"), Variables())
    assert outcome.error is None
    return player, result.trajectory


async def test_a_plan_without_a_call_is_nudged_once(tmp_path: Path) -> None:
    player, trajectory = await played(tmp_path, PLAN, said("[]"), nudges=1)
    assert (len(trajectory.turns), trajectory.exit_status) == (2, ExitStatus.ANSWERED)
    nudge = trajectory.turns[0].next_user
    assert "no tool call and no answer in the form of the question" in nudge
    assert "get_node_by_property" in nudge
    assert "node_key" in nudge
    assert player.sent[1][0][-1].content == nudge


@pytest.mark.parametrize(("nudges", "turns"), [(0, 1), (2, 3)])
async def test_after_the_last_nudge_the_reply_counts(tmp_path: Path, nudges: int, turns: int) -> None:
    _, trajectory = await played(tmp_path, PLAN, nudges=nudges)
    assert (len(trajectory.turns), trajectory.exit_status) == (turns, ExitStatus.ANSWERED)


async def test_episodes_that_go_step_by_step_nudge_too() -> None:
    experiment = {"name": "q", "suite": SUITES["node_by_property"], "agent": {"nudges": 1, "turn_limit": 2}}
    stage = await TaskEnvironment.open(experiment)
    episode = await stage.begin(0)
    assert "no tool call" in (episode.reply("I plan.") or "")
    assert not episode.must_answer
    await episode.call(("think", {"thought": "a"}))
    assert episode.must_answer
    assert episode.reply(json.dumps(episode.task.target)) is None
    assert episode.exit_status is ExitStatus.TURN_LIMIT
    await stage.close()


def test_dialogues_have_no_nudges() -> None:
    with pytest.raises(ConfigError, match="needs one of the settings tools, no_tools"):
        resolve(load_experiment("magma", flags={"agent.nudges": 1, "models": ["openai/m"]}), Variables(), keys=False)
