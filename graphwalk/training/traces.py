"""Episodes as training chats, in the format of chat templates."""

import json
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Protocol

from graphwalk.agent import answer_now, conversation, summary_message
from graphwalk.config.agent import AgentConfig
from graphwalk.errors import ConfigError
from graphwalk.evaluation.splits import manifest_path, write_chats, write_manifest
from graphwalk.models.text_protocol import TextProtocol, written_out
from graphwalk.runs.experiment import Experiment, kept_experiment
from graphwalk.runs.graph_sources import GraphSources
from graphwalk.runs.result import Result, key_of
from graphwalk.runs.run_folder import RunFolder
from graphwalk.seeds import stdlib_random
from graphwalk.settings import Settings
from graphwalk.stores.base import Database
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.types.chat import CallOptions, Message, ToolSpec
from graphwalk.types.episode import SCHEMA_VERSION, ExitStatus, Task, Trajectory, Turn, setting_of

WireMessage = dict[str, Any]


@dataclass(frozen=True)
class ChatForm:
    """How chats are written: arguments of calls as JSON objects (TRL, chat templates) or as JSON text (the APIs); calls
    in the message's own field or in its text.
    """

    arguments: Literal["object", "string"] = "object"
    protocol: Literal["native", "text"] = "native"


@dataclass(frozen=True)
class Chat:
    """A conversation that ends with a reply.

    `first_new`: index of the first reply that is in no earlier chat of the episode. There are several chats if the
    context was rewritten (compaction, reminders of the text protocol).
    """

    messages: list[WireMessage]
    first_new: int


class NoObjectError(ValueError):
    """Arguments of a call that are no JSON object, and cannot be written as one."""


def thinking_aloud(trajectory: Trajectory, thoughts: Sequence[str]) -> Trajectory:
    """Return the chat with a thought, or the provider's reasoning, before the text of each turn."""
    spoken = []
    for turn, thought in zip(trajectory.turns, thoughts, strict=True):
        parts = (thought or turn.message.reasoning, turn.message.content)
        content = "\n\n".join(part for part in parts if part) or None
        spoken.append(replace(turn, message=replace(turn.message, content=content)))
    return replace(trajectory, turns=tuple(spoken))


def without_words(trajectory: Trajectory) -> Trajectory:
    """Return the chat without the text of turns with tool calls."""
    quiet = (
        replace(t, message=replace(t.message, content=None)) if t.message.tool_calls else t for t in trajectory.turns
    )
    return replace(trajectory, turns=tuple(quiet))


def chats_of(trajectory: Trajectory, tools: Sequence[ToolSpec], agent: AgentConfig, form: ChatForm) -> Iterator[Chat]:
    """Return the fewest chats that contain every reply in its context: one, unless the context was rewritten.

    Raise NoObjectError if arguments must be objects and are not.
    """
    waiting: list[WireMessage] = []
    first_new = 0
    for number, turn in enumerate(trajectory.turns):
        sent = _wire(_sent(trajectory, number, agent), tools if not turn.forced else (), agent, form)
        if sent[: len(waiting)] != waiting:
            yield Chat(waiting, first_new)
            waiting = []
        first_new = first_new if waiting else len(sent)
        waiting = [*sent, _message(_said(turn, form), form)]
    if waiting:
        yield Chat(waiting, first_new)


def tools_of(tools: Sequence[ToolSpec], form: ChatForm) -> list[dict[str, Any]]:
    """Return the tools of a chat; none if the prompt describes them."""
    return [tool.as_openai() for tool in tools] if form.protocol == "native" else []


def _sent(trajectory: Trajectory, number: int, agent: AgentConfig) -> list[Message]:
    """Return the messages that a turn was asked with (`graphwalk.agent`)."""
    turn = trajectory.turns[number]
    messages = conversation(trajectory.prompt, trajectory.turns[:number], agent)
    if turn.summary is not None:
        messages = [*trajectory.prompt, summary_message(turn.summary, agent)]
    return [*messages, answer_now(agent)] if turn.forced else messages


def _said(turn: Turn, form: ChatForm) -> Message:
    message = replace(turn.message, reasoning=None)
    return written_out(message) if form.protocol == "text" and message.tool_calls else message


def _wire(
    messages: Sequence[Message], tools: Sequence[ToolSpec], agent: AgentConfig, form: ChatForm
) -> list[WireMessage]:
    if form.protocol == "text":
        options = CallOptions(parallel_tool_calls=agent.parallel_tool_calls)
        messages, _, _ = TextProtocol("text", agent.texts).outgoing(messages, tools, options)
    return [_message(message, form) for message in messages]


