"""The agent: a LangGraph graph of model turns and tool turns that ends with an answer (docs/method.md, Agent).

    START → model ─┬─ tool calls ──────────────→ tools → model …
                   ├─ a nudge, a follow-up ───→ model …
                   └─ answer, limit, error ────→ END

The state is the list of turns after the prompt of the episode, in the form in which they are logged: a reply with its
usage, the results of its calls, the next message of the user. Limits are read from the turns. `build_agent`
(own_graph/langgraph_agent.py) has the same two nodes, with LangChain's messages in the state.
"""

import asyncio
import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import takewhile
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

from graphwalk.config.agent import AgentConfig
from graphwalk.errors import ModelError, StoreError, is_panic
from graphwalk.models.chat import CallOptions, Message, Model, ToolCall, Usage
from graphwalk.models.finish_reasons import is_cut_off
from graphwalk.models.langchain import Reporting, tool_message
from graphwalk.models.protocols import ANY_TEXT, NO_CALL, with_answer_as_text
from graphwalk.models.text_calls import CALL_AS_TEXT, is_call_as_text
from graphwalk.models.trajectory import INTERNAL, ExitStatus, ToolResult, Trajectory, Turn
from graphwalk.models.wrappers import BudgetSpentError
from graphwalk.suites.suite import Prompt
from graphwalk.tools.toolbox import Toolbox
from graphwalk.variables import read_variables

if TYPE_CHECKING:
    from langchain_core.callbacks import AsyncCallbackManager
    from langchain_core.runnables import RunnableConfig
    from langgraph.graph.state import CompiledStateGraph
    from langgraph.runtime import Runtime

_LOGGER = logging.getLogger("graphwalk")
_NO_STEP_LIMIT = 1_000_000
"""LangGraph's own limit raises instead of ending; turns are counted here."""


class Watcher:
    """An observer of the steps of an episode, called in the event loop; must not block. This class ignores all."""

    def on_message(self, message: Message) -> None:
        """Take a whole message of the model: reasoning and calls, or the answer."""

    def on_result(self, result: ToolResult) -> None:
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


class Step(NamedTuple):
    """The state after a node: all turns so far, and the status that ends the episode."""

    turns: Sequence[Turn]
    exit_status: ExitStatus | None = None
    error: str | None = None


async def run_episode(episode: Episode, callbacks: Sequence[Any] = ()) -> Trajectory:
    """Run one episode to its end. Failures of model and store are in the status, unless `episode.raises`.

    `callbacks`: handlers of LangChain; none: those of a runnable around the episode.
    """
    config: RunnableConfig = {
        "recursion_limit": _NO_STEP_LIMIT,
        "run_name": "agent",
        "callbacks": [*callbacks] or None,
    }
    # Version 2 of LangGraph's streams returns the state alone.
    end = (await agent_graph().ainvoke({"turns": []}, config, context=episode, version="v2")).value
    return Trajectory(episode.prompt.messages, tuple(end["turns"]), end["exit_status"], end.get("error"))


@cache
def agent_graph() -> "CompiledStateGraph[Any, Episode, Any, Any]":
    """Return the graph of runs, compiled once; each invocation passes its `Episode` as the context."""
    from langgraph.graph import END, START, StateGraph
    from langgraph.types import Command
    from typing_extensions import TypedDict  # pydantic wants this one before Python 3.12

    class AgentState(TypedDict, total=False):
        turns: Sequence[Turn]
        exit_status: ExitStatus | None
        error: str | None

    async def model(state: AgentState, runtime: "Runtime[Episode]", config: "RunnableConfig") -> Any:
        episode, manager = runtime.context, callbacks_of(config)
        if manager is not None:
            episode = replace(episode, model=Reporting(episode.model, manager))
        step = await model_turn(episode, state["turns"])
        following = END if step.exit_status else "tools" if step.turns[-1].next_user is None else "model"
        return Command(update=step._asdict(), goto=following)

    async def tools(state: AgentState, runtime: "Runtime[Episode]", config: "RunnableConfig") -> Any:
        step = await tool_turn(runtime.context, state["turns"], callbacks_of(config))
        return Command(update=step._asdict(), goto=END if step.exit_status else "model")

    graph: Any = StateGraph(AgentState, context_schema=Episode)
    graph.add_node("model", model, destinations=("model", "tools", END))
    graph.add_node("tools", tools, destinations=("model", END))
    graph.add_edge(START, "model")
    compiled: CompiledStateGraph[Any, Episode, Any, Any] = graph.compile()
    return compiled


