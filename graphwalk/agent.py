"""The agent: a LangGraph graph of model turns and tool turns that ends with an answer (docs/method.md, Agent).

    START → model ─┬─ tool calls ──────────────→ tools → model …
                   ├─ the dialogue continues ──→ model …
                   └─ answer, limit, error ────→ END

The state is the conversation after the prompt of the episode: `messages` in LangChain's form. What a run records of a
turn (usage, seconds) is in the `additional_kwargs` of its message, so that checkpoints need no types of ours.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain, pairwise
from time import perf_counter
from typing import TYPE_CHECKING, Any

from graphwalk.config.agent import AgentConfig
from graphwalk.errors import ModelError, StoreError
from graphwalk.models.base import Model
from graphwalk.models.budget import BudgetSpentError
from graphwalk.models.langchain import OURS, from_langchain, to_langchain
from graphwalk.suites.suite import EpisodeSetup
from graphwalk.tools.toolbox import Toolbox
from graphwalk.types.chat import CallOptions, Message, Reply, ToolCall, Usage
from graphwalk.types.episode import ExitStatus, ToolResult, Trajectory, Turn
from graphwalk.types.wire import from_dict, to_dict

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
    from langchain_core.runnables import RunnableConfig
    from langgraph.graph.state import CompiledStateGraph
    from langgraph.runtime import Runtime

_NO_STEP_LIMIT = 1_000_000
"""LangGraph's own limit raises instead of ending; turns are counted here."""
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
    """The constant parts of an episode: setup, model, configuration and limits.

    `deadline` is in seconds of the event loop's clock. `raises`: raise failures of model and store; by default they
    end the episode with a status.
    """

    setup: EpisodeSetup
    model: Model
    config: AgentConfig
    options: CallOptions
    deadline: float | None = None
    tokens: int | None = None
    usd: float | None = None
    raises: bool = False
    watcher: Watcher = field(default_factory=Watcher)

    def exhausted(self, turns: Sequence[Turn]) -> ExitStatus | None:
        """Return the status of the limit that is reached, None if no limit is."""
        if self.tokens is None and self.usd is None:
            return None
        usage = sum((turn.usage for turn in turns), Usage())
        if self.tokens is not None and usage.total_tokens >= self.tokens:
            return ExitStatus.TOKEN_LIMIT
        if self.usd is not None and usage.charge >= self.usd:
            return ExitStatus.BUDGET
        return None

    def must_answer(self, turns: Sequence[Turn]) -> bool:
        """Return True if the limit of turns, calls or repeats is reached. Dialogues without tools have none."""
        if self.setup.toolbox is None:
            return False
        config = self.config
        since = next((n for n in range(len(turns), 0, -1) if turns[n - 1].next_user is not None), 0)
        turns = turns[since:]
        calls = [{(result.call.name, result.call.arguments) for result in turn.results} for turn in turns]
        limits = [
            (len(turns), config.turn_limit),
            (sum(len(turn.results) for turn in turns), config.call_limit),
            (max(Counter(chain.from_iterable(calls)).values(), default=0), config.repeat_limit),
        ]
        return any(limit is not None and number >= limit for number, limit in limits)


async def run_episode(episode: Episode) -> Trajectory:
    """Run one episode to its end. Failures of model and store are in the status, unless `episode.raises`."""
    config: RunnableConfig = {"recursion_limit": _NO_STEP_LIMIT}
    # Version 2 of LangGraph's streams returns the state alone.
    end = (await agent_graph().ainvoke({"messages": []}, config, context=episode, version="v2")).value
    turns = _conversation(end["messages"])[1]
    status = ExitStatus(end["exit_status"])
    return Trajectory(episode.setup.prompt, tuple(turns), status, end.get("error"))


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
    graph.add_conditional_edges("model", _after_model, ["model", "tools", END])
    graph.add_conditional_edges("tools", lambda state: END if state.get("exit_status") else "model", ["model", END])
    return graph.compile(**compiling)


