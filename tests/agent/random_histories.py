"""Random histories for the agents of `build_agent`, the same for the same seed.

They have calls without results, results without calls, edited states, interrupts, and LangGraph's step limit.
"""

import json
import warnings
from pathlib import Path
from random import Random
from typing import Any

import graphwalk
from graphwalk.errors import GraphwalkError
from graphwalk.models.chat import CallOptions, Message, Reply, ToolCall, Usage, to_dict

FILMS = Path(__file__).parents[1] / "data" / "films.json"
_NOT_COMPARED = ("elapsed_in_tools", "seconds")


class RandomModel:
    """Answers, or calls one or several tools, some of which do not exist."""

    name = "test/model"

    def __init__(self, random: Random) -> None:
        self.requests: list[Any] = []
        self._random = random

    async def complete(self, messages: Any, tools: Any, options: CallOptions) -> Reply:
        random = self._random
        sent = [to_dict(message) for message in messages if message.role != "system"]
        self.requests.append([sent, len(tools), str(options.tool_choice)])
        number = len(self.requests)
        if random.random() < 0.4 or number > 20:
            return Reply(Message("assistant", random.choice(["Red Dust", "", " "])), Usage(3, 1), "stop")
        calls = []
        for place in range(random.choice([1, 1, 2, 4])):
            name = random.choice(["think", "think", "fly"])
            calls.append(ToolCall(f"m{number}-{place}", name, json.dumps({"thought": str(place)})))
        message = Message("assistant", random.choice([None, "said"]), tuple(calls))
        return Reply(message, Usage(3, 1), random.choice(["tool_calls"] * 5 + ["length"]))

    async def close(self) -> None: ...


def _history(random: Random) -> list[Any]:
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

    messages: list[Any] = []
    ids: list[str] = []
    for number in range(random.randint(0, 7)):
        kind = random.choice(["human", "ai", "calls", "calls", "tool", "tool"])
        if kind == "human":
            messages.append(HumanMessage(random.choice(["Which?", "Go on."]), id=f"m{number}"))
        elif kind == "ai":
            messages.append(AIMessage(random.choice(["Red Dust", ""]), id=f"m{number}"))
        elif kind == "calls":
            new = [f"h{len(ids)}-{place}" for place in range(random.randint(1, 3))]
            ids += new
            calls = [{"name": "think", "args": {"thought": "f2"}, "id": call_id} for call_id in new]
            messages.append(AIMessage("", tool_calls=calls, id=f"m{number}"))
        else:
            messages.append(ToolMessage("f2", tool_call_id=random.choice([*ids, "orphan"])))
    return messages or [HumanMessage("Which?")]


def _compared(message: Any) -> list[Any]:
    """Return what must be the same of a LangChain message in every run: all but ids and times."""
    extra = dict(message.additional_kwargs.get("graphwalk") or {})
    if "result" in extra:
        extra["result"] = {name: value for name, value in extra["result"].items() if name not in _NOT_COMPARED}
    extra = {name: value for name, value in extra.items() if name not in _NOT_COMPARED}
    fields = [getattr(message, name, None) for name in ("type", "content", "tool_calls", "tool_call_id", "status")]
    return [*fields, extra]


def random_history(seed: int) -> list[Any]:
    """Let an agent continue a history; return all requests, and the messages of its last state or its error."""
    from langchain_core.messages import HumanMessage, ToolMessage
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.errors import GraphRecursionError

    random = Random(seed)
    model = RandomModel(random)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        agent: Any = graphwalk.build_agent(
            model,
            FILMS,
            checkpointer=InMemorySaver(),
            interrupt_before=random.choice([None, None, ["tools"]]),
            turn_limit=random.choice([1, 2, 3, 30]),
            call_limit=random.choice([None, None, 1, 3]),
            max_calls_per_turn=random.choice([1, 2, 256]),
            compaction=random.choice(["none", "window"]),
            compaction_window=1,
        )
    config = {"configurable": {"thread_id": "1"}, "recursion_limit": random.choice([4, 5, 7, 60])}
    try:
        state = agent.invoke({"messages": _history(random)}, config)
        for _ in range(12):
            if not agent.get_state(config).next:
                state = agent.invoke({"messages": [HumanMessage("And then?")]}, config)
                break
            calls = state["messages"][-1].tool_calls
            if calls and random.random() < 0.6:
                answered = random.sample(calls, random.randint(1, len(calls)))
                results = [ToolMessage("yours", tool_call_id=call["id"]) for call in answered]
                agent.update_state(config, {"messages": results})
            state = agent.invoke(None, config)
    except (GraphwalkError, GraphRecursionError) as error:
        return [model.requests, type(error).__name__]
    return [model.requests, [_compared(message) for message in state["messages"]], str(state.get("exit_status"))]
