"""Episodes as training chats, in the format of chat templates: those of runs, or of scripted agents by the million."""

import hashlib
import json
from asyncio import run as run_in_loop
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from graphwalk.agent.conversation import Conversation
from graphwalk.analysis.explained import explain_result
from graphwalk.config.agent import AgentConfig
from graphwalk.errors import ConfigError
from graphwalk.files.bulk import Row, usable_rows, write_rows
from graphwalk.files.writing import write_whole
from graphwalk.graphs.answers import parse_answer_json, parse_object
from graphwalk.models.chat import CallOptions, Message, ToolSpec
from graphwalk.models.protocols import ANY_TEXT, JsonProtocol, TextProtocol
from graphwalk.models.trajectory import ExitStatus, Trajectory, Turn
from graphwalk.runs.experiment import AnyExperiment
from graphwalk.runs.folder import RunFolder
from graphwalk.runs.plan import PlannedEpisode, PlannedGraph, episodes_about, make_plan
from graphwalk.runs.play import RunModels, play
from graphwalk.runs.record import EpisodeKey, Result, key_of
from graphwalk.runs.resolve import ResolvedExperiment, logged_experiment, per_episode, resolve
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.stores.open import OpenGraphs
from graphwalk.suites.loaded_graph import GraphInstance, LoadedGraph
from graphwalk.suites.setting import Setting
from graphwalk.terminal import progress_bar
from graphwalk.variables import Variables
from graphwalk.version import SCHEMA_VERSION, __version__

Line = dict[str, Any]
WireMessage = dict[str, Any]
ChatProtocol = Literal["native", "text", "json"]
"""How chats have calls: in the message's own field, or in its text."""


def chats_of(
    trajectory: Trajectory, tools: Sequence[ToolSpec], agent: AgentConfig, protocol: ChatProtocol = "native"
) -> Iterator[tuple[list[WireMessage], int]]:
    """Yield the messages of each chat, and the index of its first reply that is in no earlier chat.

    An episode usually becomes one chat. If its context was rewritten on the way (compaction, reminders of the text
    protocol), it becomes several, so that each reply is learnt in the context that it had.
    """
    writer = _writer(agent, protocol)
    options = CallOptions(parallel_tool_calls=agent.parallel_tool_calls, answer_schema=ANY_TEXT)
    trajectory = replace(trajectory, turns=tuple(_with_reasoning(turn) for turn in trajectory.turns))
    chat: list[WireMessage] = []
    first_new = 0
    for number, turn in enumerate(trajectory.turns):
        message = turn.message
        messages: Sequence[Message] = Conversation.before_turn(number, trajectory, agent).request().messages
        if writer is not None:
            messages, _, _ = writer.outgoing(messages, () if turn.forced else tools, options)
            message = writer.written(message, agent.parallel_tool_calls is not False)
        sent = [_message(one, protocol) for one in messages]
        # The chat continues if the model was sent all of it again, and perhaps results.
        if sent[: len(chat)] != chat:
            yield chat, first_new
            chat = []
        if not chat:
            # [system, user | reply]: 2. If the chat begins later, the replies before it were learnt in the one before.
            first_new = len(sent)
        chat = [*sent, _message(message, protocol)]
    if chat:
        yield chat, first_new


def _writer(agent: AgentConfig, protocol: ChatProtocol) -> TextProtocol | None:
    """Return the protocol that writes calls into texts; None for native calls."""
    if protocol == "native":
        return None
    if protocol == "text":
        return TextProtocol(agent.texts)
    return JsonProtocol(agent.texts, agent.max_calls_per_turn)


def _with_reasoning(turn: Turn) -> Turn:
    """Return the turn with the reasoning that the provider shows before the text of its reply."""
    parts = (turn.message.reasoning, turn.message.content)
    content = "\n\n".join(part for part in parts if part) or None
    return replace(turn, message=replace(turn.message, content=content, reasoning=None))


def _message(message: Message, protocol: ChatProtocol) -> WireMessage:
    """Return a message as chat templates read it: the arguments of a call are an object, not its text."""
    wire = message.as_openai()
    wire["content"] = message.content or ""
    if protocol != "native":
        return {"role": message.role, "content": wire["content"]}
    for call, sent in zip(message.tool_calls, wire.get("tool_calls", ()), strict=True):
        sent["function"]["arguments"] = parse_object(call.arguments)
    return wire


@dataclass(frozen=True)
class TraceEpisodes:
    """Episodes of one experiment, and their tools by digest of the graph and setting."""

    experiment: ResolvedExperiment
    results: Callable[[], Iterable[Result]]
    tools: Mapping[tuple[str, Setting], Sequence[ToolSpec]]
    manifest: Mapping[str, Any] = field(default_factory=dict)
    """Manifest of their run folder, if they have one."""


