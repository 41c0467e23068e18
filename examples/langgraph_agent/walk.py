"""The agent in LangGraph's ways: python walk.py provider/model "Which ship did Aksel Brandt command?" """

import sqlite3
import sys
from typing import Any

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, MessagesState, StateGraph

import graphwalk


def show_steps(agent: Any, question: str) -> None:
    """Print each node's update as it is made, then the answer."""
    for update in agent.stream({"messages": [("user", question)]}, stream_mode="updates"):
        for node, change in update.items():
            for message in change["messages"]:
                calls = [f"{call['name']}({call['args']})" for call in getattr(message, "tool_calls", ())]
                print(f"{node}: {message.content[:80]}", *calls)


def show_tokens(agent: Any, question: str) -> None:
    """Print the model's words as they arrive, where the provider streams."""
    for chunk, about in agent.stream({"messages": [("user", question)]}, stream_mode="messages"):
        if about["langgraph_node"] == "model":
            print(chunk.content, end="", flush=True)
    print()


def ask_before_tools(model: Any, store: Any, question: str, file: str) -> Any:
    """Stop before the first tool call; `go_on` continues, in this process or another."""
    with sqlite3.connect(file, check_same_thread=False) as connection:
        agent = graphwalk.build_agent(model, store, checkpointer=SqliteSaver(connection), interrupt_before=["tools"])
        agent.invoke({"messages": [("user", question)]}, {"configurable": {"thread_id": "1"}})
        return agent.get_state({"configurable": {"thread_id": "1"}})


def go_on(model: Any, store: Any, file: str) -> str:
    """Continue the conversation of a file to its end, and return the answer."""
    with sqlite3.connect(file, check_same_thread=False) as connection:
        agent = graphwalk.build_agent(model, store, checkpointer=SqliteSaver(connection))
        state = agent.invoke(None, {"configurable": {"thread_id": "1"}})
        return str(state["messages"][-1].content)


def as_part(agent: Any, question: str) -> str:
    """Use the agent as a node of a larger graph."""
    larger = StateGraph(MessagesState)
    larger.add_node("walk", agent)
    larger.add_edge(START, "walk")
    return str(larger.compile().invoke({"messages": [("user", question)]})["messages"][-1].content)


def main(model: str, question: str, graph: str = "example") -> None:
    with graphwalk.open_store(graph) as store:
        agent = graphwalk.build_agent(model, store)
        print(agent.get_graph().draw_mermaid())
        show_steps(agent, question)
        show_tokens(agent, question)
        print(as_part(agent, question))


if __name__ == "__main__":
    main(*sys.argv[1:])