def _message(message: Message, form: ChatForm) -> WireMessage:
    wire = message.as_openai()
    wire["content"] = message.content or ""
    if form.protocol == "text":
        return {"role": message.role, "content": wire["content"]}
    if form.arguments == "object":
        for call in wire.get("tool_calls", ()):
            call["function"]["arguments"] = _object(call["function"]["arguments"])
    return wire


def _object(arguments: str) -> dict[str, Any]:
    try:
        read = json.loads(arguments or "{}")
    except (ValueError, RecursionError) as error:
        raise NoObjectError(arguments[:80]) from error
    if not isinstance(read, dict):
        raise NoObjectError(arguments[:80])
    return read


_Place = tuple[str, str]
"""Digest of a graph, and setting."""


@dataclass(frozen=True)
class RecordedRun:
    """A run: its experiment, and the tools of its episodes by graph and setting."""

    folder: RunFolder
    experiment: Experiment
    manifest: Mapping[str, Any]
    _tools: Mapping[_Place, Sequence[ToolSpec]]

    def results(self) -> Iterator[Result]:
        """Yield the episodes in the order of the log; of a repeated episode, the last one."""
        last = {key_of(record): number for number, record in enumerate(self.folder.records())}
        for number, record in enumerate(self.folder.records()):
            if last[key_of(record)] == number:
                yield Result.from_dict(record)

    def task(self, result: Result) -> Task:
        return self.experiment.suite.task_type.model_validate(result.task)

    def tools(self, result: Result) -> Sequence[ToolSpec]:
        return self._tools[result.task["graph_digest"], result.key.setting]


async def read_run(folder: RunFolder, settings: Settings) -> RecordedRun:
    """Open a run folder for reading, and rebuild its graphs in memory, since descriptions of tools depend on the
    schema.

    Raise RunLogError or ConfigError if the folder is damaged or of an incompatible version.
    """
    experiment = kept_experiment(folder, settings, "embedded")
    asked: dict[_Place, dict[str, Any]] = {}
    for record in folder.records():
        asked.setdefault((record["task"]["graph_digest"], record["setting"]), record["task"])
    tools = {place: specs async for place, specs in _tools_of(experiment, asked, settings)}
    return RecordedRun(folder, experiment, folder.read_manifest(), tools)


async def _tools_of(
    experiment: Experiment, asked: Mapping[_Place, dict[str, Any]], settings: Settings
) -> AsyncIterator[tuple[_Place, Sequence[ToolSpec]]]:
    """Return the tools of one episode of every graph and setting."""
    suite, config = experiment.suite, experiment.config
    by_graph: dict[str, list[str]] = {}
    for digest, setting in asked:
        by_graph.setdefault(digest, []).append(setting)

    async def open_memory() -> Database:
        return EmbeddedDatabase()

    places = GraphSources(open_memory)
    try:
        async for instance in suite.read_graphs(config.suite, config.seed, settings):
            here = by_graph.pop(instance.digest, ())
            store = await places.store_of(instance) if here else None
            for setting in here:
                task = suite.task_type.model_validate(asked[instance.digest, setting])
                played = experiment.of(setting)
                setup = await suite.setup(task, setting_of(setting), instance, store, played.agent, played.tools)
                yield (instance.digest, setting), () if setup.toolbox is None else tuple(setup.toolbox.specs)
            if store is not None:
                await store.drop()
            if not by_graph:
                return
    finally:
        await places.close()


Line = dict[str, Any]


@dataclass(frozen=True)
class TraceOptions:
    """Selection and format of episodes.

    `correct`: only correct answers. `grounded`: only answers fully supported by tool results. `over_par`: maximum ratio
    of calls to the expert's. `models`: only these. `thoughts`: keep text before calls; scripted agents explain their
    steps. `refusals`: number of unanswerable questions per hundred episodes.
    """

    correct: bool = False
    grounded: bool = False
    over_par: float | None = None
    models: tuple[str, ...] = ()
    thoughts: bool = True
    refusals: float = 0.0
    seed: int = 0
    form: ChatForm = field(default_factory=ChatForm)


class Episodes(Protocol):
    """Where traces come from: a run folder, or episodes that were just played."""

    @property
    def experiment(self) -> Experiment: ...

    def results(self) -> Iterator[Result]: ...

    def task(self, result: Result) -> Task: ...

    def tools(self, result: Result) -> Sequence[ToolSpec]:
        """Return the tools offered in the episode."""
        ...


