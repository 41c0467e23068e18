"""Walks of the expert before the question: right, about other graphs, and the same for all tasks of a kind."""

import json
from pathlib import Path
from typing import Any

import pytest

from graphwalk.errors import ConfigError
from graphwalk.experiments.loading import load_experiment
from graphwalk.runs.episodes.resolve import resolve
from graphwalk.runs.finished.verify import verify_run
from graphwalk.runs.folder.run_folder import RunFolder
from graphwalk.types.chat import Message
from graphwalk.variables import Variables
from tests.levers.played import SUITES, play
from tests.models.player import Player, said


def shown(prompt: tuple[Message, ...]) -> list[Message]:
    """The messages between the system prompt and the question."""
    return [message for message in prompt[:-1] if message.role != "system"]


@pytest.mark.parametrize("suite", ["questions", "mazes", "graphwalks"])
@pytest.mark.parametrize("answer", ["text", "tool"])
async def test_walks_end_in_an_answer(suite: str, answer: str, tmp_path: Path) -> None:
    agent = {"demonstrations": 2, "answer": answer, "moves": "seen"}
    results = await play(tmp_path, suite, agent, models=["scripted/expert"], limit=3)
    for result in results:
        assert result.score is not None
        assert result.score["correct"], result.key
        messages = shown(result.trajectory.prompt)
        assert sum(message.role == "user" for message in messages) == 2
        calls = [call for message in messages for call in message.tool_calls]
        results_of = [message.tool_call_id for message in messages if message.role == "tool"]
        assert [call.id for call in calls] == results_of == [f"demo{n:05}" for n in range(1, len(calls) + 1)]
        if answer == "tool":
            assert [message.role for message in messages[-2:]] == ["assistant", "tool"]
            assert sum(call.name == "answer" for call in calls) == 2
        else:
            assert messages[-1].role == "assistant"
            assert not messages[-1].tool_calls
    assert (await verify_run(RunFolder.open(tmp_path / "run"), Variables())).error is None


async def test_they_are_the_same_for_a_kind_and_about_other_graphs(tmp_path: Path) -> None:
    suite = {**SUITES["node_by_property"], "graphs": [{"nodes": 20, "count": 2}], "per_question": 2}
    results = await play(tmp_path, suite, {"demonstrations": 1}, models=["scripted/expert"])
    prompts = [result.trajectory.prompt for result in results]
    assert len(prompts) == 4
    assert len({json.dumps([repr(message) for message in shown(prompt)]) for prompt in prompts}) == 1
    demonstration = shown(prompts[0])[0].content or ""
    assert "about another graph" in demonstration
    assert all((prompt[-1].content or "") not in demonstration for prompt in prompts)
    names = {line.split(" | ")[2] for line in (prompts[0][0].content or "").splitlines() if line.count(" | ") == 4}
    assert not any(f" {name} " in demonstration for name in names - {"entity name"})
    assert "How to work" not in demonstration


@pytest.mark.parametrize(("same", "kind"), [(True, "get_node_by_property"), (False, "get_all_nearest_neighbors")])
async def test_kinds(same: bool, kind: str, tmp_path: Path) -> None:
    agent = {"demonstrations": 1, "same_kinds": same}
    (result,) = await play(tmp_path, "node_by_property", agent, models=["scripted/expert"])
    calls = [call.name for message in shown(result.trajectory.prompt) for call in message.tool_calls]
    assert kind in calls
    assert (len(calls) == 1) == same


@pytest.mark.parametrize("setting", ["no_tools", "write_cypher"])
async def test_other_settings_have_worked_examples(setting: str, tmp_path: Path) -> None:
    fields: dict[str, Any] = {"settings": [setting], "models": ["openai/m"]}
    player = Player(said("[]"))
    await play(tmp_path, "node_by_property", {"demonstrations": 1}, objects={"openai/m": player}, **fields)
    (messages, _, _), *_ = player.sent
    assert isinstance(json.loads(messages[-2].content or ""), list)
    assert ("MATCH" in str([message.tool_calls for message in messages])) == (setting == "write_cypher")


@pytest.mark.parametrize("suite", ["own_questions", "ask"])
def test_suites_without_an_expert_have_none(suite: str) -> None:
    experiment = {"name": "d", "suite": {"name": suite}, "agent": {"demonstrations": 1}, "models": ["openai/m"]}
    with pytest.raises(ConfigError, match=f"{suite} has no expert"):
        resolve(load_experiment(experiment), Variables(), keys=False)
