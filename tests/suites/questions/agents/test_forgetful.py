"""The agent that knows only what it is sent: the expert with everything, a searcher with less."""

from pathlib import Path
from typing import Any

import pytest

from graphwalk.config.prompts import shipped_prompts
from graphwalk.models.scripted import NO_ANSWER
from graphwalk.suites.questions.agents.forgetful import NOTES_STAY, SUMMARY_ASKED
from tests.models.server import Answer, ModelServer, Request, chat
from tests.runs.playing.test_execute import local, served
from tests.runs.runs import experiment, records, start

ONE_CALL = {"agent.parallel_tool_calls": False, "agent.turn_limit": 60, "agent.compaction_window": 2}
GRAPH = {"suite.graphs": [{"nodes": 40, "properties": 6}]}


async def played(folder: Path, agent: str, **flags: Any) -> dict[str, dict[str, Any]]:
    await start(folder, experiment(models=[f"scripted/{agent}"], **{**GRAPH, **ONE_CALL, **flags}))
    return {record["task"]["template"]: record for record in records(folder)}


def calls(record: dict[str, Any]) -> list[tuple[str, str]]:
    turns = record["trajectory"]["turns"]
    return [(found["call"]["name"], found["call"]["arguments"]) for t in turns for found in t.get("results", ())]


async def test_with_the_whole_conversation_it_is_the_expert(tmp_path: Path) -> None:
    expert = await played(tmp_path / "expert", "expert")
    forgetful = await played(tmp_path / "forgetful", "forgetful")
    assert len(forgetful) == 12
    for question, record in forgetful.items():
        assert record["score"]["correct"]
        assert calls(record) == calls(expert[question])
        assert record["usage"]["input_tokens"] > 1000
        assert record["usage"]["estimated"]


async def test_what_a_window_removes_is_looked_up_again_until_the_turns_are_used_up(tmp_path: Path) -> None:
    found = await played(tmp_path / "run", "forgetful", **{"agent.compaction": "window"})
    assert found["node_by_property"]["score"]["correct"]  # one call
    assert found["node_by_property"]["score"]["repeated_calls"] == 0
    counted = found["node_count"]
    assert not counted["score"]["correct"]
    assert counted["score"]["repeated_calls"] > 30
    assert counted["exit_status"] == "turn_limit"
    assert counted["trajectory"]["turns"][-1]["message"]["content"] == NO_ANSWER


@pytest.mark.parametrize(("compaction", "least"), [("scratchpad", 11), ("summary", 8)])
async def test_its_own_notes_replace_the_results(tmp_path: Path, compaction: str, least: int) -> None:
    """A summary is as long as the agent writes it: what does not fit is lost."""
    found = await played(tmp_path / "run", "forgetful", **{"agent.compaction": compaction})
    assert sum(record["score"]["correct"] for record in found.values()) >= least
    assert found["node_count"]["score"]["correct"]
    assert found["node_count"]["score"]["repeated_calls"] <= 1


async def test_a_context_window_overflows(tmp_path: Path) -> None:
    whole = await played(tmp_path / "whole", "forgetful:8k")
    assert {record["exit_status"] for record in whole.values()} == {"answered", "context_overflow"}
    assert not whole["relationship_count"]["score"]["correct"]
    assert "reads at most 8,000 tokens" in whole["relationship_count"]["trajectory"]["error"]


def test_it_recognises_the_prompts_that_ship() -> None:
    prompts = shipped_prompts()
    assert NOTES_STAY in prompts.render("scratchpad.j2", window=2, notes=[])
    assert SUMMARY_ASKED in prompts.render("summarize.j2")
    assert SUMMARY_ASKED not in prompts.render("answer_now.j2")


class Noting:
    """Calls a tool in each of five turns, with a text or a thought as its note, and then answers."""

    def __init__(self) -> None:
        self.sent: list[list[dict[str, Any]]] = []

    def __call__(self, request: Request) -> Answer:
        self.sent.append(request.body["messages"])
        turn = len(self.sent)
        if turn > 5:
            return Answer(chat("[]"))
        look = ("get_unique_property_values", {"property_name": "key", "entity_name": "no", "entity_type": "node"})
        thought = ("think", {"thought": f"thought {turn}"})
        return Answer(chat(f"text {turn}" if turn % 2 else None, [look] if turn % 2 else [look, thought]))


async def test_a_scratchpad_keeps_texts_and_thoughts_and_the_turns_of_the_window(tmp_path: Path) -> None:
    model = Noting()
    flags = {"agent.compaction": "scratchpad", "agent.compaction_window": 2, "suite.questions": ["node_count"]}
    async with ModelServer(model) as server:
        await start(tmp_path / "run", local(**flags), served(server))
    roles = [[message["role"] for message in sent] for sent in model.sent]
    assert roles[0] == ["system", "user"]
    assert roles[1] == ["system", "user", "user", "assistant", "tool"]
    assert roles[5] == ["system", "user", "user", "assistant", "tool", "tool", "assistant", "tool"]
    pad = model.sent[5][2]["content"]
    assert NOTES_STAY in pad
    assert pad.rstrip().endswith("text 1\n\nthought 2\n\ntext 3")
    assert "Your notes" not in model.sent[1][2]["content"]
    assert [message["content"] for message in model.sent[5] if message["role"] == "assistant"][1] == "text 5"
