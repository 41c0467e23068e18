"""The agent: a LangGraph graph of model turns and tool turns that ends with an answer (docs/method.md, Agent).

    START → model ─┬─ tool calls ──────────────→ tools → model …
                   ├─ a nudge ────────────────→ model …
                   └─ answer, limit, error ────→ END

The state is the conversation after the prompt of the episode: `messages` in LangChain's form. What a run records of a
reply (usage, seconds) is in the `additional_kwargs` of its message, so that checkpoints need no types of ours. Limits
are read from the messages; turns are built when the episode has ended.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, wraps
from inspect import iscoroutinefunction
from itertools import pairwise, takewhile
from time import perf_counter
from typing import TYPE_CHECKING, Any

from graphwalk.config.agent import AgentConfig
from graphwalk.errors import ModelError, StoreError
from graphwalk.models.base import Model
from graphwalk.models.budget import BudgetSpentError
from graphwalk.models.json_protocol import ANY_TEXT, NO_CALL, with_answer_as_text
from graphwalk.models.langchain import OURS, from_langchain, recorded, to_langchain, to_state
from graphwalk.models.tracing import Reporting, callback_manager, manager_of_node
from graphwalk.suites.task import Prompt
from graphwalk.tools.toolbox import Toolbox
from graphwalk.types.chat import CallOptions, Message, Reply, ToolCall, ToolSpec, Usage
from graphwalk.types.episode import ExitStatus, ToolResult, Trajectory, Turn
from graphwalk.types.wire import from_dict

if TYPE_CHECKING:
    from langchain_core.callbacks import AsyncCallbackManager
    from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
    from langchain_core.runnables import RunnableConfig
    from langgraph.graph.state import CompiledStateGraph
    from langgraph.runtime import Runtime

_NO_STEP_LIMIT = 1_000_000
"""LangGraph's own limit raises instead of ending; turns are counted here."""
CUT_OFF = ("length", "max_tokens")
"""Words of providers, in lower case, for a reply that ended at its output limit."""
_LAST_STEPS = 2
"""Remaining steps of LangGraph's limit at which the answer is requested: another tool turn would not fit."""


class Watcher:
    """An observer of the steps of an episode, called in the event loop; must not block. This class ignores all."""

    live = False
    """Stream replies, if the provider can."""

    async def wrote(self, piece: str) -> None:
        """Take a piece of the model's next message."""

    def said(self, message: Message) -> None:
        """Take a whole message of the model: reasoning and calls, or the answer."""

    def found(self, result: ToolResult) -> None:
        """Take the result of a call."""


@dataclass(frozen=True)
class Episode:
    """The constant parts of an episode: prompt, model, configuration and limits.

    `deadline` is in seconds of the event loop's clock. `raises`: raise failures of model and store; by default they
    end the episode with a status.
    """

    prompt: Prompt
    model: Model
    config: AgentConfig
    options: CallOptions
    deadline: float | None = None
    tokens: int | None = None
    usd: float | None = None
    raises: bool = False
    watcher: Watcher = field(default_factory=Watcher)
    _conversions: "dict[int, tuple[BaseMessage, Message]]" = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    """Id of a message of the state → the message, which keeps the id in use, and our form of it."""

    def converted(self, message: "BaseMessage") -> Message:
        """Return a message of the state in our form. Each is converted once."""
        if id(message) not in self._conversions:
            self._conversions[id(message)] = (message, from_langchain(message))
        return self._conversions[id(message)][1]

    def in_state(self, reply: Reply, **facts: Any) -> "AIMessage":
        """Return a reply as a message of the state."""
        message = to_state(reply, **facts)
        self._conversions[id(message)] = (message, reply.message)
        return message

    def exhausted(self, messages: "Sequence[BaseMessage]") -> ExitStatus | None:
        """Return the status of the limit that the messages of the state have reached, None without one."""
        if self.tokens is None and self.usd is None:
            return None
        usage = sum(map(_usage, messages), Usage())
        if self.tokens is not None and usage.total_tokens >= self.tokens:
            return ExitStatus.TOKEN_LIMIT
        if self.usd is not None and (usage.cost or 0.0) >= self.usd:
            return ExitStatus.BUDGET
        return None


async def run_episode(episode: Episode) -> Trajectory:
    """Run one episode to its end. Failures of model and store are in the status, unless `episode.raises`."""
    manager = callback_manager()
    config: RunnableConfig = {"recursion_limit": _NO_STEP_LIMIT, "run_name": "agent", "callbacks": manager}
    # Version 2 of LangGraph's streams returns the state alone.
    end = (await agent_graph().ainvoke({"messages": []}, config, context=episode, version="v2")).value
    status = ExitStatus(end["exit_status"])
    return Trajectory(episode.prompt.messages, tuple(_turns(episode, end["messages"])), status, end.get("error"))


