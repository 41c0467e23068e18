"""Episodes that go step by step are those of a run: prompts, tools, limits, rewards."""

import asyncio
import json

import pytest

from graphwalk.environments.stage import Stage
from graphwalk.errors import ConfigError

QUESTIONS = {"name": "q", "suite": {"name": "questions", "graphs": [{"nodes": 20}], "questions": ["node_by_property"]}}
MAGMA = {"name": "m", "suite": {"name": "magma", "traces": [{"nodes": 5, "count": 1}], "free_running": True}}


async def test_hundreds_of_episodes_share_one_graph() -> None:
    stage = await Stage.open(QUESTIONS)
    episodes = await asyncio.gather(*(stage.begin(0) for _ in range(300)))
    assert len({id(episode.start.toolbox) for episode in episodes}) == 1
    call = ("get_unique_property_values", {"property_name": "key", "entity_name": "Nobody", "entity_type": "node"})
    results = await asyncio.gather(*(episode.call(call) for episode in episodes))
    assert {result.error for (result,) in results} == {"unknown_name"}
    assert all(len(episode.turns) == 1 for episode in episodes)
    await stage.close()


async def test_no_call_is_made_beyond_the_turn_limit() -> None:
    stage = await Stage.open(QUESTIONS, **{"agent.turn_limit": 2})
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
    assert score is not None
    assert (answer, score["correct"], score["strict_correct"]) == (episode.task.target, True, False)
    await stage.close()


@pytest.mark.parametrize(
    ("limit", "status"), [("turn", "turn_limit"), ("call", "call_limit"), ("repeat", "repeat_limit")]
)
async def test_the_limit_that_ended_an_episode_is_its_status(limit: str, status: str) -> None:
    stage = await Stage.open(QUESTIONS, **{f"agent.{limit}_limit": 2})
    episode = await stage.begin(0)
    for _ in range(2):
        await episode.call(("think", {"thought": "a"}))
    episode.reply("[]")
    await stage.close()
    assert episode.exit_status == status


async def test_dialogues_ask_every_question() -> None:
    stage = await Stage.open(MAGMA, settings=["is"])
    episode = await stage.begin(0)
    replies = 0
    while not episode.ended:
        episode.reply(f"Reachable Nodes: {episode.task.target[replies]}")
        replies += 1
    assert replies == len(episode.task.target)
    assert episode.earned is not None
    assert episode.earned.total == 1
    with pytest.raises(ConfigError, match="no tools"):
        await episode.call(("think", {}))
    await stage.close()


async def test_a_task_finds_its_graph_by_its_record() -> None:
    stage = await Stage.open(QUESTIONS)
    task = json.loads(stage.planned[0].task.model_dump_json())
    alone = await Stage.of_task(QUESTIONS, task, "tools")
    assert (await alone.expert(0)) == (await stage.expert(0))
    with pytest.raises(ConfigError, match="no graph"):
        await Stage.of_task(QUESTIONS, {**task, "graph_digest": "0" * 64}, "tools")
    await stage.close()
    await alone.close()