@dataclass
class Counts:
    """Counts of selected and rejected episodes, and of lines by kind."""

    episodes: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    lines: Counter[str] = field(default_factory=Counter)
    """By suite and kind: "questions/node_count"."""


def export_traces(runs: Sequence[RecordedRun], out: Path, options: TraceOptions) -> dict[str, Any]:
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

    digest = write_chats(out, lines())
    sources = [
        {
            "name": run.manifest["name"],
            "run_id": run.manifest["run_id"],
            "graphwalk_version": run.manifest["graphwalk_version"],
            "seed": run.experiment.config.seed,
            "tasks": (run.manifest.get("fingerprint") or {}).get("tasks"),
        }
        for run in runs
    ]
    manifest = {
        "schema_version": SCHEMA_VERSION,
        "file": out.name,
        "sha256": digest,
        "lines": counts.lines.total(),
        "kinds": dict(sorted(counts.lines.items())),
        "episodes": counts.episodes,
        "left_out": dict(counts.left_out),
        "options": asdict(options),
        "runs": sources,
    }
    write_manifest(manifest_path(out), manifest)
    return manifest


def lines_of(run: Episodes, options: TraceOptions, counts: Counts) -> Iterator[Line]:
    """Yield the lines of selected episodes in order, and update `counts`."""
    for result in run.results():
        counts.episodes += 1
        if (reason := _left_out(result, options)) is not None:
            counts.left_out[reason] += 1
            continue
        try:
            lines = list(_of_episode(run, result, _spoken(run, result, options), options))
        except NoObjectError:
            counts.left_out["arguments of a call are no JSON object"] += 1
            continue
        if _drawn(result, options):
            lines += _refused(run, result, options)
        for line in lines:
            counts.lines[f"{line['suite']}/{line['template']}"] += 1
            yield line


def _left_out(result: Result, options: TraceOptions) -> str | None:
    """Return the reason to reject an episode, or None."""
    score = result.score
    if options.models and result.key.model not in options.models:
        return "of other models"
    if score is None or result.exit_status not in (ExitStatus.ANSWERED, ExitStatus.TURN_LIMIT):
        return "without an answer"
    if options.correct and not score["correct"]:
        return "not correct"
    if options.grounded and score.get("grounded") != 1:
        return "not grounded"
    reference = result.task.get("reference_calls")
    calls = sum(not held.is_note for held in result.trajectory.results)
    if options.over_par is not None and (reference is None or calls > reference * options.over_par):
        return "too many calls"
    return None


def _spoken(run: Episodes, result: Result, options: TraceOptions) -> Trajectory:
    """Return the replies with thoughts, which scripted agents generate, or with calls alone."""
    if not options.thoughts:
        return without_words(result.trajectory)
    thoughts: Sequence[str] = [""] * len(result.trajectory.turns)
    if result.key.model.startswith("scripted/"):
        suite = run.experiment.suite
        setting = setting_of(result.key.setting)
        thoughts = suite.agents.thoughts(run.task(result), setting, result.trajectory, options.seed)
    return thinking_aloud(result.trajectory, thoughts)


def _of_episode(run: Episodes, result: Result, spoken: Trajectory, options: TraceOptions) -> Iterator[Line]:
    tools, agent = run.tools(result), run.experiment.of(result.key.setting).agent
    for part, chat in enumerate(chats_of(spoken, tools, agent, options.form)):
        yield {
            "messages": chat.messages,
            "tools": tools_of(tools, options.form),
            "task_id": result.key.task_id,
            "suite": result.task["suite"],
            "template": result.task["template"],
            "setting": result.key.setting,
            "model": result.key.model,
            "repeat": result.key.repeat,
            "part": part,
            "first_new": chat.first_new,
            "graph_digest": result.task["graph_digest"],
            "correct": bool(result.score and result.score["correct"]),
            "refusal": False,
        }


def _drawn(result: Result, options: TraceOptions) -> bool:
    draw = stdlib_random(options.seed, "refusals", result.key.text)
    return draw.random() * 100 < options.refusals


def _refused(run: Episodes, result: Result, options: TraceOptions) -> list[Line]:
    """Return the chat with an unanswerable question instead, if the suite has one."""
    found = run.experiment.suite.agents.without_answer(run.task(result), result.trajectory, options.seed)
    if found is None:
        return []
    question, reply = found
    prompt = (*result.trajectory.prompt[:-1], Message("user", question))
    told = Trajectory(prompt, (Turn(Message("assistant", reply)),), ExitStatus.ANSWERED)
    lines = list(_of_episode(run, result, told, options))
    return [{**line, "task_id": f"{line['task_id']}-refused", "correct": True, "refusal": True} for line in lines]