async def model_turn(state: dict[str, Any], runtime: "Runtime[Episode]", config: "RunnableConfig") -> dict[str, Any]:
    """Call the model for its next message. A summary made first counts in the turn's usage and time."""
    episode, toolbox = runtime.context, runtime.context.setup.toolbox
    prompt, turns = _conversation(state["messages"])
    if status := episode.exhausted(turns):
        return _update(status=status)
    forced = episode.must_answer(turns) or state.get("remaining_steps", _NO_STEP_LIMIT) <= _LAST_STEPS
    try:
        async with asyncio.timeout_at(episode.deadline):
            messages, summary = await _messages(episode, [*episode.setup.prompt, *prompt], turns)
            if forced:
                messages.append(answer_now(episode.config))
            tools = toolbox.specs if toolbox is not None and not forced else ()
            reply, run_id = await _traced(episode.model, messages, tools, episode.options, config)
    except BudgetSpentError as error:
        return _failed(episode, error, ExitStatus.BUDGET)
    except ModelError as error:
        overflow = error.context_overflow
        return _failed(episode, error, ExitStatus.CONTEXT_OVERFLOW if overflow else ExitStatus.MODEL_ERROR)
    except TimeoutError:
        return _update(status=ExitStatus.MODEL_ERROR, error="the deadline of the episode passed during a model call")
    episode.watcher.said(reply.message)
    turn = Turn(
        message=reply.message,
        usage=reply.usage if summary is None else summary.usage + reply.usage,
        finish_reason=reply.finish_reason,
        seconds=reply.seconds + (0.0 if summary is None else summary.seconds),
        summary=None if summary is None else summary.message.content or "",
        forced=forced,
    )
    facts = {
        "usage": to_dict(turn.usage),
        "finish_reason": turn.finish_reason,
        "seconds": turn.seconds,
        **({} if turn.summary is None else {"summary": turn.summary}),
        **({"forced": True} if turn.forced else {}),
    }
    message = _with_facts(to_langchain(turn.message, {"turn": facts}), turn)
    message.id = message.id or run_id
    if any(message.id == earlier.id for earlier in state["messages"]):
        message.id = None  # add_messages would replace the earlier message; without an id it assigns a new one
    if turn.message.tool_calls and toolbox is not None and not forced:
        return _update([message])
    if not forced and (next_user := episode.setup.next_user([*turns, turn])) is not None:
        return _update([message, to_langchain(Message("user", next_user))])
    answered = ExitStatus.ANSWERED if (turn.message.content or "").strip() else ExitStatus.NO_ANSWER
    return _update([message], ExitStatus.TURN_LIMIT if forced else answered)


async def tool_turn(state: dict[str, Any], runtime: "Runtime[Episode]") -> dict[str, Any]:
    """Execute all tool calls of the last message."""
    episode = runtime.context
    *earlier, asked = state["messages"]
    toolbox, calls = episode.setup.toolbox, from_langchain(asked).tool_calls
    assert toolbox is not None
    since = next((n for n in range(len(earlier), 0, -1) if earlier[n - 1].type == "human"), 0)
    made = sum(message.type == "tool" for message in earlier[since:])
    begun = perf_counter()
    try:
        async with asyncio.timeout_at(episode.deadline):
            results = await call_tools(toolbox, calls, episode.config, made)
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

    facts = {name: getattr(result, name) for name in ("error", "rows", "seconds", "final", "in_list", "tried")}
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


async def _messages(
    episode: Episode, prompt: Sequence[Message], turns: Sequence[Turn]
) -> tuple[list[Message], Reply | None]:
    """Return the conversation to send, and the summary if one was due."""
    config = episode.config
    messages = conversation(prompt, turns, config)
    since = next((n for n, turn in enumerate(reversed(turns)) if turn.summary is not None), len(turns))
    # Twice the window must have passed since the last summary, so that summaries stay rare.
    if config.compaction != "summary" or since < 2 * config.compaction_window:
        return messages, None
    request = Message("user", config.render("summarize.j2"))
    options = replace(episode.options, parallel_tool_calls=None, on_text=None)
    summary = await episode.model.complete([*messages, request], (), options)
    return [*prompt, summary_message(summary.message.content or "", config)], summary


async def _traced(
    model: Model, messages: Sequence[Message], tools: Any, options: CallOptions, config: "RunnableConfig"
) -> tuple[Reply, str | None]:
    """Call the model and report the call and each piece of its text to LangChain's callbacks, if there are any."""
    callbacks = config.get("callbacks")
    if not getattr(callbacks, "handlers", callbacks) or getattr(model, "streams_by_callbacks", False):
        return await model.complete(messages, tools, options), None
    from langchain_core.messages import AIMessageChunk
    from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, LLMResult
    from langchain_core.runnables.config import get_async_callback_manager_for_config

    manager = get_async_callback_manager_for_config(config)
    sent = [to_langchain(message) for message in messages]
    (run,) = await manager.on_chat_model_start({"name": model.name}, [sent])
    run_id = f"lc_run--{run.run_id}"  # the id that LangChain's own models give

    async def on_text(piece: str) -> None:
        await run.on_llm_new_token(piece, chunk=ChatGenerationChunk(message=AIMessageChunk(content=piece, id=run_id)))

    try:
        reply = await model.complete(messages, tools, replace(options, on_text=on_text))
    except BaseException as error:
        await run.on_llm_error(error)
        raise
    said = _with_facts(to_langchain(reply.message, {}), reply)
    said.id = run_id
    if reply.model:
        said.response_metadata.setdefault("model_name", reply.model)
    await run.on_llm_end(LLMResult(generations=[[ChatGeneration(message=said)]]))
    return reply, run_id


async def call_tools(
    toolbox: Toolbox, calls: Sequence[ToolCall], config: AgentConfig, made: int
) -> tuple[ToolResult, ...]:
    """Return results in the order of the calls. Refuse calls beyond a limit; `made`: number of earlier calls."""
    limits = [(config.max_calls_per_turn, "too_many_calls", config.max_calls_per_turn)]
    if not config.parallel_tool_calls:
        limits.append((1, "one_call_per_turn", 1))
    if config.call_limit is not None:
        limits.append((max(0, config.call_limit - made), "call_limit", config.call_limit))
    allowed, reason, limit = min(limits)
    accepted, refused = calls[:allowed], calls[allowed:]
    if toolbox.ordered or len(accepted) == 1:
        results = [await toolbox.call(call) for call in accepted]
    else:
        results = await asyncio.gather(*(toolbox.call(call) for call in accepted))
    said = config.render("call_refused.j2", reason=reason, limit=limit) if refused else ""
    return (*results, *(ToolResult(call, said, error=reason) for call in refused))