@cache
def agent_graph() -> "CompiledStateGraph[Any, Episode, Any, Any]":
    """Return the graph of runs, compiled once; each invocation passes its `Episode` as the context."""
    return compile_graph(model_turn, tool_turn, context_schema=Episode)


def compile_graph(
    model: Any, tools: Any, *, context_schema: type | None = None, **compiling: Any
) -> "CompiledStateGraph[Any, Any, Any, Any]":
    """Compile the graph from its two nodes; `compiling` goes to `StateGraph.compile`."""
    from typing import (
        Annotated,
        NotRequired,  # pydantic wants this one before Python 3.12
    )

    from langchain_core.messages import AnyMessage
    from langgraph.graph import END, START, StateGraph
    from langgraph.graph.message import add_messages
    from langgraph.managed import RemainingSteps
    from typing_extensions import TypedDict

    class AgentInput(TypedDict):
        messages: Annotated[list[AnyMessage], add_messages]

    class AgentState(AgentInput):
        exit_status: NotRequired[str | None]
        error: NotRequired[str | None]
        remaining_steps: NotRequired[RemainingSteps]

    graph = StateGraph(AgentState, input_schema=AgentInput, context_schema=context_schema)
    graph.add_node("model", model)
    graph.add_node("tools", tools)
    graph.add_edge(START, "model")
    # Without `await` in it, LangGraph calls a function in a thread. Graphs that are also invoked without it need that.
    route = _awaitable if iscoroutinefunction(model) else lambda function: function
    graph.add_conditional_edges("model", route(_after_model), ["model", "tools", END])
    graph.add_conditional_edges("tools", route(_after_tools), ["model", END])
    return graph.compile(**compiling)


async def model_turn(state: dict[str, Any], runtime: "Runtime[Episode]", config: "RunnableConfig") -> dict[str, Any]:
    """Call the model for its next message."""
    episode, messages = runtime.context, state["messages"]
    agent, toolbox, prompt = episode.config, episode.prompt.toolbox, episode.prompt
    if status := episode.exhausted(messages):
        return _update(status=status)
    conversation = list(map(episode.converted, messages))
    manager = manager_of_node(config)
    model = episode.model if manager is None else Reporting(episode.model, manager)
    nudges = [bool(recorded(message).get("nudge")) for message in messages]
    unnudged = [message for message, nudge in zip(conversation, nudges, strict=True) if not nudge]
    limit = None if toolbox is None else limit_reached(unnudged, agent)  # dialogues without tools have no limit
    if limit is None and state.get("remaining_steps", _NO_STEP_LIMIT) <= _LAST_STEPS:
        limit = ExitStatus.TURN_LIMIT
    facts: dict[str, Any] = {} if limit is None else {"forced": True}
    try:
        async with asyncio.timeout_at(episode.deadline):
            if agent.compaction == "none":
                sent = [*episode.prompt.messages, *answered_calls(conversation, agent)]
            else:
                sent = _compacted(episode, messages)
            if limit is not None:
                sent.append(answer_now(agent))
            tools = toolbox.specs if toolbox is not None and limit is None else ()
            reply = await model.complete(sent, tools, _options(episode, tools))
            if agent.tool_protocol == "json":
                reply = with_answer_as_text(reply, json.dumps if prompt.answer is None else prompt.answer.write)
    except BudgetSpentError as error:
        return _failed(episode, error, ExitStatus.BUDGET)
    except ModelError as error:
        overflow = error.context_overflow
        return _failed(episode, error, ExitStatus.CONTEXT_OVERFLOW if overflow else ExitStatus.MODEL_ERROR)
    except TimeoutError:
        return _update(status=ExitStatus.MODEL_ERROR, error="the deadline of the episode passed during a model call")
    episode.watcher.said(reply.message)
    message = episode.in_state(reply, **facts)
    message.id = message.id or getattr(model, "run_id", None)
    if any(message.id == earlier.id for earlier in messages):
        message.id = None  # add_messages would replace the earlier message; without an id it assigns a new one
    if reply.message.tool_calls and toolbox is not None and limit is None:
        return _update([message])
    if limit is None and sum(nudges) < agent.nudges and (nudge := prompt.nudge(reply.message.content or "")):
        user = to_langchain(Message("user", nudge))
        user.additional_kwargs[OURS] = {"nudge": True}
        return _update([message, user])
    answered = ExitStatus.ANSWERED if (reply.message.content or "").strip() else ExitStatus.NO_ANSWER
    return _update([message], limit or answered)


def _options(episode: Episode, tools: Sequence[ToolSpec]) -> CallOptions:
    """Return the options of a call, with what the levers of the agent add at this point of the episode."""
    agent, prompt, options = episode.config, episode.prompt, episode.options
    if tools and agent.tool_choice == "required":
        options = replace(options, tool_choice="required")
    if agent.tool_protocol == "json":
        schema = ANY_TEXT if prompt.answer is None else prompt.answer.schema
        options = replace(options, answer_schema=schema)
    return options


