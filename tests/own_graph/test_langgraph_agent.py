"""Histories that `build_agent` is given: servers refuse a call without a result, and a result without a call."""

from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver

import graphwalk
from graphwalk.models.chat import Message, Reply, ToolCall

FILMS = Path(__file__).parent.parent / "data" / "films.json"
QUESTION = HumanMessage("Which film is f2?")
CALLING = AIMessage("", tool_calls=[{"name": "think", "args": {"thought": "f2"}, "id": call} for call in ("c1", "c2")])
RESULT, ORPHAN = ToolMessage("f2", tool_call_id="c1"), ToolMessage("old", tool_call_id="c0")


class Recorder:
    def __init__(self) -> None:
        self.sent: list[Message] = []

    async def complete(self, messages: list[Message], *rest: Any) -> Reply:
        self.sent = [message for message in messages if message.role != "system"]
        return Reply(Message("assistant", "Red Dust"))


@pytest.mark.parametrize(
    ("history", "results"),
    [
        ([QUESTION, CALLING], ["c1", "c2"]),
        ([QUESTION, CALLING, RESULT], ["c1", "c2"]),
        ([QUESTION, CALLING, RESULT, HumanMessage("Go on.")], ["c1", "c2"]),
        ([ORPHAN, QUESTION], []),
        ([ORPHAN, QUESTION, CALLING, RESULT, ORPHAN], ["c1", "c2"]),
        ([QUESTION, AIMessage("Red Dust"), ORPHAN, HumanMessage("Sure?")], []),
    ],
)
def test_each_call_has_a_result_and_each_result_a_call(history: list[Any], results: list[str]) -> None:
    model = Recorder()
    agent = graphwalk.build_agent(model, str(FILMS))
    assert agent.invoke({"messages": history})["messages"][-1].content == "Red Dust"
    assert [message.tool_call_id for message in model.sent if message.role == "tool"] == results
    contents = [message.content for message in model.sent]
    assert contents[0] == QUESTION.content
    assert "old" not in contents


def test_a_call_that_a_user_answers_is_not_made() -> None:
    class Calling(Recorder):
        async def complete(self, messages: list[Message], *rest: Any) -> Reply:
            reply = await super().complete(messages)
            if messages[-1].role == "tool":
                return reply
            calls = tuple(ToolCall(name, "think", '{"thought": "mine"}') for name in ("c1", "c2"))
            return Reply(Message("assistant", tool_calls=calls))

    model, config = Calling(), {"configurable": {"thread_id": "1"}}
    agent = graphwalk.build_agent(model, str(FILMS), checkpointer=InMemorySaver(), interrupt_before=["tools"])
    agent.invoke({"messages": [QUESTION]}, config)
    agent.update_state(config, {"messages": [ToolMessage("yours", tool_call_id="c1")]})
    agent.invoke(None, config)
    results = [(message.tool_call_id, message.content) for message in model.sent if message.role == "tool"]
    assert results == [("c1", "yours"), ("c2", "mine")]
