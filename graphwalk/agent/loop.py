"""The agent: a LangGraph graph that sends the requests of a conversation, and makes the calls of the replies.

    START → model ─┬─ tool calls ──────────────→ tools → model …
                   ├─ a nudge, a follow-up ───→ model …
                   └─ answer, limit, error ────→ END

Everything that is decided between two steps is in graphwalk/agent/conversation.py. The state of the graph is the list
of turns after the prompt. `build_agent` (own_graph/langgraph_agent.py) has the same two nodes, with LangChain's
messages in the state.
"""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from time import perf_counter
from typing import TYPE_CHECKING, Any

from graphwalk.agent.conversation import Conversation
from graphwalk.config.agent import AgentConfig
from graphwalk.errors import ModelError, StoreError, is_panic
from graphwalk.models.chat import CallOptions, Message, Model, ToolCall
from graphwalk.models.langchain import Reporting, tool_message
from graphwalk.models.trajectory import INTERNAL, ExitStatus, ToolResult, Trajectory, Turn
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
    """The constant parts of an episode: the start of the conversation, and the model that takes part in it.

    `deadline` is in seconds of the event loop's clock. `raises`: raise failures of model and store; by default they
    end the episode with a status.
    """

    start: Conversation
    model: Model
    options: CallOptions = CallOptions()
    deadline: float | None = None
    raises: bool = False
    watcher: Watcher | None = None


async def run_episode(episode: Episode, callbacks: Sequence[Any] = ()) -> Trajectory:
    """Run one episode to its end. Failures of model and store are in the status, unless `episode.raises`.

    `callbacks`: handlers of LangChain; none: those of a runnable around the episode.
    """
    config: RunnableConfig = {
        "recursion_limit": _NO_STEP_LIMIT,
        "run_name": "agent",
        "callbacks": list(callbacks) or None,
    }
    # Version 2 of LangGraph's streams returns the state alone.
    end = (await agent_graph().ainvoke({"turns": []}, config, context=episode, version="v2")).value
    return replace(episode.start, **end).trajectory


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

    def leave(after: Conversation) -> Any:
        update = {"turns": after.turns, "exit_status": after.exit_status, "error": after.error}
        return Command(update=update, goto=END if after.over else after.next_step)

    async def model(state: AgentState, runtime: "Runtime[Episode]", config: "RunnableConfig") -> Any:
        episode = runtime.context
        conversation = replace(episode.start, turns=tuple(state["turns"]))
        manager = callbacks_of(config)
        if manager is not None:
            episode = replace(episode, model=Reporting(episode.model, manager))
        return leave(await ask_model(episode, conversation))

    async def tools(state: AgentState, runtime: "Runtime[Episode]", config: "RunnableConfig") -> Any:
        episode = runtime.context
        conversation = replace(episode.start, turns=tuple(state["turns"]))
        return leave(await run_tools(episode, conversation, callbacks_of(config)))

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


async def ask_model(episode: Episode, conversation: Conversation) -> Conversation:
    """Return the conversation after the model's next reply."""
    if conversation.over:
        return conversation
    try:
        async with asyncio.timeout_at(episode.deadline):
            reply = await episode.model.complete(*conversation.request(episode.options))
    except ModelError as error:
        if episode.raises:
            raise
        return conversation.failed(error)
    except TimeoutError:
        return conversation.timed_out()
    after = conversation.replied(reply)
    if episode.watcher is not None:
        episode.watcher.on_message(after.turns[-1].message)
    return after


async def run_tools(
    episode: Episode, conversation: Conversation, manager: "AsyncCallbackManager | None" = None
) -> Conversation:
    """Return the conversation after the results of its calls, which are reported to `manager`."""
    toolbox = conversation.prompt.toolbox
    assert toolbox is not None
    started = perf_counter()
    try:
        async with asyncio.timeout_at(episode.deadline):
            results = await call_tools(toolbox, conversation.calls, conversation.config, manager)
    except StoreError as error:
        if episode.raises:
            raise
        return conversation.failed(error)
    except TimeoutError:
        return conversation.timed_out()
    after = conversation.returned(results, perf_counter() - started)
    if episode.watcher is not None:
        for result in after.turns[-1].results:
            episode.watcher.on_result(result)
    return after


async def call_tools(
    toolbox: Toolbox,
    calls: Sequence[ToolCall],
    config: AgentConfig,
    manager: "AsyncCallbackManager | None" = None,
) -> Sequence[ToolResult]:
    """Return results in the order of the calls, which are reported to `manager`."""
    if toolbox.ordered or len(calls) == 1:
        return [await call_tool(toolbox, call, config, manager) for call in calls]
    return await asyncio.gather(*(call_tool(toolbox, call, config, manager) for call in calls))


async def call_tool(
    toolbox: Toolbox, call: ToolCall, config: AgentConfig, manager: "AsyncCallbackManager | None" = None
) -> ToolResult:
    """Return the result of a call, which is reported to `manager`. Raise StoreError if the database fails.

    Any other error ends this call alone: its text, without secrets, is the result.
    """
    run = None
    if manager is not None:
        run = await manager.on_tool_start({"name": call.name}, call.arguments, name=call.name)

    started = perf_counter()
    try:
        result = await toolbox.call(call)
    except BaseException as error:
        if run is not None:
            await run.on_tool_error(read_variables().secrets.without_secrets(error))
        # A cancellation and Ctrl+C end the episode.
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
