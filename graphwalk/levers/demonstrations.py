"""Walks of the expert on other small graphs, as messages before the question (`agent.demonstrations`)."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from itertools import count

from graphwalk.config.agent import AgentConfig
from graphwalk.levers.answer_tool import AnswersByTool
from graphwalk.models.base import Model
from graphwalk.seeds import seed_for, stdlib_random
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.loaded_graph import LoadedGraph
from graphwalk.suites.registry import suite_named
from graphwalk.suites.task import Prompt, Task
from graphwalk.tools.toolbox import begin_turn
from graphwalk.types.chat import CallOptions, Message

Start = Callable[[Task, LoadedGraph, str], Awaitable[Prompt]]
"""Task, graph, setting → the start of an episode with the other levers of the agent."""
_READING, _WALKING = "no_tools", "tools"
_PLAYERS = ("expert", "cypher")


async def demonstrations(
    prompt: Prompt, task: Task, about: LoadedGraph, setting: str, agent: AgentConfig, start: Start
) -> Prompt:
    """Return the prompt with demonstrations behind its system messages, the same for all tasks of a kind."""
    key = ("demonstrations", setting, agent, task.template)
    if not (walks_shown := about.once(key, list[Message])):
        instructions = {line for one in prompt.messages for line in (one.content or "").splitlines()}
        walks = await _walks(task, about, setting, agent, start, set() if setting == _READING else instructions)
        walks_shown[:] = walks_shown or _renumbered(walks)
    system = [message for message in prompt.messages if message.role == "system"]
    return replace(prompt, messages=(*system, *walks_shown, *prompt.messages[len(system) :]))


async def _walks(
    task: Task, about: LoadedGraph, setting: str, agent: AgentConfig, start: Start, repeated: set[str]
) -> list[Message]:
    """Return the messages of the walks; lines of their system prompts in `repeated` are left out."""
    messages = list[Message]()
    for number, (shown, small) in enumerate(await _tasks(task, about, agent)):
        if number == agent.demonstrations:
            break
        begun = await start(shown, small, setting)
        texts = [message.content or "" for message in begun.messages]
        if repeated:
            *system, question = texts
            lines = (line for text in system for line in text.splitlines() if line.strip() and line not in repeated)
            texts = ["\n".join(lines), question]
        messages.append(Message("user", agent.texts.message("demonstration", text="\n\n".join(texts))))
        if setting == _READING:
            *_, last = await _walk(await start(shown, small, _WALKING), shown, small, _WALKING, agent)
            messages.append(Message("assistant", last.content))
        else:
            messages += await _walk(begun, shown, small, setting, agent)
    return messages


async def _tasks(task: Task, about: LoadedGraph, agent: AgentConfig) -> list[tuple[Task, LoadedGraph]]:
    """Return one task on each of several small graphs, those of the wanted kinds first."""
    suite, pool = suite_named(task.suite), about.once("small graphs", list[tuple[LoadedGraph, Sequence[Task]]])
    if not pool:
        config, seed = suite.config_type(**suite.small_graphs() or {}), seed_for(task.seed, "demonstrations")
        graphs = list[tuple[LoadedGraph, Sequence[Task]]]()
        for instance in suite.graphs(config, seed):
            assert instance.graph is not None
            small = LoadedGraph(instance, await EmbeddedDatabase().load(instance.graph))
            if instance.digest != about.instance.digest:
                graphs.append((small, (await suite.tasks(small, config, seed, AgentConfig())).asked))
        pool[:] = pool or graphs
    wanted, others = list[tuple[Task, LoadedGraph]](), list[tuple[Task, LoadedGraph]]()
    for number, (small, tasks) in enumerate(pool):
        of_kind = [one for one in tasks if (one.template == task.template) == agent.same_kinds]
        (wanted if of_kind else others).append(((of_kind or tasks)[number % len(of_kind or tasks)], small))
    return [*wanted, *others]


async def _walk(start: Prompt, task: Task, about: LoadedGraph, setting: str, agent: AgentConfig) -> list[Message]:
    """Play the expert, and return its calls with their results, and its answer."""
    suite, schema = suite_named(task.suite), await about.whole_schema()
    player = next(suite.players[name] for name in _PLAYERS if setting in suite.players[name].settings)
    random = stdlib_random(task.seed, "demonstrations", task.task_id)
    model: Model = AnswersByTool(player.model("scripted/expert", task, setting, schema, random), task)
    options, messages = CallOptions(parallel_tool_calls=agent.parallel_tool_calls), list(start.messages)
    assert start.toolbox is not None
    for turn in count(1):
        reply = await model.complete(messages, start.toolbox.specs, options)
        begin_turn(start.toolbox, turn)
        results = [await start.toolbox.call(call) for call in reply.message.tool_calls]
        messages += [reply.message, *(Message("tool", one.content, tool_call_id=one.call.id) for one in results)]
        if not results or results[-1].final:
            break
    return messages[len(start.messages) :]


def _renumbered(messages: Sequence[Message]) -> list[Message]:
    """Return the messages with ids of calls that no episode has; some servers take nine letters and digits only."""
    ids: dict[str, str] = {}
    renumbered, number = list[Message](), 0
    for message in messages:
        for call in message.tool_calls:
            number += 1
            ids[call.id] = f"demo{number:05}"
        calls = tuple(replace(call, id=ids[call.id]) for call in message.tool_calls)
        answers = None if message.tool_call_id is None else ids[message.tool_call_id]
        renumbered.append(replace(message, tool_calls=calls, tool_call_id=answers))
    return renumbered
