"""Traces are what a model was sent and said, no more and no less, and say where they are from."""

import hashlib
import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from graphwalk.errors import ConfigError
from graphwalk.models.chat import Reply
from graphwalk.models.scripted import Ask, Policy
from graphwalk.suites.questions.scripted import SCRIPTED_AGENTS
from graphwalk.training.traces import TraceOptions, export_traces, manifest_path
from tests.training.recorded_runs import MAZES, QUESTIONS, lines, recorded


def calls(line: dict[str, Any]) -> list[dict[str, Any]]:
    return [call["function"] for message in line["messages"] for call in message.get("tool_calls", ())]


async def test_an_episode_is_one_chat_that_ends_with_the_answer(tmp_path: Path) -> None:
    run = await recorded(tmp_path / "run", QUESTIONS)
    manifest = export_traces([run], tmp_path / "all.jsonl", TraceOptions(correct=True, grounded=True))
    written = lines(tmp_path / "all.jsonl")
    assert {line["template"] for line in written} == {"node_count", "path_from_specific_node"}
    for line, result in zip(written, run.results(), strict=True):
        roles = [message["role"] for message in line["messages"]]
        assert roles[:3] == ["system", "user", "assistant"]
        assert roles[-1] == "assistant"
        assert line["messages"][-1]["content"].endswith(result.trajectory.reply)
        assert all(isinstance(call["arguments"], dict) for call in calls(line))
        assert {call["name"] for call in calls(line)} <= {tool["function"]["name"] for tool in line["tools"]}
        assert line["tools"] == [
            spec.as_openai() for spec in run.tools[result.task["graph_digest"], result.key.setting]
        ]
    assert manifest["lines"] == 2
    assert manifest["sha256"] == hashlib.sha256((tmp_path / "all.jsonl").read_bytes()).hexdigest()
    assert json.loads(manifest_path(tmp_path / "all.jsonl").read_text()) == json.loads(json.dumps(manifest))


@pytest.mark.parametrize("agent", [{"compaction": "window", "compaction_window": 2}, {"tool_format": "text"}])
async def test_chats_are_what_a_model_was_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, agent: Any) -> None:
    """Every reply is new once, in exactly the context that the loop gave it."""
    sent: list[tuple[int, str]] = []
    from graphwalk.models.scripted import ScriptedModel

    complete = ScriptedModel.complete

    async def noted(self: Any, messages: Any, tools: Any, options: Any) -> Reply:
        sent.append((len(messages), json.dumps([message.content for message in messages])))
        return await complete(self, messages, tools, options)

    monkeypatch.setattr(ScriptedModel, "complete", noted)
    run = await recorded(tmp_path / "run", MAZES, agent=agent)
    protocol: Any = "text" if "tool_format" in agent else "native"
    options = TraceOptions(protocol=protocol)
    export_traces([run], tmp_path / "all.jsonl", options)
    written = lines(tmp_path / "all.jsonl")
    assert len(written) > 1
    new = [
        (place, line)
        for line in written
        for place, message in enumerate(line["messages"])
        if place >= line["first_new"] and message["role"] == "assistant"
    ]
    assert len(new) == len(sent)
    if protocol == "native":
        for (place, line), (number, contents) in zip(new, sent, strict=True):
            in_chat = [message["content"] or None for message in line["messages"][:place]]
            assert place == number
            assert in_chat == json.loads(contents)


def with_half_an_object(agent: Policy, random: Random) -> Policy:
    """Begin with a call whose arguments are no JSON."""
    yield [Ask("think", '{"thought": ')]
    return (yield from agent)


async def test_omitted_episodes_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SCRIPTED_AGENTS, "clumsy", SCRIPTED_AGENTS["expert"].changed(with_half_an_object))
    run = await recorded(tmp_path / "run", QUESTIONS, "expert", "random", "clumsy")
    manifest = export_traces([run], tmp_path / "all.jsonl", TraceOptions(correct=True))
    assert manifest["left_out"] == {"not correct": 2, "arguments of a call are no JSON object": 2}
    with pytest.raises(ConfigError, match="no episode was selected"):
        export_traces([run], tmp_path / "none.jsonl", TraceOptions(models=("openai/other",)))
    assert not (tmp_path / "none.jsonl").exists()


async def test_splits_with_names_of_their_own_share_nothing(tmp_path: Path) -> None:
    files = []
    for name, pool, wording in (("train", "train", "training"), ("test", "held_out", "held_out")):
        suite = {**QUESTIONS, "graphs": [{"nodes": 30, "names": pool}], "wording": wording}
        run = await recorded(tmp_path / name, suite, seed=len(name))
        files.append(tmp_path / f"{name}.jsonl")
        export_traces([run], files[-1], TraceOptions(), not_in=files[0] if name == "test" else None)
    again = tmp_path / "again.jsonl"
    run = await recorded(tmp_path / "more", {**QUESTIONS, "graphs": [{"nodes": 30, "names": "train"}]}, seed=5)
    with pytest.raises(ConfigError, match=r"has a graph of .*train.jsonl:\d+"):
        export_traces([run], again, TraceOptions(), not_in=files[0])
    assert not again.exists()