def conversation(prompt: Sequence[Message], turns: Sequence[Turn], config: AgentConfig) -> list[Message]:
    """Return the messages to send for the next turn, compacted by `config.compaction`.

    Compaction is the paper's open question (GraphWalk, section on limitations). `none` sends everything, `window`
    leaves out tool results of older turns, `summary` replaces older turns by the model's summary, `scratchpad` by the
    model's texts and thoughts. Calls without a result before a user message are answered as refused, since servers
    require a result for every call.
    """
    messages = list(prompt)
    scratchpad = config.compaction == "scratchpad"
    first_whole = max(0, len(turns) - config.compaction_window) if scratchpad or config.compaction == "window" else 0
    if scratchpad and any(turn.results for turn in turns):
        messages.append(_scratchpad([turn for turn in turns[:first_whole] if turn.next_user is None], config))
    for number, turn in enumerate(turns):
        if scratchpad and number < first_whole and turn.next_user is None:
            continue
        if turn.summary is not None:
            messages = [*prompt, summary_message(turn.summary, config)]
        messages.append(turn.message)
        for result in turn.results:
            content = result.content
            if number < first_whole:
                content = min(content, config.render("result_left_out.j2", rows=result.rows), key=len)
            messages.append(Message("tool", content, tool_call_id=result.call.id))
        if turn.next_user is not None:
            answered = {result.call.id for result in turn.results}
            if refused := [call.id for call in turn.message.tool_calls if call.id not in answered]:
                content = config.render("call_refused.j2", reason="not_made", limit=0)
                messages += [Message("tool", content, tool_call_id=call_id) for call_id in refused]
            messages.append(Message("user", turn.next_user))
    return messages


def answer_now(config: AgentConfig) -> Message:
    """Return the request for an answer, sent when a limit is reached."""
    return Message("user", config.render("answer_now.j2"))


def summary_message(summary: str, config: AgentConfig) -> Message:
    return Message("user", config.render("summary.j2", summary=summary))


def _scratchpad(turns: Sequence[Turn], config: AgentConfig) -> Message:
    """Return the request for notes, with those of the turns that are left out: texts and thoughts."""
    texts = ([turn.message.content, *(result.content for result in turn.results if result.is_note)] for turn in turns)
    notes = [text for text in chain.from_iterable(texts) if text]
    return Message("user", config.render("scratchpad.j2", notes=notes, window=config.compaction_window))


def _with_facts(message: "BaseMessage", facts: Reply | Turn) -> "AIMessage":
    """Set LangChain's fields for finish reason and usage unless the message has them."""
    said: AIMessage = message  # type: ignore[assignment]
    said.response_metadata.setdefault("finish_reason", facts.finish_reason)
    if facts.usage.total_tokens and said.usage_metadata is None:
        total, sent = facts.usage.total_tokens, facts.usage.input_tokens or 0
        said.usage_metadata = {"input_tokens": sent, "output_tokens": total - sent, "total_tokens": total}
    return said


def _conversation(messages: "Sequence[BaseMessage]") -> tuple[list[Message], list[Turn]]:
    """Return the messages before the model's first one, and its turns with their results."""
    starts = [number for number, message in enumerate(messages) if message.type == "ai"]
    prompt = [from_langchain(message) for message in messages[: starts[0] if starts else None]]
    return prompt, [_turn(messages[a], messages[a + 1 : b]) for a, b in pairwise([*starts, len(messages)])]


def _turn(message: "BaseMessage", after: "Sequence[BaseMessage]") -> Turn:
    """Return a turn from the model's message and the tool and user messages after it."""
    said = from_langchain(message)
    facts = (message.additional_kwargs.get(OURS) or {}).get("turn") or {}
    ours = next((one.additional_kwargs.get(OURS) or {} for one in after if one.type == "tool"), {})
    users = [from_langchain(one).content or "" for one in after if one.type != "tool"]
    return Turn(
        said,
        **{**facts, "usage": from_dict(Usage, facts.get("usage", {}))},
        results=tuple(_result(one, said) for one in after if one.type == "tool"),  # type: ignore[arg-type]
        next_user="\n\n".join(users) if users else None,
        elapsed_in_tools=ours.get("elapsed_in_tools"),
    )


def _result(message: "ToolMessage", asked: Message) -> ToolResult:
    known = next((call for call in asked.tool_calls if call.id == message.tool_call_id), None)
    call = known or ToolCall(message.tool_call_id, message.name or "", "")
    ours = message.additional_kwargs.get(OURS) or {}
    facts = ours.get("result") or {"error": None if message.status == "success" else "failed"}
    return ToolResult(call, from_langchain(message).content or "", **facts, data=message.artifact)
