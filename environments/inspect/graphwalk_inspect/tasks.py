"""Tasks of inspect_ai: prompts, tools and scores of GraphWalk, models, loop and logs of inspect_ai."""

import atexit
import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

from inspect_ai import Task, task
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.dataset import Sample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    GenerateConfig,
    execute_tools,
)
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, mean, metric, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import Tool, ToolDef, ToolParams

from graphwalk.agent.loop import call_tool
from graphwalk.background import await_in_background, run_in_background
from graphwalk.errors import GraphwalkError
from graphwalk.models.chat import Message, Reply, ToolCall, ToolSpec
from graphwalk.models.trajectory import ToolResult
from graphwalk.training.environment import OpenEpisode, TaskEnvironment

Text = str | None
Int = int | None
_MESSAGES = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}
_MEASURES = ("correct", "f1", "grounded")
_REFUSED = "refused"
"""Field of the metadata of a tool message: why the rules of a run refused its call."""
_LACKS = ("tool_format",)
"""Fields of `agent` that inspect_ai has no counterpart for."""


def _task_of(suite: str, experiment: str, about: str) -> Callable[..., Task]:
    def of_suite(
        experiment: str = experiment, setting: Text = None, seed: Int = None, graphs: Int = None, limit: Int = None
    ) -> Task:
        return _task(experiment=experiment, setting=setting, seed=seed, graphs=graphs, limit=limit)

    of_suite.__doc__ = about
    return task(name=suite)(of_suite)


questions = _task_of("questions", "paper-table-2", "Questions about generated graphs.")
mazes = _task_of("mazes", "paper-table-1", "Ways through mazes.")
magma = _task_of("magma", "magma", "Graph algorithms, step by step.")
graphwalks = _task_of("graphwalks", "graphwalks", "The benchmark GraphWalks.")
own_questions = _task_of("own_questions", "own-questions", "Your own questions about your own graph.")


def _task(**arguments: Any) -> Task:
    """Return the task of an experiment in one setting, by default its first one."""
    try:
        stage, numbers = _stage(**arguments)
        episodes = [run_in_background(stage.begin(number)) for number in numbers.values()]
    except GraphwalkError as error:
        raise PrerequisiteError(str(error)) from error
    options = stage.experiment.options
    config = GenerateConfig(
        temperature=options.temperature,
        top_p=options.top_p,
        max_tokens=options.max_output_tokens,
        reasoning_effort=options.reasoning_effort,
        seed=options.seed,
        parallel_tool_calls=options.parallel_tool_calls if episodes[0].tools else None,
        extra_body=dict(options.extra) or None,
    )
    return Task(
        dataset=[_sample(episode) for episode in episodes],
        setup=tools_of_graph(**arguments),
        solver=walk(**arguments),
        scorer=graphwalk(**arguments),
        config=config,
    )


def _sample(episode: OpenEpisode) -> Sample:
    task, setting = episode.task, str(episode.planned.key.setting)
    return Sample(
        input=[_chat_message(message) for message in episode.prompt],
        target=json.dumps(task.target),
        id=task.task_id,
        metadata={"graph": task.graph_digest, "template": task.template, "setting": setting},
    )


def _chat_message(message: Message) -> ChatMessage:
    """Return a message of the prompt or of the user."""
    return _MESSAGES[message.role](content=message.content or "")


@solver
def tools_of_graph(**arguments: Any) -> Solver:
    """Give the model the tools of its graph; also before a solver that replaces `walk`."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        episode = await _begin(arguments, state)
        state.tools.extend(_tool(spec, episode, state, []) for spec in episode.tools)
        return state

    return solve


def _tool(spec: ToolSpec, episode: OpenEpisode, state: TaskState, results: list[ToolResult]) -> Tool:
    """Return a tool of an episode, which adds each of its results to `results`."""
    toolbox: Any = episode.conversation.prompt.toolbox

    async def execute(**arguments: Any) -> str:
        call = ToolCall("", spec.name, json.dumps(arguments))
        result = await await_in_background(call_tool(toolbox, call, episode.agent))
        results.append(result)
        state.completed = state.completed or result.final
        return result.content

    schema = ToolParams(**spec.parameters)
    # 0: results are as long as in a run.
    return ToolDef(execute, spec.name, spec.description, schema, not toolbox.ordered, max_output=0).as_tool()


@solver
def walk(**arguments: Any) -> Solver:
    """Let the model call tools until it answers or reaches a limit of the experiment, by the rules of a run."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        episode = await _begin(arguments, state)
        while not (episode.ended or state.completed):
            results: list[ToolResult] = []
            _prepare(state, episode, results)
            state = await generate(state, tool_calls="none")
            if state.completed:  # by a limit of inspect_ai
                break
            reply = Reply(_message(state.output.message), finish_reason=state.output.stop_reason)
            episode.conversation = episode.conversation.replied(reply)
            if episode.conversation.next_step == "tools":
                await _call_tools(state, episode, results)
        return state

    return solve


