"""Episodes as training chats, in the format of chat templates: those of runs, or of scripted agents by the million."""

import hashlib
import json
from asyncio import run as run_in_loop
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

from graphwalk.agent.conversation import Conversation
from graphwalk.analysis.explained import explain_result
from graphwalk.config.agent import AgentConfig
from graphwalk.errors import ConfigError
from graphwalk.files.bulk import Row, Rows, usable_rows, write_rows
from graphwalk.files.writing import write_whole
from graphwalk.graphs.answers import parse_json, parse_object
from graphwalk.models.chat import CallOptions, Message, ToolSpec
from graphwalk.models.protocols import ANY_TEXT, JsonProtocol, TextProtocol
from graphwalk.models.trajectory import ExitStatus, Trajectory, Turn
from graphwalk.runs.experiment import AnyExperiment, load_experiment
from graphwalk.runs.folder import RunFolder
from graphwalk.runs.plan import GraphSources, PlannedEpisode, PlannedGraph, episodes_about, make_plan
from graphwalk.runs.play import RunModels, play
from graphwalk.runs.record import Result, key_of
from graphwalk.runs.resolve import Experiment, logged_experiment, per_episode, resolve
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.loaded_graph import GraphInstance, LoadedGraph
from graphwalk.suites.setting import Setting
from graphwalk.suites.suite import suite_named
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

    These are the fewest chats that contain every reply in its context: one, unless the context was rewritten
    (compaction, reminders of the text protocol).
    """
    writer: TextProtocol | None = None
    if protocol != "native":
        writer = (
            TextProtocol(agent.texts) if protocol == "text" else JsonProtocol(agent.texts, agent.max_calls_per_turn)
        )
    options = CallOptions(parallel_tool_calls=agent.parallel_tool_calls, answer_schema=ANY_TEXT)
    trajectory = replace(trajectory, turns=tuple(map(_with_reasoning, trajectory.turns)))
    waiting: list[WireMessage] = []
    first_new = 0
    for number, turn in enumerate(trajectory.turns):
        message = turn.message
        messages: Sequence[Message] = Conversation.before_turn(number, trajectory, agent).request().messages
        if writer is not None:
            messages, _, _ = writer.outgoing(messages, () if turn.forced else tools, options)
            message = writer.written(message, agent.parallel_tool_calls is not False)
        sent = [_message(one, protocol) for one in messages]
        if sent[: len(waiting)] != waiting:
            yield waiting, first_new
            waiting = []
        first_new = first_new if waiting else len(sent)
        waiting = [*sent, _message(message, protocol)]
    if waiting:
        yield waiting, first_new


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

    experiment: Experiment
    results: Callable[[], Iterable[Result]]
    tools: Mapping[tuple[str, Setting], Sequence[ToolSpec]]
    manifest: Mapping[str, Any] = field(default_factory=dict)
    """Manifest of their run folder, if they have one."""


async def read_run(folder: RunFolder, variables: Variables) -> TraceEpisodes:
    """Open a run folder for reading, and plan it again in memory: descriptions of tools depend on the schema.

    Raise RunLogError or ConfigError if the folder is damaged or of an incompatible version.
    """
    experiment = logged_experiment(folder, variables, "embedded")
    async with GraphSources() as sources:
        plan = await make_plan(experiment, sources, lambda number: None)
        tools = await _tools_of(plan.episodes, experiment)

    def results() -> Iterator[Result]:
        """Yield the episodes in the order of the log; of a repeated episode, the last one."""
        last = {key_of(record): number for number, record in enumerate(folder.records())}
        for number, record in enumerate(folder.records()):
            if last[key_of(record)] == number:
                yield Result.from_dict(record)

    return TraceEpisodes(experiment, results, tools, folder.read_manifest())


async def _tools_of(
    episodes: Iterable[PlannedEpisode], experiment: Experiment
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


def export_traces(runs: Sequence[TraceEpisodes], out: Path, options: TraceOptions) -> dict[str, Any]:
    """Write FILE.jsonl and FILE.manifest.json, and return the manifest.

    Raise ConfigError if no episode is selected, or the file cannot be written.
    """
    counts = Counts()

    def lines() -> Iterator[Line]:
        for run in runs:
            yield from lines_of(run, options, counts)
        if not counts.lines:
            why = ", ".join(f"{number} {reason}" for reason, number in counts.left_out.items()) or "the runs are empty"
            raise ConfigError(f"no episode was selected: {why}", hint="graphwalk run … --model scripted/expert")

    sources = [
        {name: run.manifest[name] for name in ("name", "run_id", "graphwalk_version")}
        | {"seed": run.experiment.config.seed, "tasks": run.manifest["fingerprint"]["tasks"]}
        for run in runs
    ]
    return _write(
        lines(),
        out,
        lambda: {
            "kinds": dict(sorted(counts.lines.items())),
            "episodes": counts.episodes,
            "left_out": dict(counts.left_out),
            "options": asdict(options),
            "runs": sources,
        },
    )


def manifest_path(out: Path) -> Path:
    """Return the path of the manifest beside a file of chats."""
    return out.with_name(out.name.removesuffix(".jsonl") + ".manifest.json")


def _write(lines: Iterable[Row], out: Path, facts: Callable[[], Mapping[str, Any]]) -> dict[str, Any]:
    """Write the lines and their manifest, with `facts` once all lines are written. Return the manifest."""
    number = write_rows(lines, out, COLUMNS)
    with out.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    manifest = {"schema_version": SCHEMA_VERSION, "file": out.name, "sha256": digest, "lines": number, **facts()}
    write_whole(manifest_path(out), [json.dumps(manifest, indent=2, ensure_ascii=False), "\n"])
    return manifest


def lines_of(run: TraceEpisodes, options: TraceOptions, counts: Counts) -> Iterator[Line]:
    """Yield the lines of selected episodes in order, and update `counts`."""
    for result in run.results():
        counts.episodes += 1
        if (reason := _left_out(result, options)) is not None:
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
    calls = (call for turn in result.trajectory.turns for call in turn.message.tool_calls)
    if options.protocol == "native" and not all(isinstance(parse_json(one.arguments or "{}"), dict) for one in calls):
        return "arguments of a call are no JSON object"
    return None


def _of_episode(run: TraceEpisodes, result: Result, options: TraceOptions) -> Iterator[Line]:
    agent = run.experiment.of(result.key.setting).agent
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


COLUMNS: dict[str, type] = {
    **dict.fromkeys(("messages", "tools", "task_id", "suite", "template", "setting", "model"), str),
    **dict.fromkeys(("repeat", "part", "first_new"), int),
    "graph_digest": str,
    "correct": bool,
}


def write_traces(config: AnyExperiment, options: TraceOptions, out: Path, workers: int | None = None) -> int:
    """Play scripted agents in `workers` processes; write FILE.jsonl or FILE.parquet and its manifest. Return the rows.

    Raise ConfigError if the experiment names a language model.
    """
    called = [model for model in config.models if not per_episode(model)]
    if called or not config.models:
        raise ConfigError(
            f"{', '.join(called) or 'no model'} cannot generate traces: not a scripted agent",
            hint="--model scripted/expert; for a language model use  graphwalk run  and  graphwalk export traces",
        )
    data = config.model_dump(mode="json")
    graphs = suite_named(config.suite.name).graphs(config.suite, config.seed)
    rows = Rows(partial(_lines, data, options), graphs, name="graphs", total=config.suite.graph_count)
    inputs = {"graphwalk_version": __version__, "experiment": data, "options": asdict(options)}
    number: int = _write(rows.in_order(workers), out, lambda: inputs)["lines"]
    return number


def _lines(experiment: dict[str, Any], options: TraceOptions, graphs: Sequence[GraphInstance]) -> list[Line]:
    resolved = resolve(load_experiment(experiment), Variables(), keys=False)
    return run_in_loop(_chats(resolved, graphs, options))


async def _chats(experiment: Experiment, graphs: Sequence[GraphInstance], options: TraceOptions) -> list[Line]:
    lines: list[Line] = []
    async with RunModels(experiment) as players:
        for instance in graphs:
            lines += lines_of(await _play(experiment, players, instance), options, Counts())
    return lines


async def _play(experiment: Experiment, players: RunModels, instance: GraphInstance) -> TraceEpisodes:
    """Play the episodes about one graph."""
    suite, config = experiment.suite, experiment.config
    database = EmbeddedDatabase()
    try:
        store = None if instance.graph is None else await database.load(instance.graph)
        about = LoadedGraph(instance, store)
        asked, left_out, _ = await suite.tasks(about, config.suite, config.seed, experiment.agent)
        graph = PlannedGraph(about, left_out)
        episodes = [planned for task in asked for planned in episodes_about(task, graph, experiment)]
        tools = await _tools_of(episodes, experiment)
        results = [await play(planned, players, experiment) for planned in episodes]
    finally:
        await database.close()
    return TraceEpisodes(experiment, lambda: results, tools)


def check_splits(paths: Sequence[Path]) -> list[Counter[str]]:
    """Return the numbers of chats and graphs of each trace file. Raise ConfigError if two files share one."""
    splits = [_contents(path) for path in paths]
    for one, other in combinations(splits, 2):
        if shared := sorted((one[item], other[item], item[0]) for item in one.keys() & other.keys()):
            first, second, thing = shared[0]
            raise ConfigError(
                f"{first} and {second} share a {thing}",
                hint="use different seeds; for questions `names: train` in one and `names: held_out` in the other",
            )
    return [Counter(thing for thing, _ in split) for split in splits]


def _contents(path: Path) -> dict[tuple[str, str], str]:
    """Return ("chat" or "graph", digest) → file:line where it is first."""
    places: dict[tuple[str, str], str] = {}

    def read(row: Row, number: int) -> str:
        digest = hashlib.sha256(json.dumps(row["messages"], sort_keys=True).encode()).hexdigest()
        places.setdefault(("chat", digest), f"{path}:{number}")
        return places.setdefault(("graph", row["graph_digest"]), f"{path}:{number}")

    for _ in usable_rows(path, ("messages", "graph_digest"), read):
        pass
    return places
