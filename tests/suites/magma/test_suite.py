"""Scripted models through the real agent loop: the expert is right everywhere."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from graphwalk.agent.conversation import Conversation
from graphwalk.agent.loop import Episode, run_episode
from graphwalk.agent.prompt import Prompt
from graphwalk.config.agent import AgentConfig
from graphwalk.models.scripted import ReplayModel
from graphwalk.models.trajectory import ExitStatus, Trajectory
from graphwalk.runs.experiment import AnyExperiment, load_experiment
from graphwalk.suites.loaded_graph import GraphInstance, LoadedGraph
from graphwalk.suites.magma.answers import MagmaScore, write_answer
from graphwalk.suites.magma.suite import MagmaSuite, MagmaTask
from graphwalk.training.environment import TaskEnvironment
from tests.suites.players import played as played_by
from tests.suites.players import policy_of

ALL = ["bfs", "dfs", "dijkstra", "floyd_warshall", "mst_prim"]
SUITE = MagmaSuite()
PAPER = {"first_state": "paper", "explain": False}


def experiment(**suite: Any) -> AnyExperiment:
    traces = [{"algorithm": ALL, "nodes": [5, 7], "count": 2}]
    return load_experiment({"name": "t", "suite": {"name": "magma", "traces": traces, **suite}, "seed": 3})


def tasks(config: AnyExperiment) -> list[tuple[MagmaTask, GraphInstance]]:
    return [
        (task, instance)
        for instance in SUITE.graphs(config.suite, config.seed)
        for task in asyncio.run(SUITE.tasks(LoadedGraph(instance), config.suite, config.seed, config.agent)).asked
    ]


def played(agent: str, setting: str, config: AnyExperiment) -> Iterator[tuple[MagmaTask, Trajectory, MagmaScore]]:
    for task, instance in tasks(config):
        if SUITE.asks(task, setting, config.suite):
            policy = policy_of(SUITE, agent, task, setting, None, 1)
            score, trajectory = asyncio.run(played_by(policy, task, LoadedGraph(instance), setting))
            yield task, trajectory, score


@pytest.mark.parametrize(("setting", "switches"), [("io_reasoning", {}), ("is", {}), ("io", PAPER), ("ish", PAPER)])
def test_the_expert_is_right_everywhere(setting: str, switches: dict[str, Any]) -> None:
    for _, trajectory, score in played("expert", setting, experiment(io_steps=True, **switches)):
        assert trajectory.exit_status is ExitStatus.ANSWERED
        assert (score.correct, score.f1, score.extraction_stage) == (True, 1, "strict")


def test_input_output_is_asked_for_every_state() -> None:
    """A prompt per step; the last one is what it is without `io_steps`."""
    final = {task.task_id: trajectory.prompt for task, trajectory, _ in played("expert", "io", experiment())}
    every = {
        task.task_id: (task, trajectory.prompt)
        for task, trajectory, _ in played("expert", "io", experiment(io_steps=True))
    }
    assert len(final) == 20
    assert len(every) == sum(task.total_steps for task, _ in every.values() if task.step == 1)
    assert all(every[task_id][1] == prompt for task_id, prompt in final.items())


async def test_a_chat_after_own_states_asks_as_is_does_and_scores_the_last_state_alone() -> None:
    """Every state but the last is answered wrongly, and stays in the chat."""
    traces = [{"algorithm": ALL, "nodes": 5, "count": 1}]
    suite = {"name": "magma", "traces": traces, "io_steps": True, **PAPER}
    stage = await TaskEnvironment.open(
        {"name": "own", "suite": suite, "settings": ["is_own", "is"]}, models=["openai-api/none/none"]
    )
    asked = [number for number, planned in enumerate(stage.planned) if planned.key.setting.name == "is_own"]
    assert len(asked) == len(ALL)
    for number in asked:
        episode = await stage.begin(number)
        task = episode.task
        assert isinstance(task, MagmaTask)
        correct = await stage.begin(stage.number_of(task.task_id, "is"))
        questions = [message.content for message in correct.prompt if message.role == "user"]
        last = write_answer(task.algorithm, task.target)
        replies = [f"no idea {place}" for place in range(len(questions) - 1)] + [last]

        for reply in replies:
            episode.reply(reply)
        trajectory = episode.trajectory
        messages = episode.conversation.messages
        assert [message.content for message in messages if message.role == "user"] == questions
        assert [message.content for message in messages if message.role == "assistant"] == replies
        assert episode.earned is not None
        assert episode.earned.exact == 1

        prompt = Prompt(trajectory.prompt, follow_ups=tuple(map(str, questions[1:])))
        again = Episode(Conversation(prompt, AgentConfig()), ReplayModel("own", trajectory))
        assert await run_episode(again) == trajectory
    await stage.close()


async def test_the_tools_suffice_for_every_algorithm_and_nothing_else_shows_an_edge() -> None:
    suite = {"name": "magma", "traces": [{"algorithm": ALL, "nodes": 6, "count": 1}], "in_store": True}
    stage = await TaskEnvironment.open({"name": "walking", "suite": suite, "settings": ["tools"]})
    assert {planned.task.template for planned in stage.planned} == set(ALL)
    for number, planned in enumerate(stage.planned):
        assert "\nEdges: [" in planned.task.question
        assert "\nEdges: [" not in ((await stage.begin(number)).prompt[1].content or "")
        _, earned = await stage.expert(number)
        assert (earned.exact, earned.f1) == (1, 1), planned.task.task_id
    await stage.close()
