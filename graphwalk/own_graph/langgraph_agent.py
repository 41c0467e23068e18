"""The agent as a LangGraph graph with LangChain's messages in its state; its nodes are those of runs.

A node converts the messages, which users may have edited, to a conversation, takes the step of runs, and converts
what it adds.
What a run records of a reply (usage, seconds) is in `additional_kwargs`, so that checkpoints need no types of ours.
"""

from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from graphwalk.agent.conversation import Conversation
from graphwalk.agent.loop import Episode, ask_model, callbacks_of, run_tools
from graphwalk.models.chat import Message, Reply, ToolCall, Usage, from_dict
from graphwalk.models.langchain import Reporting, from_langchain, recorded, to_langchain, to_state, tool_message
from graphwalk.models.registry import AnyModel
from graphwalk.models.trajectory import ToolResult, Turn
from graphwalk.own_graph.graph_agent import GraphAgent, ask_config
from graphwalk.stores.open import AnyGraph, open_store
from graphwalk.variables import read_variables

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage
    from langchain_core.runnables import RunnableConfig
    from langgraph.graph.state import CompiledStateGraph

_LAST_STEPS = 2
"""Remaining steps of LangGraph's limit at which the answer is requested: another tool turn would not fit."""


def build_agent(
    model: AnyModel,
    store: AnyGraph,
    *,
    setting: str = "tools",
    prompt: str | None = None,
    checkpointer: Any = None,
    interrupt_before: Any = None,
    name: str = "graphwalk",
    callbacks: Iterable[Any] | None = None,
    **agent: Any,
) -> "CompiledStateGraph[Any, Any, Any, Any]":
    """Build the agent as a compiled LangGraph graph with the nodes `model` and `tools`; runs use the same nodes.

        agent = graphwalk.build_agent("openai/gpt-4.1-mini", graphwalk.open_store("movies.graphml"))
        state = agent.invoke({"messages": [("user", "Who directed …?")]})
        state["messages"][-1].content

    The state has `messages`, `exit_status` ("answered", "no_answer", or a limit: "turn_limit", …) and `error`. `prompt`
    replaces the instructions of the system prompt, to which the schema is added; None: `schema_prompt(store)`. After
    `turn_limit` turns (30), or near LangGraph's `recursion_limit`, the model is asked for its answer. `checkpointer`,
    `interrupt_before` and `name` are those of `StateGraph.compile`. `store`, `setting` and `callbacks`: as for `ask`.
    `agent`: as for `openai_tools`. The model "scripted/look" looks up the words of a question, without a language model
    or a key.

    ConfigError for a wrong model or tool. While it runs, the graph raises ModelError and StoreError.
    """
    from typing import Annotated, NotRequired

    from langchain_core.messages import AnyMessage
    from langchain_core.runnables import RunnableLambda
    from langgraph.graph import END, START, StateGraph
    from langgraph.graph.message import add_messages
    from langgraph.managed import RemainingSteps
    from typing_extensions import TypedDict  # pydantic wants this one before Python 3.12

    opened, config = open_store(store), ask_config(agent)
    start = GraphAgent.open(model, opened.inner, config, read_variables(), setting=setting, instructions=prompt)
    episode = replace(opened.wait_for(start).episode, raises=True)
    opened.close_first(episode.model.close)

    class AgentInput(TypedDict):
        messages: Annotated[list[AnyMessage], add_messages]

    class AgentState(AgentInput):
        exit_status: NotRequired[str | None]
        error: NotRequired[str | None]
        remaining_steps: NotRequired[RemainingSteps]

    def node(turn: Callable[[Episode, dict[str, Any], "RunnableConfig"], Coroutine[Any, Any, Any]]) -> Any:
        async def acall(state: dict[str, Any], config: "RunnableConfig") -> Any:
            return await opened.await_for(turn(episode, state, config))

        def call(state: dict[str, Any], config: "RunnableConfig") -> Any:
            return opened.wait_for(turn(episode, state, config))

        return RunnableLambda(call, acall)

    def after_model(state: AgentState) -> str:
        if state.get("exit_status"):
            return END
        return "model" if state["messages"][-1].type == "human" else "tools"

    def after_tools(state: AgentState) -> str:
        return END if state.get("exit_status") else "model"

    graph = StateGraph(AgentState, input_schema=AgentInput)
    graph.add_node("model", node(_model))
    graph.add_node("tools", node(_tools))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", after_model, ["model", "tools", END])
    graph.add_conditional_edges("tools", after_tools, ["model", END])
    steps = 2 * (episode.start.config.turn_limit or 0) + 3  # two for each turn, and the answer
    compiled = graph.compile(checkpointer=checkpointer, interrupt_before=interrupt_before, name=name)
    return compiled.with_config(recursion_limit=steps, callbacks=list(callbacks) if callbacks else None)


