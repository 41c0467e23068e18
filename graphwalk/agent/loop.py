"""The agent: a LangGraph loop of model turns and tool turns that ends with an answer (docs/method.md, Agent).

    START → model ─┬─ tool calls ──────────→ tools → model …
                   ├─ a dialogue goes on ──→ model …
                   └─ answer, limit, error → END

Each turn says itself where it goes on: edges with conditions of their own would be run as steps, at half a step's cost
each. Nothing is raised out of the loop: a model or a store that fails ends the episode with a status of its own.
"""

import asyncio
import operator
from collections import Counter
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from graphwalk.agent.conversation import answer_now, conversation, summarize, summary_due, summary_message
from graphwalk.agent.tool_turn import run_tool_calls
from graphwalk.config.agent import AgentConfig
from graphwalk.errors import ModelError, StoreError
from graphwalk.models.calls.budget import BudgetSpentError
from graphwalk.models.model import Model
from graphwalk.suites.suite import Opening
from graphwalk.types.chat import CallOptions, Usage
from graphwalk.types.episode import ExitStatus, Trajectory, Turn

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph
    from langgraph.runtime import Runtime
    from langgraph.types import Command

_NO_STEP_LIMIT = 1_000_000
"""LangGraph's own limit raises instead of ending; turns are counted here."""


class State(TypedDict):
    """What the graph carries: the log of turns, a reply whose tool calls have not run yet, and how it ended."""

    turns: Annotated[list[Turn], operator.add]
    pending: Turn | None
    exit_status: ExitStatus | None
    error: str | None


@dataclass(frozen=True)
class Walk:
    """One episode on its way: everything the nodes need that does not change.

    `deadline` is in seconds of the event loop's clock; `tokens` and `usd` are the limits of this episode.
    """

    opening: Opening
    model: Model
    config: AgentConfig
    options: CallOptions
    deadline: float | None = None
    tokens: int | None = None
    usd: float | None = None

    def exhausted(self, turns: list[Turn]) -> ExitStatus | None:
        """The limit that forbids another call, if there is one."""
        if self.tokens is None and self.usd is None:
            return None
        usage = sum((turn.usage for turn in turns), Usage())
        if self.tokens is not None and usage.total_tokens >= self.tokens:
            return ExitStatus.TOKEN_LIMIT
        if self.usd is not None and (usage.cost or 0.0) >= self.usd:
            return ExitStatus.BUDGET
        return None

    def must_answer(self, turns: list[Turn]) -> bool:
        """True at the limit of turns, calls or repeats. Dialogues without tools are as long as their suite has them."""
        if self.opening.toolbox is None:
            return False
        config = self.config
        limits = [
            (len(turns), config.turn_limit),
            (sum(len(turn.results) for turn in turns), config.call_limit),
        ]
        if config.repeat_limit is not None:
            calls = [{(result.call.name, result.call.arguments) for result in turn.results} for turn in turns]
            limits.append((max(Counter(chain.from_iterable(calls)).values(), default=0), config.repeat_limit))
        return any(limit is not None and number >= limit for number, limit in limits)


async def run_episode(walk: Walk) -> Trajectory:
    """Let a model try one episode. Raises nothing but cancellation."""
    start: State = {"turns": [], "pending": None, "exit_status": None, "error": None}
    # The second version of LangGraph's streams passes on the states alone.
    end = (await build_graph().ainvoke(start, {"recursion_limit": _NO_STEP_LIMIT}, context=walk, version="v2")).value
    status = end["exit_status"]
    assert status is not None, "a step ends the episode with a status, or says where it goes on"
    return Trajectory(walk.opening.prompt, tuple(end["turns"]), status, end["error"])