def callbacks_of(config: "RunnableConfig") -> "AsyncCallbackManager | None":
    """Return the manager of LangChain's callbacks that a node is passed, None if it has no handlers."""
    if not getattr(config.get("callbacks"), "handlers", ()):
        return None
    from langchain_core.runnables.config import get_async_callback_manager_for_config

    return get_async_callback_manager_for_config(config)  # also in `invoke`, whose manager is not asynchronous


async def model_turn(episode: Episode, turns: Sequence[Turn], *, last: bool = False) -> Step:
    """Call the model for its next message. `last`: request the answer, since no other turn can follow."""
    agent, prompt = episode.config, episode.prompt
    if status := budget_reached(episode, turns):
        return Step(turns, status)
    limit = None
    if prompt.toolbox is not None:
        limit = limit_reached(since_user(prompt, turns), agent)
    if limit is None and last:
        limit = ExitStatus.TURN_LIMIT
    tools = prompt.toolbox.specs if prompt.toolbox is not None and limit is None else ()
    options = episode.options
    if tools and agent.tool_choice == "required":
        options = replace(options, tool_choice="required")
    if agent.tool_protocol == "json":
        options = replace(options, answer_schema=ANY_TEXT if prompt.answer is None else prompt.answer.schema)
    try:
        async with asyncio.timeout_at(episode.deadline):
            messages = messages_to_send(prompt.messages, turns, agent)
            if limit is not None:
                messages.append(answer_now(agent))
            reply = await episode.model.complete(messages, tools, options)
            if agent.tool_protocol == "json":
                reply = with_answer_as_text(reply, json.dumps if prompt.answer is None else prompt.answer.write)
    except BudgetSpentError as error:
        return _failed(episode, turns, error, ExitStatus.BUDGET)
    except ModelError as error:
        overflow = error.context_overflow
        return _failed(episode, turns, error, ExitStatus.CONTEXT_OVERFLOW if overflow else ExitStatus.MODEL_ERROR)
    except TimeoutError:
        return Step(turns, ExitStatus.MODEL_ERROR, "the deadline of the episode passed during a model call")
    episode.watcher.on_message(reply.message)
    text = reply.message.content or ""
    turn = Turn(reply.message, reply.usage, reply.finish_reason, reply.seconds, forced=limit is not None)
    if limit is not None:
        return Step([*turns, turn], limit)
    if reply.message.tool_calls and prompt.toolbox is not None:
        return Step([*turns, turn])
    nudges = sum(is_nudge(prompt, earlier) for earlier in turns)
    if nudges < agent.nudges and (next_user := prompt.nudge(text)) is not None:
        return Step([*turns, replace(turn, next_user=next_user)])
    if agent.tool_protocol == "native" and is_call_as_text(reply.message, tools):
        return Step([*turns, turn], ExitStatus.NO_ANSWER, CALL_AS_TEXT)
    if (question := next_question(prompt, turns)) is not None:
        return Step([*turns, replace(turn, next_user=question)])
    return Step([*turns, turn], ExitStatus.ANSWERED if text.strip() else ExitStatus.NO_ANSWER)


async def tool_turn(episode: Episode, turns: Sequence[Turn], manager: "AsyncCallbackManager | None" = None) -> Step:
    """Execute all tool calls of the last turn, which are reported to `manager`."""
    *earlier, turn = turns
    agent, toolbox, calls = episode.config, episode.prompt.toolbox, turn.message.tool_calls
    assert toolbox is not None
    refused = "no_json" if any(call.name == NO_CALL for call in calls) else None
    if is_cut_off(turn.finish_reason):
        refused = "cut_off"
    started = perf_counter()
    try:
        async with asyncio.timeout_at(episode.deadline):
            if refused is not None:
                refusal = agent.render("call_refused.j2", reason=refused, limit=0)
                results = tuple(ToolResult(call, refusal, error=refused) for call in calls)
            else:
                calls_so_far = sum(len(one.results) for one in since_user(episode.prompt, earlier))
                results = await call_tools(toolbox, calls, agent, calls_so_far, manager)
    except StoreError as error:
        return _failed(episode, turns, error, ExitStatus.STORE_ERROR)
    except TimeoutError:
        return Step(turns, ExitStatus.STORE_ERROR, "the deadline of the episode passed during a tool call")
    turn = replace(turn, results=results, elapsed_in_tools=perf_counter() - started)
    for result in results:
        episode.watcher.on_result(result)
    answered = any(result.final for result in results)
    return Step([*earlier, turn], ExitStatus.ANSWERED if answered else None)


def _failed(episode: Episode, turns: Sequence[Turn], error: ModelError | StoreError, status: ExitStatus) -> Step:
    if episode.raises:
        raise error
    hint = f" ({error.hint})" if error.hint and isinstance(error, ModelError) else ""
    return Step(turns, status, f"{error.message}{hint}")