async def _model(episode: Episode, state: dict[str, Any], config: "RunnableConfig") -> dict[str, Any]:
    messages = state["messages"]
    manager = callbacks_of(config)
    if manager is not None:
        episode = replace(episode, model=Reporting(episode.model, manager))
    before = conversation_of(episode.start, messages)
    before = replace(before, is_last_turn=state["remaining_steps"] <= _LAST_STEPS)
    after = await ask_model(episode, before)
    added: list[BaseMessage] = []
    for turn in after.turns[len(before.turns) :]:
        added.append(_reply_of(turn, getattr(episode.model, "run_id", None), messages))
        if turn.next_user is not None:
            added.append(to_langchain(Message("user", turn.next_user)))
    return _update(after, added)


def _reply_of(turn: Turn, run_id: str | None, earlier: "Sequence[BaseMessage]") -> "BaseMessage":
    """Return the reply of a turn as LangChain's message, with the provider's id, else with that of its report."""
    reply = Reply(turn.message, turn.usage, turn.finish_reason, turn.seconds)
    marks = {}
    if turn.forced:
        marks["forced"] = True
    if turn.nudged:
        marks["nudged"] = True
    message = to_state(reply, **marks)
    message.id = message.id or run_id
    if any(message.id == one.id for one in earlier):
        message.id = None  # add_messages would replace the earlier message; without an id it assigns a new one
    return message


async def _tools(episode: Episode, state: dict[str, Any], config: "RunnableConfig") -> dict[str, Any]:
    before = conversation_of(episode.start, state["messages"])
    of_user = len(before.turns[-1].results)  # results that a user added while the graph was interrupted
    after = await run_tools(episode, before, callbacks_of(config))
    turn = after.turns[-1]
    seconds = turn.elapsed_in_tools or 0.0
    return _update(after, [tool_message(result, seconds) for result in turn.results[of_user:]])


def _update(after: Conversation, messages: "Sequence[BaseMessage]") -> dict[str, Any]:
    status = None if after.exit_status is None else after.exit_status.value
    return {"messages": messages, "exit_status": status, "error": after.error}


def conversation_of(start: Conversation, messages: "Sequence[BaseMessage]") -> Conversation:
    """Return the conversation in the state: messages before the first reply are in its prompt, the others in its turns.

    A tool result before the first reply has no call and is left out: servers refuse it.
    """
    # system, human | ai, tool, tool | ai, human | ai: three turns after two messages of the prompt.
    # Here `starts` is [2, 5, 7, 8]: where each turn starts, and the end.
    starts = [number for number, message in enumerate(messages) if message.type == "ai"]
    starts.append(len(messages))

    prompt = []
    for message in messages[: starts[0]]:
        if message.type != "tool":
            prompt.append(from_langchain(message))
    turns = []
    for begin, end in pairwise(starts):
        turns.append(_turn(messages[begin], messages[begin + 1 : end]))
    return start.with_messages(prompt).continued(turns)


def _turn(message: "BaseMessage", after: "Sequence[BaseMessage]") -> Turn:
    """Return a turn from the model's message and the tool and user messages after it."""
    reply = from_langchain(message)
    facts = recorded(message)
    calls = {call.id: call for call in reversed(reply.tool_calls)}  # of two with one id, the first

    results = []
    texts = []
    elapsed: list[float | None] = []
    for one in after:
        if one.type == "tool":
            results.append(_result(one, calls))
            elapsed.append(recorded(one).get("elapsed_in_tools"))
        else:
            texts.append(from_langchain(one).content or "")

    written = {name: facts[name] for name in ("finish_reason", "seconds", "forced", "nudged") if name in facts}
    return Turn(
        reply,
        from_dict(Usage, facts.get("usage", {})),
        results=tuple(results),
        next_user="\n\n".join(texts) if texts else None,
        elapsed_in_tools=elapsed[0] if elapsed else None,  # each result has that of its turn
        **written,
    )


def _result(message: Any, calls: Mapping[str, ToolCall]) -> ToolResult:
    """Return the result in a ToolMessage; one that a user added has no call and no record."""
    call = calls.get(message.tool_call_id) or ToolCall(message.tool_call_id, message.name or "", "")
    outcome = recorded(message).get("result")
    if not outcome:
        outcome = {"error": None if message.status == "success" else "failed"}
    return ToolResult(call, from_langchain(message).content or "", **outcome, data=message.artifact)