def _prepare(state: TaskState, episode: OpenEpisode, results: list[ToolResult]) -> None:
    """Put the next request of a conversation into the state, which has all messages but those of the user.

    The tools in it add what they return to `results`.
    """
    request = episode.conversation.request()
    for place, message in enumerate(request.messages):
        if place == len(state.messages):  # a nudge, a follow-up, or the request for the answer
            state.messages.append(_chat_message(message))
        elif message.role == "tool" and message.content != state.messages[place].text:  # left out by `compaction`
            state.messages[place] = state.messages[place].model_copy(update={"content": message.content})
    state.tools = [_tool(spec, episode, state, results) for spec in request.tools]
    state.tool_choice = "any" if request.options.tool_choice == "required" else None


async def _call_tools(state: TaskState, episode: OpenEpisode, results: list[ToolResult]) -> None:
    """Let inspect_ai make the calls that the rules admit, and add the refusals of the others."""
    asked = state.output.message
    admitted = {call.id: call for call in episode.conversation.calls}
    messages: list[ChatMessage] = []
    if admitted:
        calls = [call for call in asked.tool_calls or () if call.id in admitted]
        history = [*state.messages[:-1], asked.model_copy(update={"tool_calls": calls})]
        messages = (await execute_tools(history, state.tools)).messages
    returned: list[ToolResult] = []
    for message in messages:
        if isinstance(message, ChatMessageTool) and message.tool_call_id in admitted:
            returned.append(_result(message, admitted[message.tool_call_id], results))
    episode.conversation = episode.conversation.returned(returned)
    for refused in episode.conversation.turns[-1].results[len(returned) :]:
        call, reason = refused.call, {_REFUSED: refused.error}
        messages.append(
            ChatMessageTool(content=refused.content, tool_call_id=call.id, function=call.name, metadata=reason)
        )
    state.messages.extend(messages)


def _result(message: ChatMessageTool, call: ToolCall, results: list[ToolResult]) -> ToolResult:
    """Return the result of a tool that is in a message, with its rows; a call that inspect_ai refused has none."""
    for result in results:
        if result.call.name == call.name and result.content == message.text:
            return replace(result, call=call)
    return ToolResult(call, message.text, error=None if message.error is None else message.error.type)


@metric
def graph_stderr() -> Metric:
    """Return the standard error with graphs as clusters, or over the questions if all are on one graph."""

    def compute(scores: list[SampleScore]) -> Value:
        graphs = {score.sample_metadata["graph"] for score in scores if score.sample_metadata}
        return (stderr(cluster="graph") if len(graphs) > 1 else stderr())(scores)

    return compute


@scorer(metrics={name: [mean(), graph_stderr()] for name in _MEASURES})
def graphwalk(**arguments: Any) -> Scorer:
    """Score a conversation as a run does; the metadata of the score has all its fields."""

    async def score(state: TaskState, target: Target) -> Score:
        episode = await _begin(arguments, state)
        await await_in_background(_replay(episode, state))
        answer, measured = episode.judge()
        value = {name: float("nan" if measured[name] is None else measured[name]) for name in _MEASURES}
        return Score(value=value, answer=json.dumps(answer), metadata=measured)

    return score


async def _replay(episode: OpenEpisode, state: TaskState) -> None:
    """Call the tools once more: a conversation has their texts alone. Calls that were refused stay refused."""
    refused = set[str | None]()
    for result in state.messages:
        if isinstance(result, ChatMessageTool) and (result.error is not None or _REFUSED in (result.metadata or {})):
            refused.add(result.tool_call_id)
    for message in map(_message, _replies(state)):
        if message.tool_calls and episode.tools and not episode.must_answer:
            calls = [(call.name, "" if call.id in refused else call.arguments) for call in message.tool_calls]
            await episode.call(*calls, said=message.content)
        elif not episode.ended:
            episode.reply(message.content or "")
    if not episode.ended and episode.tools:  # other solvers have the answer in the output
        episode.reply(state.output.completion)


def _replies(state: TaskState) -> list[ChatMessageAssistant]:
    """Return the messages of the model."""
    return [m for m in state.messages if isinstance(m, ChatMessageAssistant) and m.source == "generate"]


def _message(message: ChatMessageAssistant) -> Message:
    calls = (ToolCall(call.id, call.function, json.dumps(call.arguments)) for call in message.tool_calls or ())
    return Message("assistant", message.text, tuple(calls))


@cache
def _stage(
    experiment: str, setting: Text, seed: Int, graphs: Int, limit: Int
) -> tuple[TaskEnvironment, dict[str, int]]:
    """Open the tasks once per process, and number them by id. Repeats are the epochs of inspect_ai."""
    # The model is not opened. A scripted agent could not play every setting.
    flags = {"settings": setting and [setting], "seed": seed, "limit": limit, "repeats": 1, "models": ["openai/any"]}
    chosen = {name: value for name, value in flags.items() if value is not None}
    stage = run_in_background(TaskEnvironment.open(experiment, graphs=graphs, lacks=_LACKS, **chosen))
    atexit.register(lambda: run_in_background(stage.close()))
    keys = [planned.key for planned in stage.planned]
    return stage, {key.task_id: number for number, key in enumerate(keys) if key.setting == keys[0].setting}


async def _begin(arguments: dict[str, Any], state: TaskState) -> OpenEpisode:
    stage, numbers = _stage(**arguments)
    return await await_in_background(stage.begin(numbers[str(state.sample_id)]))
