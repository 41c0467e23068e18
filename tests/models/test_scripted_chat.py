"""The model that plays a script, in LangGraph: streams, checkpoints, a node of another graph, limits."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, MessagesState, StateGraph

import graphwalk
from graphwalk.errors import ConfigError

FILMS = Path(__file__).parent.parent / "data" / "films.json"
QUESTION: Any = {"messages": [("user", "Who directed The Quiet Harbour?")]}
ANSWER = "- Ida Holm [p1] DIRECTED The Quiet Harbour [f1]"
THREAD: Any = {"configurable": {"thread_id": "1"}}


@pytest.fixture(scope="module")
def store() -> Iterator[graphwalk.Store]:
    with graphwalk.open_store(FILMS) as store:
        yield store


async def test_the_agent_answers_streams_and_asks_again(store: graphwalk.Store) -> None:
    agent = graphwalk.build_agent("scripted/look", store)
    state = agent.invoke(QUESTION)
    assert ANSWER in state["messages"][-1].content
    assert state["exit_status"] == "answered"
    again = await agent.ainvoke({"messages": [*state["messages"], ("user", "Who made Red Dust?")]})
    assert "- Bo Lund [p2] DIRECTED Red Dust [f2]" in again["messages"][-1].content
    chunks = [chunk for chunk, about in agent.stream(QUESTION, stream_mode="messages") if chunk.type != "tool"]
    words = [chunk.content for chunk in chunks if chunk.content]
    assert "".join(words) == state["messages"][-1].content
    assert len(words) > 20
    calls = [call["name"] for chunk in chunks for call in chunk.tool_calls]
    assert calls == [call["name"] for message in state["messages"] for call in getattr(message, "tool_calls", ())]


def test_a_checkpoint_is_resumed_by_another_agent(store: graphwalk.Store, tmp_path: Path) -> None:
    with SqliteSaver.from_conn_string(str(tmp_path / "checkpoints.sqlite")) as saver:
        before = graphwalk.build_agent("scripted/look", store, checkpointer=saver, interrupt_before=["tools"])
        assert before.invoke(QUESTION, THREAD)["messages"][-1].tool_calls
        after = graphwalk.build_agent("scripted/look", store, checkpointer=saver)
        assert ANSWER in after.invoke(None, THREAD)["messages"][-1].content


def test_the_agent_is_a_node_before_another(store: graphwalk.Store) -> None:
    def count(state: MessagesState) -> dict[str, Any]:
        return {"messages": [("ai", str(state["messages"][-1].content.count("DIRECTED")))]}

    graph = StateGraph(MessagesState).add_node("walk", graphwalk.build_agent("scripted/look", store))
    graph = graph.add_node("count", count).add_edge(START, "walk").add_edge("walk", "count").add_edge("count", END)
    assert graph.compile().invoke(QUESTION)["messages"][-1].content == "1"


@pytest.mark.parametrize("model", ["scripted/expert", "scripted/looks"])
def test_other_scripts_need_a_task(store: graphwalk.Store, model: str) -> None:
    with pytest.raises(ConfigError, match=f"{model} plays single episodes"):
        graphwalk.build_agent(model, store)


def test_the_script_has_native_calls_only(store: graphwalk.Store) -> None:
    with pytest.raises(ConfigError, match="tool_protocol: json: scripted/look has native calls only"):
        graphwalk.build_agent("scripted/look", store, tool_protocol="json")