async def read_run(folder: RunFolder, variables: Variables) -> TraceEpisodes:
    """Open a run folder for reading, and plan it again in memory: descriptions of tools depend on the schema.

    Raise RunLogError or ConfigError if the folder is damaged or of an incompatible version.
    """
    experiment = logged_experiment(folder, variables, "embedded")
    async with OpenGraphs(variables) as graphs:
        plan = await make_plan(experiment, graphs, lambda number: None)
        tools = await _tools_of(plan.episodes, experiment)

    def results() -> Iterator[Result]:
        """Yield the episodes in the order of the log; of a repeated episode, the last one."""
        # The log is read twice, so that only one result is in memory at a time.
        last: dict[EpisodeKey, int] = {}
        for number, record in enumerate(folder.records()):
            last[key_of(record)] = number
        for number, record in enumerate(folder.records()):
            if last[key_of(record)] == number:
                yield Result.from_dict(record)

    return TraceEpisodes(experiment, results, tools, folder.read_manifest())


async def _tools_of(
    episodes: Iterable[PlannedEpisode], experiment: ResolvedExperiment
) -> dict[tuple[str, Setting], Sequence[ToolSpec]]:
    """Return the tools by digest of the graph and setting."""
    tools: dict[tuple[str, Setting], Sequence[ToolSpec]] = {}
    for planned in episodes:
        place = (planned.task.graph_digest, planned.key.setting)
        if place not in tools:
            toolbox = (await planned.prompt(experiment)).toolbox
            tools[place] = () if toolbox is None else tuple(toolbox.specs)
    return tools


@dataclass(frozen=True)
class TraceOptions:
    """Selection and format of episodes.

    `correct`: only correct answers. `grounded`: only answers fully supported by tool results. `models`: only these.
    """

    correct: bool = False
    grounded: bool = False
    models: tuple[str, ...] = ()
    protocol: ChatProtocol = "native"


@dataclass
class Counts:
    """Counts of selected and rejected episodes, and of lines by kind."""

    episodes: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    lines: Counter[str] = field(default_factory=Counter)
    """By suite and kind: "questions/node_count"."""


def export_traces(
    runs: Sequence[TraceEpisodes], out: Path, options: TraceOptions, not_in: Path | None = None
) -> dict[str, Any]:
    """Write FILE.jsonl and FILE.manifest.json, and return the manifest.

    Raise ConfigError if no episode is selected, one has a graph or a chat of the trace file `not_in`, or the file
    cannot be written.
    """
    counts = Counts()

    def lines() -> Iterator[Line]:
        for run in runs:
            yield from lines_of(run, options, counts)
        if not counts.lines:
            why = ", ".join(f"{number} {reason}" for reason, number in counts.left_out.items()) or "the runs are empty"
            raise ConfigError(f"no episode was selected: {why}", hint="graphwalk run … --model scripted/expert")

    sources = []
    for run in runs:
        source = {name: run.manifest[name] for name in ("name", "run_id", "graphwalk_version")}
        source["seed"] = run.experiment.config.seed
        source["tasks"] = run.manifest["fingerprint"]["tasks"]
        sources.append(source)

    def facts() -> dict[str, Any]:
        return {
            "kinds": dict(sorted(counts.lines.items())),
            "episodes": counts.episodes,
            "left_out": dict(counts.left_out),
            "options": asdict(options),
            "runs": sources,
        }

    return _write(_lines_not_in(lines(), not_in), out, facts)


def manifest_path(out: Path) -> Path:
    """Return the path of the manifest beside a file of chats."""
    return out.with_name(out.name.removesuffix(".jsonl") + ".manifest.json")


def _write(lines: Iterable[Row], out: Path, facts: Callable[[], Mapping[str, Any]]) -> dict[str, Any]:
    """Write the lines and their manifest, with `facts` once all lines are written. Return the manifest."""
    number = write_rows(lines, out)
    with out.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    manifest = {"schema_version": SCHEMA_VERSION, "file": out.name, "sha256": digest, "lines": number, **facts()}
    write_whole(manifest_path(out), [json.dumps(manifest, indent=2, ensure_ascii=False), "\n"])
    return manifest


def lines_of(run: TraceEpisodes, options: TraceOptions, counts: Counts) -> Iterator[Line]:
    """Yield the lines of selected episodes in order, and update `counts`."""
    for result in run.results():
        counts.episodes += 1
        reason = _left_out(result, options)
        if reason is not None:
            counts.left_out[reason] += 1
            continue
        for line in _of_episode(run, result, options):
            counts.lines[f"{line['suite']}/{line['template']}"] += 1
            yield line


def _left_out(result: Result, options: TraceOptions) -> str | None:
    """Return the reason to reject an episode, or None."""
    score = result.score
    if options.models and result.key.model not in options.models:
        return "of other models"
    if score is None or not (result.exit_status is ExitStatus.ANSWERED or result.exit_status.forced):
        return "without an answer"
    if options.correct and not score["correct"]:
        return "not correct"
    if options.grounded and explain_result(result)["grounded"] != 1:
        return "not grounded"
    if options.protocol == "native" and not all(_has_object_calls(turn) for turn in result.trajectory.turns):
        return "arguments of a call are no JSON object"
    return None


