"""Episodes that go step by step are those of a run: prompts, tools, limits, rewards."""

import asyncio
import inspect
import json
from typing import Any, get_args

import pytest
from pydantic import TypeAdapter

from graphwalk.environments.stage import LOOP_OF_ANOTHER, Stage, tool_function
from graphwalk.errors import ConfigError

QUESTIONS: dict[str, Any] = {
    "name": "q",
    "suite": {"name": "questions", "graphs": [{"nodes": 20}], "questions": ["node_by_property"]},
}
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


@pytest.mark.parametrize(
    "agent", [{"tool_protocol": "json"}, {"strict_tools": True}, {"answer": "tool", "tool_choice": "required"}]
)
async def test_levers_that_need_the_loop_of_a_run_are_refused(agent: dict[str, Any]) -> None:
    lever = list(agent)[-1]
    with pytest.raises(ConfigError, match=f"agent.{lever}: {agent[lever]} needs the loop of a run"):
        await Stage.open({**QUESTIONS, "agent": agent}, lacks=LOOP_OF_ANOTHER)
    varied = {
        **QUESTIONS,
        "settings": ["tools"],
        "vary": {"base": {}, "other": {f"agent.{k}": v for k, v in agent.items()}},
    }
    with pytest.raises(ConfigError, match=f"agent.{lever}"):
        await Stage.open(varied, lacks=LOOP_OF_ANOTHER)


async def test_native_tools_are_what_every_harness_has() -> None:
    stage = await Stage.open({**QUESTIONS, "agent": {"tool_protocol": "native"}}, lacks=LOOP_OF_ANOTHER)
    await stage.close()


async def test_tools_that_are_listed_once_are_all_listed() -> None:
    counting = {**QUESTIONS, "suite": {**QUESTIONS["suite"], "questions": ["node_count"]}, "agent": {"moves": "seen"}}
    stage = await Stage.open(counting)
    first, once = await stage.begin(0), await stage.begin(0, listed_once=True)
    assert {spec.name for spec in first.tools} < {spec.name for spec in once.tools}
    assert "get_node_by_property" in {spec.name for spec in once.tools}
    unseen = {"label": "", "property_name": "key", "property_value": "z9z9"}
    (result,) = await once.call(("get_node_by_property", unseen))
    assert result.error == "unseen_value"
    await stage.close()


async def test_tools_of_all_tasks_are_compared() -> None:
    two = {**QUESTIONS, "suite": {**QUESTIONS["suite"], "graphs": [{"nodes": 20, "count": 2}]}}
    plain, named = await Stage.open(two), await Stage.open({**two, "agent": {"names_in_tools": 200}})
    await plain.check_tools()
    with pytest.raises(ConfigError, match="differs from task to task"):
        await named.check_tools()
    await plain.close()
    await named.close()


async def test_functions_of_tools_have_their_schemas() -> None:
    stage = await Stage.open({**QUESTIONS, "agent": {"names_in_tools": 200}})
    episode = await stage.begin(0)

    async def call(name: str, arguments: dict[str, Any]) -> str:
        (result,) = await episode.call((name, arguments))
        return result.content

    spec = next(spec for spec in episode.tools if spec.name == "get_node_by_property")
    labels = spec.parameters["properties"]["label"]["enum"]
    assert get_args(inspect.signature(tool_function(spec, call)).parameters["label"].annotation) == tuple(labels)
    function = tool_function(spec, call, whole_schemas=True)
    assert inspect.iscoroutinefunction(function)
    annotation = inspect.signature(function).parameters["label"].annotation
    assert TypeAdapter(annotation).json_schema() == spec.parameters["properties"]["label"]
    assert TypeAdapter(annotation).validate_python("Nolabel") == "Nolabel"
    assert '"Nolabel"' in await function("Nolabel", "key", "a")
    await stage.close()
