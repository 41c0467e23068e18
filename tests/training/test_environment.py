"""Episodes that go step by step are those of a run: prompts, tools, limits, rewards."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from graphwalk.errors import ConfigError
from graphwalk.training.environment import LOOP_OF_ANOTHER, OpenEpisode, TaskEnvironment, shared_stage

QUESTIONS: dict[str, Any] = {
    "name": "q",
    "suite": {"name": "questions", "graphs": [{"nodes": 20}], "questions": ["node_by_property"]},
}


async def test_hundreds_of_episodes_share_one_graph() -> None:
    stage = await TaskEnvironment.open(QUESTIONS)
    episodes = await asyncio.gather(*(stage.begin(0) for _ in range(300)))
    assert len({id(episode.conversation.prompt.toolbox) for episode in episodes}) == 1
    call = ("get_unique_property_values", {"property_name": "key", "entity_name": "Nobody", "entity_type": "node"})
    results = await asyncio.gather(*(episode.call(call) for episode in episodes))
    assert {result.error for (result,) in results} == {"unknown_name"}
    assert all(len(episode.turns) == 1 for episode in episodes)
    await stage.close()


async def test_no_call_is_made_beyond_the_turn_limit() -> None:
    stage = await TaskEnvironment.open(QUESTIONS, **{"agent.turn_limit": 2})
    episode = await stage.begin(0)
    for _ in range(3):
        (result,) = await episode.call(("think", {"thought": "a"}))
    assert result.error == "turn_limit"
    assert len(episode.turns) == 2
    assert episode.must_answer
    episode.reply(json.dumps(episode.task.target))
    assert episode.earned is not None
    assert episode.earned.exact == 1
    answer, score = episode.judge()
    assert (answer, score["correct"], score["strict_correct"]) == (episode.task.target, True, False)
    await stage.close()


@pytest.mark.parametrize(("limit", "status"), [("turn", "turn_limit"), ("call", "call_limit")])
async def test_the_limit_that_ended_an_episode_is_its_status(limit: str, status: str) -> None:
    stage = await TaskEnvironment.open(QUESTIONS, **{f"agent.{limit}_limit": 2})
    episode = await stage.begin(0)
    for _ in range(2):
        await episode.call(("think", {"thought": "a"}))
    episode.reply("[]")
    await stage.close()
    assert episode.exit_status == status


async def look_up(episode: OpenEpisode) -> None:
    """Call the tool that shows the whole answer."""
    names = episode.task.parameters
    arguments = {"label": names["label"], "property_name": names["property"], "property_value": names["value"]}
    await episode.call(("get_node_by_property", arguments))


async def test_each_step_has_a_reward() -> None:
    stage = await TaskEnvironment.open(QUESTIONS)
    episode = await stage.begin(0)
    assert episode.step_rewards == []
    await episode.call(("think", {"thought": "a"}))
    await look_up(episode)
    await look_up(episode)
    assert episode.step_rewards == [0, 1, 0]
    episode.reply("[]")
    assert episode.step_rewards == [0, 1, 0, 0]
    await stage.close()


def test_a_process_opens_the_tasks_of_an_experiment_once(tmp_path: Path) -> None:
    experiment = tmp_path / "q.yaml"
    experiment.write_text(json.dumps(QUESTIONS))
    with ThreadPoolExecutor(8) as threads:
        stages = list(threads.map(shared_stage, [str(experiment)] * 8))
    assert len({id(stage) for stage in stages}) == 1
    planned = stages[0].planned[0]
    assert stages[0].number_of(planned.key.task_id, str(planned.key.setting)) == 0
    with pytest.raises(ConfigError, match="no task unknown in the setting tools of the experiment q"):
        stages[0].number_of("unknown", "tools")


@pytest.mark.parametrize(
    "agent",
    [{"tool_format": "json"}, {"answer": "tool", "tool_choice": "required"}, {"compaction": "window"}],
)
async def test_levers_that_need_the_loop_of_a_run_are_refused(agent: dict[str, Any]) -> None:
    lever = list(agent)[-1]
    with pytest.raises(ConfigError, match=f"agent.{lever}: {agent[lever]} needs the loop of a run"):
        await TaskEnvironment.open({**QUESTIONS, "agent": agent}, lacks=LOOP_OF_ANOTHER)
    varied = {**QUESTIONS, "settings": ["tools"], "vary": {f"agent.{k}": [v] for k, v in agent.items()}}
    with pytest.raises(ConfigError, match=f"agent.{lever}"):
        await TaskEnvironment.open(varied, lacks=LOOP_OF_ANOTHER)