def _has_object_calls(turn: Turn) -> bool:
    """Tell whether a chat template can write the calls of a turn: their arguments are an object there."""
    arguments = [call.arguments or "{}" for call in turn.message.tool_calls]
    return all(isinstance(parse_answer_json(text), dict) for text in arguments)


def _of_episode(run: TraceEpisodes, result: Result, options: TraceOptions) -> Iterator[Line]:
    agent = run.experiment.of(result.key.setting).config.agent
    tools = run.tools[result.task["graph_digest"], result.key.setting]
    offered = [tool.as_openai() for tool in tools] if options.protocol == "native" else []
    for part, (messages, first_new) in enumerate(chats_of(result.trajectory, tools, agent, options.protocol)):
        yield {
            "messages": messages,
            "tools": offered,
            "task_id": result.key.task_id,
            "suite": result.task["suite"],
            "template": result.task["template"],
            "setting": str(result.key.setting),
            "model": result.key.model,
            "repeat": result.key.repeat,
            "part": part,
            "first_new": first_new,
            "graph_digest": result.task["graph_digest"],
            "correct": bool(result.score and result.score["correct"]),
        }


def write_traces(config: AnyExperiment, options: TraceOptions, out: Path, not_in: Path | None = None) -> int:
    """Play scripted agents, graph by graph, and write FILE.jsonl and its manifest. Return the number of rows.

    Raise ConfigError if the experiment names a language model, or for a graph or a chat of the trace file `not_in`.
    """
    called = [model for model in config.models if not per_episode(model)]
    if called or not config.models:
        raise ConfigError(
            f"{', '.join(called) or 'no model'} cannot generate traces: not a scripted agent",
            hint="--model scripted/expert; for a language model use  graphwalk run  and  graphwalk export traces",
        )
    experiment = resolve(config, Variables(), keys=False)
    inputs = {
        "graphwalk_version": __version__,
        "experiment": config.model_dump(mode="json"),
        "options": asdict(options),
    }
    with progress_bar("graphs", config.suite.graph_count) as done:
        graphs = done.each(experiment.suite.graphs(config.suite, config.seed))
        lines = _lines_not_in(_played_lines(experiment, graphs, options), not_in)
        manifest = _write(lines, out, lambda: inputs)
    number: int = manifest["lines"]
    return number


def _played_lines(
    experiment: ResolvedExperiment, graphs: Iterable[GraphInstance], options: TraceOptions
) -> Iterator[Line]:
    for instance in graphs:
        yield from lines_of(run_in_loop(_play(experiment, instance)), options, Counts())


async def _play(experiment: ResolvedExperiment, instance: GraphInstance) -> TraceEpisodes:
    """Play the episodes about one graph."""
    suite, config = experiment.suite, experiment.config
    database = EmbeddedDatabase()
    try:
        store = None if instance.graph is None else await database.load(instance.graph)
        about = LoadedGraph(instance, store)
        asked, left_out, _ = await suite.tasks(about, config.suite, config.seed, experiment.config.agent)
        graph = PlannedGraph(about, left_out)
        episodes: list[PlannedEpisode] = []
        for task in asked:
            episodes += episodes_about(task, graph, experiment)
        tools = await _tools_of(episodes, experiment)
        async with RunModels(experiment) as players:
            results = [await play(planned, players, experiment) for planned in episodes]
    finally:
        await database.close()
    return TraceEpisodes(experiment, lambda: results, tools)


def _lines_not_in(lines: Iterable[Line], other: Path | None) -> Iterator[Line]:
    """Yield the lines. Raise ConfigError for the first one whose graph or chat is in the trace file `other`."""
    row_of: dict[tuple[str, str], int] = {}
    """("graph", digest) or ("chat", digest) → the first row of the other file that has it."""

    def remember(row: Row, number: int) -> bool:
        for content in _contents(row):
            row_of.setdefault(content, number)
        return True

    if other is not None:
        # Digests are kept, not rows: a file may hold millions.
        for _ in usable_rows(other, ("messages", "graph_digest"), remember):
            pass
    for line in lines:
        for content in _contents(line):
            if content in row_of:
                kind, _ = content
                raise ConfigError(
                    f"{line['task_id']} has a {kind} of {other}:{row_of[content]}",
                    hint="use different seeds; for questions `names: train` in one and `names: held_out` in the other",
                )
        yield line


def _contents(line: Row) -> tuple[tuple[str, str], tuple[str, str]]:
    """Return what two splits must not share: ("graph", digest) and ("chat", digest)."""
    messages = json.dumps(line["messages"], sort_keys=True)
    return ("graph", line["graph_digest"]), ("chat", hashlib.sha256(messages.encode()).hexdigest())
