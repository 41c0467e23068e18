"""The scratchpad of `agent.compaction`: texts and thoughts of old turns, and the turns of the window whole."""

from pathlib import Path
from typing import Any

from graphwalk.models.memoryless import NOTES_STAY
from tests.models.server import Answer, ModelServer, Request, chat
from tests.runs.playing.test_execute import local, served
from tests.runs.runs import start


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