async def tool_turn(state: dict[str, Any], runtime: "Runtime[Episode]", config: "RunnableConfig") -> dict[str, Any]:
    """Execute all tool calls of the last message."""
    episode = runtime.context
    toolbox, calls = episode.prompt.toolbox, episode.converted(state["messages"][-1]).tool_calls
    assert toolbox is not None
    earlier_calls = 0
    for message in reversed(state["messages"]):
        if message.type == "human":
            break
        earlier_calls += message.type == "tool"
    refused = "no_json" if any(call.name == NO_CALL for call in calls) else None
    if str(recorded(state["messages"][-1]).get("finish_reason")).lower() in CUT_OFF:
        refused = "cut_off"
    begun = perf_counter()
    try:
        async with asyncio.timeout_at(episode.deadline):
            if refused is not None:
                refusal = episode.config.render("call_refused.j2", reason=refused, limit=0)
                results = tuple(ToolResult(call, refusal, error=refused) for call in calls)
            else:
                results = await call_tools(toolbox, calls, episode.config, earlier_calls, manager_of_node(config))
    except StoreError as error:
        return _failed(episode, error, ExitStatus.STORE_ERROR)
    except TimeoutError:
        return _update(status=ExitStatus.STORE_ERROR, error="the deadline of the episode passed during a tool call")
    elapsed = perf_counter() - begun
    for result in results:
        episode.watcher.found(result)
    messages = [tool_message(result, elapsed) for result in results]
    return _update(messages, ExitStatus.ANSWERED if any(result.final for result in results) else None)


def tool_message(result: ToolResult, elapsed: float) -> "ToolMessage":
    """Return a result as LangChain's ToolMessage, with its rows as data in `artifact`.

    `elapsed` is the wall time of all calls of the turn in seconds; they may have run in parallel.
    """
    from langchain_core.messages import ToolMessage

    facts = {name: getattr(result, name) for name in ("error", "rows", "seconds", "final", "in_list", "tried", "shows")}
    return ToolMessage(
        result.content,
        tool_call_id=result.call.id,
        name=result.call.name,
        status="success" if result.error is None else "error",
        artifact=result.data,
        additional_kwargs={OURS: {"result": facts, "elapsed_in_tools": elapsed}},
    )


def _after_model(state: dict[str, Any]) -> str:
    """Return the next node: `tools` after a message of the model, `model` after one of the user."""
    if state.get("exit_status"):
        return "__end__"
    return "tools" if state["messages"][-1].type == "ai" else "model"


def _after_tools(state: dict[str, Any]) -> str:
    return "__end__" if state.get("exit_status") else "model"


def _awaitable(function: Callable[[dict[str, Any]], str]) -> Callable[[dict[str, Any]], Awaitable[str]]:
    @wraps(function)
    async def awaited(state: dict[str, Any]) -> str:
        return function(state)

    return awaited


def _update(
    messages: "Sequence[BaseMessage]" = (), status: ExitStatus | None = None, error: str | None = None
) -> dict[str, Any]:
    """Return a node's update of the state; a status ends the episode."""
    return {"messages": list(messages), "exit_status": status.value if status else None, "error": error}


def _failed(episode: Episode, error: ModelError | StoreError, status: ExitStatus) -> dict[str, Any]:
    if episode.raises:
        raise error
    hint = f" ({error.hint})" if error.hint and isinstance(error, ModelError) else ""
    return _update(status=status, error=f"{error}{hint}")


def _compacted(episode: Episode, state: "Sequence[BaseMessage]") -> list[Message]:
    """Return the conversation to send, compacted."""
    first_reply = next((number for number, message in enumerate(state) if message.type == "ai"), len(state))
    prompt = [*episode.prompt.messages, *map(episode.converted, state[:first_reply])]
    return messages_to_send(prompt, _turns(episode, state), episode.config)


async def call_tools(
    toolbox: Toolbox,
    calls: Sequence[ToolCall],
    config: AgentConfig,
    earlier_calls: int,
    manager: "AsyncCallbackManager | None" = None,
) -> tuple[ToolResult, ...]:
    """Return results in the order of the calls, which are reported to `manager`.

    Refuse calls beyond a limit; `earlier_calls` count for `call_limit`.
    """
    limits = [(config.max_calls_per_turn, "too_many_calls", config.max_calls_per_turn)]
    if config.call_limit is not None:
        limits.append((max(0, config.call_limit - earlier_calls), "call_limit", config.call_limit))
    allowed, reason, limit = min(limits)
    accepted, refused = calls[:allowed], calls[allowed:]
    if toolbox.ordered or len(accepted) == 1:
        results = [await _call(toolbox, call, manager) for call in accepted]
    else:
        results = await asyncio.gather(*(_call(toolbox, call, manager) for call in accepted))
    refusal = config.render("call_refused.j2", reason=reason, limit=limit) if refused else ""
    return (*results, *(ToolResult(call, refusal, error=reason) for call in refused))


