"""The agent's messages in an episode come from the user's files where they exist."""

from pathlib import Path

import pytest

from graphwalk.agent.conversation import Conversation
from graphwalk.agent.loop import call_tools
from graphwalk.agent.prompt import Prompt
from graphwalk.config.agent import AgentConfig, Limits
from graphwalk.graphs.graph import Node, PropertyGraph
from graphwalk.models.chat import CallOptions, Message, Reply, ToolCall, ToolSpec
from graphwalk.models.trajectory import ToolResult, Turn
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.extraction import extract_with_model
from graphwalk.tools.graph_toolbox import GraphToolbox
from tests.models.player import Player, in_run, said

OWN = {
    "answer_now.j2": "Now!",
    "result_left_out.j2": "-",
    "call_refused.j2": "Not {{ limit }}: {{ reason }}",
    "extractor.j2": "{{ question }}|{{ reply }}|{{ answer_format }}",
    "text_protocol.j2": "{{ tools[0].name }}",
    "text_protocol_reminder.j2": "Well? {{ answered }}",
    "tool_messages.yaml": "unknown_tool: '{{ name }} is none.'",
}
CALL = ToolCall("1", "fly", "{}")


@pytest.fixture
def agent(tmp_path: Path) -> AgentConfig:
    for name, text in OWN.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return AgentConfig(prompts=str(tmp_path), compaction="window", compaction_window=1, max_calls_per_turn=1)


async def test_in_the_conversation(agent: AgentConfig) -> None:
    conversation = Conversation(Prompt(()), agent)
    assert conversation.answer_now.content == "Now!"
    calling = Message("assistant", tool_calls=(CALL,))
    turns = [Turn(calling, results=(ToolResult(CALL, "long enough", rows=1),)), Turn(Message("assistant"))]
    assert [m.content for m in conversation.continued(turns).messages if m.role == "tool"] == ["-"]


async def test_about_tool_calls(agent: AgentConfig) -> None:
    store = await EmbeddedDatabase().load(PropertyGraph.from_rows([Node("a", ("Zorep",), {})], []))
    toolbox = GraphToolbox(store, await store.schema(), agent=agent)
    asked = Conversation(Prompt((), toolbox), agent).replied(Reply(Message("assistant", tool_calls=(CALL, CALL))))
    returned = asked.returned(await call_tools(toolbox, asked.calls, agent))
    contents = [result.content for result in returned.trajectory.results]
    assert contents == ["fly is none.", "Not 1: too_many_calls"]


async def test_in_the_text_protocol(agent: AgentConfig) -> None:
    player = Player(said("[]"))
    model = in_run(player, Limits(), agent.model_copy(update={"tool_format": "text"}))
    await model.complete([Message("user", "Q?")], (ToolSpec("look", "Looks.", {}),), CallOptions())
    assert [message.content for message in player.sent[0][0]] == ["look", "Q?\n\nWell? False"]


async def test_to_the_extractor(agent: AgentConfig) -> None:
    player = Player(said("[]"))
    await extract_with_model(player, "Q?", "It is 3.", "a list", agent)
    assert player.sent[0][0][0].content == "Q?|It is 3.|a list"