def budget_reached(episode: Episode, turns: Sequence[Turn]) -> ExitStatus | None:
    """Return the status of the episode's limit of tokens or dollars that the turns have reached, None without one."""
    if episode.tokens is None and episode.usd is None:
        return None
    usage = sum((turn.usage for turn in turns), Usage())
    if episode.tokens is not None and usage.total_tokens >= episode.tokens:
        return ExitStatus.TOKEN_LIMIT
    if episode.usd is not None and (usage.cost or 0.0) >= episode.usd:
        return ExitStatus.BUDGET
    return None


def limit_reached(turns: Sequence[Turn], config: AgentConfig) -> ExitStatus | None:
    """Return the status of the first limit that the turns since the last message of the user have reached, or None."""
    limits = [
        (ExitStatus.TURN_LIMIT, len(turns), config.turn_limit),
        (ExitStatus.CALL_LIMIT, sum(len(turn.message.tool_calls) for turn in turns), config.call_limit),
    ]
    return next((status for status, number, limit in limits if limit is not None and number >= limit), None)


def since_user(prompt: Prompt, turns: Sequence[Turn]) -> list[Turn]:
    """Return the turns after the last message of the user, in order; nudges do not count as one."""
    recent = takewhile(lambda turn: turn.next_user is None or is_nudge(prompt, turn), reversed(turns))
    return [*recent][::-1]


def is_nudge(prompt: Prompt, turn: Turn) -> bool:
    """Return True if the message after a turn named what is missing in its reply."""
    return turn.next_user is not None and turn.next_user == prompt.nudge(turn.message.content or "")


def next_question(prompt: Prompt, turns: Sequence[Turn]) -> str | None:
    """Return the follow-up that the model has not been asked yet, None after the last one."""
    asked = sum(turn.next_user is not None and not is_nudge(prompt, turn) for turn in turns)
    return prompt.follow_ups[asked] if asked < len(prompt.follow_ups) else None


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
        results = [await call_tool(toolbox, call, config, manager) for call in accepted]
    else:
        results = await asyncio.gather(*(call_tool(toolbox, call, config, manager) for call in accepted))
    refusal = config.render("call_refused.j2", reason=reason, limit=limit) if refused else ""
    return (*results, *(ToolResult(call, refusal, error=reason) for call in refused))


async def call_tool(
    toolbox: Toolbox, call: ToolCall, config: AgentConfig, manager: "AsyncCallbackManager | None" = None
) -> ToolResult:
    """Return the result of a call, which is reported to `manager`. Raise StoreError if the database fails.

    Any other error ends this call alone: its text, without secrets, is the result.
    """
    run = None if manager is None else await manager.on_tool_start({"name": call.name}, call.arguments, name=call.name)
    started = perf_counter()
    try:
        result = await toolbox.call(call)
    except BaseException as error:
        if run is not None:
            await run.on_tool_error(read_variables().secrets.without_secrets(error))
        is_failure = isinstance(error, Exception) or is_panic(error)
        if isinstance(error, StoreError) or not is_failure:
            raise
        _LOGGER.error("unexpected error in a call of %s", call.name, exc_info=error)
        problem = read_variables().secrets.redact_error(f"{type(error).__name__}: {error}")
        text = config.texts.message("call_failed", problem=problem)
        return ToolResult(call, text, error=INTERNAL, seconds=perf_counter() - started)
    if run is not None:
        await run.on_tool_end(tool_message(result, result.seconds))
    return result


def messages_to_send(prompt: Sequence[Message], turns: Sequence[Turn], config: AgentConfig) -> list[Message]:
    """Return the messages to send for the next turn.

    With `compaction: window`, tool results of older turns are left out. Servers require a result for each call, and
    a call for each result: a call without a result gets a refusal, and a result without a call is left out.
    """
    messages = list(prompt)
    first_whole = max(0, len(turns) - config.compaction_window) if config.compaction == "window" else 0
    for number, turn in enumerate(turns):
        messages.append(turn.message)
        unanswered = dict.fromkeys(call.id for call in turn.message.tool_calls)
        results = [result for result in turn.results if result.call.id in unanswered]
        for result in results:
            message = result.message
            if number < first_whole:
                left_out = config.render("result_left_out.j2", rows=result.rows)
                message = replace(message, content=min(result.content, left_out, key=len))
            messages.append(message)
            unanswered.pop(result.call.id, None)
        for call_id in unanswered:
            refusal = config.render("call_refused.j2", reason="not_made", limit=0)
            messages.append(Message("tool", refusal, tool_call_id=call_id))
        if turn.next_user is not None:
            messages.append(Message("user", turn.next_user))
    return messages


def answer_now(config: AgentConfig) -> Message:
    """Return the request for an answer, sent when a limit is reached."""
    return Message("user", config.render("answer_now.j2"))