async def _call(toolbox: Toolbox, call: ToolCall, manager: "AsyncCallbackManager | None") -> ToolResult:
    if manager is None:
        return await toolbox.call(call)
    run = await manager.on_tool_start({"name": call.name}, call.arguments, name=call.name)
    try:
        result = await toolbox.call(call)
    except BaseException as error:
        await run.on_tool_error(error)
        raise
    await run.on_tool_end(tool_message(result, result.seconds))
    return result


def limit_reached(conversation: Sequence[Message], config: AgentConfig) -> ExitStatus | None:
    """Return the status of the first limit that the turns since the last user message have reached, or None."""
    since_user = takewhile(lambda message: message.role != "user", reversed(conversation))
    replies = [message for message in since_user if message.role == "assistant"]
    limits = [
        (ExitStatus.TURN_LIMIT, len(replies), config.turn_limit),
        (ExitStatus.CALL_LIMIT, sum(len(reply.tool_calls) for reply in replies), config.call_limit),
    ]
    return next((status for status, number, limit in limits if limit is not None and number >= limit), None)


def answered_calls(conversation: Sequence[Message], config: AgentConfig) -> Iterator[Message]:
    """Yield the messages; before one of the user, a refusal of each call without a result: servers require results."""
    unanswered: dict[str, None] = {}
    for message in conversation:
        if message.role == "assistant":
            unanswered = dict.fromkeys(call.id for call in message.tool_calls)
        elif message.role == "tool":
            unanswered.pop(message.tool_call_id or "", None)
        elif unanswered:
            content = config.render("call_refused.j2", reason="not_made", limit=0)
            yield from (Message("tool", content, tool_call_id=call_id) for call_id in unanswered)
            unanswered = {}
        yield message


def messages_to_send(prompt: Sequence[Message], turns: Sequence[Turn], config: AgentConfig) -> list[Message]:
    """Return the messages to send for the next turn, compacted by `config.compaction`.

    `none` sends everything, `window` leaves out tool results of older turns.
    """
    messages = list(prompt)
    first_whole = max(0, len(turns) - config.compaction_window) if config.compaction == "window" else 0
    for number, turn in enumerate(turns):
        messages.append(turn.message)
        for result in turn.results:
            content = result.content
            if number < first_whole:
                content = min(content, config.render("result_left_out.j2", rows=result.rows), key=len)
            messages.append(Message("tool", content, tool_call_id=result.call.id))
        if turn.next_user is not None:
            messages.append(Message("user", turn.next_user))
    return list(answered_calls(messages, config))


def answer_now(config: AgentConfig) -> Message:
    """Return the request for an answer, sent when a limit is reached."""
    return Message("user", config.render("answer_now.j2"))


def _usage(message: "BaseMessage") -> Usage:
    """Return the recorded usage of a reply; unknown for other messages."""
    return from_dict(Usage, recorded(message).get("usage", {}))


def _turns(episode: Episode, messages: "Sequence[BaseMessage]") -> list[Turn]:
    """Return the turns of the model with their results; messages before its first one are left out."""
    starts = [number for number, message in enumerate(messages) if message.type == "ai"]
    return [_turn(episode, messages[a], messages[a + 1 : b]) for a, b in pairwise([*starts, len(messages)])]


def _turn(episode: Episode, message: "BaseMessage", after: "Sequence[BaseMessage]") -> Turn:
    """Return a turn from the model's message and the tool and user messages after it."""
    reply, facts = episode.converted(message), recorded(message)
    calls = {call.id: call for call in reversed(reply.tool_calls)}
    results = [_result(episode, one, calls) for one in after if one.type == "tool"]
    users = [episode.converted(one).content or "" for one in after if one.type != "tool"]
    return Turn(
        reply,
        _usage(message),
        results=tuple(results),
        next_user="\n\n".join(users) if users else None,
        elapsed_in_tools=next((recorded(one).get("elapsed_in_tools") for one in after if one.type == "tool"), None),
        **{name: facts[name] for name in ("finish_reason", "seconds", "forced") if name in facts},
    )


def _result(episode: Episode, message: Any, calls: Mapping[str, ToolCall]) -> ToolResult:
    """Return the result in a ToolMessage; one that a user added has no call and no record."""
    call = calls.get(message.tool_call_id) or ToolCall(message.tool_call_id, message.name or "", "")
    outcome = recorded(message).get("result") or {"error": None if message.status == "success" else "failed"}
    return ToolResult(call, episode.converted(message).content or "", **outcome, data=message.artifact)