@cache
def build_graph() -> "CompiledStateGraph[State, Walk, State, State]":
    """The compiled graph; it holds no state of an episode and is shared by all."""
    from langgraph.graph import END, START, StateGraph

    graph = StateGraph(State, context_schema=Walk)
    graph.add_node("model", model_turn, destinations=("model", "tools", END))
    graph.add_node("tools", tool_turn, destinations=("model", END))
    graph.add_edge(START, "model")
    return graph.compile()


async def model_turn(state: State, runtime: "Runtime[Walk]") -> "Command[str]":
    """Ask the model for its next message."""
    walk, turns = runtime.context, state["turns"]
    if status := walk.exhausted(turns):
        return _step(exit_status=status)
    forced = walk.must_answer(turns)
    try:
        async with asyncio.timeout_at(walk.deadline):
            turn = await _complete(walk, turns, forced)
    except BudgetSpentError as error:
        return _step(exit_status=ExitStatus.BUDGET, error=str(error))
    except ModelError as error:
        overflow = error.context_overflow
        told = f"{error} ({error.hint})" if error.hint else str(error)
        return _step(exit_status=ExitStatus.CONTEXT_OVERFLOW if overflow else ExitStatus.MODEL_ERROR, error=told)
    except TimeoutError:
        error_text = "the deadline of the episode passed during a model call"
        return _step(exit_status=ExitStatus.MODEL_ERROR, error=error_text)
    if turn.message.tool_calls and walk.opening.toolbox is not None and not forced:
        return _step("tools", pending=turn)
    if not forced and (next_user := walk.opening.next_user([*turns, turn])) is not None:
        return _step("model", turns=[replace(turn, next_user=next_user)])
    answered = ExitStatus.ANSWERED if (turn.message.content or "").strip() else ExitStatus.NO_ANSWER
    return _step(turns=[turn], exit_status=ExitStatus.TURN_LIMIT if forced else answered)


async def tool_turn(state: State, runtime: "Runtime[Walk]") -> "Command[str]":
    """Execute all tool calls of the reply that waits for them."""
    walk, turn = runtime.context, state["pending"]
    toolbox = walk.opening.toolbox
    assert turn is not None
    assert toolbox is not None
    made = sum(len(earlier.results) for earlier in state["turns"])
    try:
        async with asyncio.timeout_at(walk.deadline):
            results = await run_tool_calls(toolbox, turn.message.tool_calls, walk.config, made)
    except StoreError as error:
        return _step(turns=[turn], pending=None, exit_status=ExitStatus.STORE_ERROR, error=str(error))
    except TimeoutError:
        error_text = "the deadline of the episode passed during a tool call"
        return _step(turns=[turn], pending=None, exit_status=ExitStatus.STORE_ERROR, error=error_text)
    done = replace(turn, results=results)
    if any(result.final for result in results):
        return _step(turns=[done], pending=None, exit_status=ExitStatus.ANSWERED)
    return _step("model", turns=[done], pending=None)


def _step(to: str = "__end__", **update: Any) -> "Command[str]":
    """What changes, and where the episode goes on."""
    from langgraph.types import Command

    return Command(update=update, goto=to)


async def _complete(walk: Walk, turns: list[Turn], forced: bool) -> Turn:
    """One reply as a turn; a summary that had to be made first is part of its usage and time."""
    messages = conversation(walk.opening.prompt, turns, walk.config)
    summary, usage, seconds = None, Usage(), 0.0
    if summary_due(turns, walk.config):
        short = await summarize(messages, walk.model, walk.config, walk.options)
        summary, usage, seconds = short.message.content or "", short.usage, short.seconds
        messages = [*walk.opening.prompt, summary_message(summary, walk.config)]
    if forced:
        messages.append(answer_now(walk.config))
    tools = walk.opening.toolbox.specs if walk.opening.toolbox is not None and not forced else ()
    reply = await walk.model.complete(messages, tools, walk.options)
    return Turn(
        message=reply.message,
        usage=usage + reply.usage,
        finish_reason=reply.finish_reason,
        seconds=seconds + reply.seconds,
        summary=summary,
        forced=forced,
    )
