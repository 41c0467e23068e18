"""Traces: episodes of runs as JSON lines that models are fine-tuned on, and a manifest that says what they are.

A line is `{"messages", "tools", "task_id", "suite", "template", "setting", "model", "graph_digest", "correct", …}`;
`datasets`, TRL and chat templates read `messages` and `tools`, the rest says where the chat is from.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

from graphwalk.errors import ConfigError
from graphwalk.files import write_whole
from graphwalk.runlog.result import Result
from graphwalk.runner.resolve import Experiment
from graphwalk.seeds import stdlib_random
from graphwalk.training.chats import ChatForm, NoObjectError, chats_of, thinking_aloud, tools_of, without_words
from graphwalk.training.recorded import RecordedRun
from graphwalk.types.chat import Message, ToolSpec
from graphwalk.types.episode import SCHEMA_VERSION, ExitStatus, Task, Trajectory, Turn
from graphwalk.version import __version__

Line = dict[str, Any]


@dataclass(frozen=True)
class TraceOptions:
    """Which episodes are taken, and how they are written.

    `correct`: right answers only. `grounded`: answers that the tool results prove in full. `over_par`: at most so many
    times the calls of the expert, 1.0 being as many. `models`: of these alone. `thoughts`: what the model said beside
    its calls stays, and a scripted player thinks in words. `refusals`: for so many of a hundred episodes, one more
    trace that asks for what the graph does not have, and is told so.
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
        """Those that the episode was offered."""
        ...


@dataclass
class Counts:
    """What became of the episodes, and how many lines there are of what."""

    episodes: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    lines: Counter[str] = field(default_factory=Counter)
    """By suite and kind: "questions/node_count"."""


def export_traces(runs: Sequence[RecordedRun], out: Path, options: TraceOptions) -> dict[str, Any]:
    """Write FILE.jsonl and FILE.manifest.json, and return the manifest.

    Episodes are read and written one by one. ConfigError where nothing is left to be written, or it cannot be.
    """
    counts, digest = Counts(), hashlib.sha256()

    def texts() -> Iterator[str]:
        for run in runs:
            for line in lines_of(run, options, counts):
                text = json.dumps(line, ensure_ascii=False) + "\n"
                digest.update(text.encode("utf-8", "surrogatepass"))
                yield text
        if not counts.lines:
            why = ", ".join(f"{number} {reason}" for reason, number in counts.left_out.items()) or "the runs are empty"
            raise ConfigError(f"no trace is left: {why}", hint="graphwalk run … --model scripted/expert")

    write_whole(out, texts())
    manifest = _manifest(runs, out, options, counts, digest.hexdigest())
    write_whole(manifest_path(out), [json.dumps(manifest, indent=2, ensure_ascii=False), "\n"])
    return manifest


def manifest_path(out: Path) -> Path:
    """Where the manifest of a file of traces stands: beside it."""
    return out.with_name(out.name.removesuffix(".jsonl") + ".manifest.json")


def write_manifest(out: Path, lines: int, about: Mapping[str, Any]) -> None:
    """The manifest of a file that was written by the million: its digest, and what it was made from."""
    with out.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    made = {"schema_version": SCHEMA_VERSION, "file": out.name, "sha256": digest, "lines": lines}
    manifest = {**made, "graphwalk_version": __version__, **about}
    write_whole(manifest_path(out), [json.dumps(manifest, indent=2, ensure_ascii=False), "\n"])


def lines_of(run: Episodes, options: TraceOptions, counts: Counts) -> Iterator[Line]:
    """The lines of the episodes that are taken, in their order; `counts` is told of all."""
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
    """Why an episode is not taken."""
    score = result.score
    if options.models and result.key.model not in options.models:
        return "by another model"
    if score is None or result.exit_status not in (ExitStatus.ANSWERED, ExitStatus.TURN_LIMIT):
        return "without an answer"
    if options.correct and not score["correct"]:
        return "not correct"
    if options.grounded and score.get("grounded") != 1:
        return "not grounded"
    par = result.task.get("par_calls")
    calls = sum(not held.is_note for held in result.trajectory.results)
    if options.over_par is not None and (par is None or calls > par * options.over_par):
        return "too many calls"
    return None


def _spoken(run: Episodes, result: Result, options: TraceOptions) -> Trajectory:
    """What was said: with thoughts, and for a scripted player with its own in words; or with calls alone."""
    if not options.thoughts:
        return without_words(result.trajectory)
    thoughts: Sequence[str] = [""] * len(result.trajectory.turns)
    if result.key.model.startswith("scripted/"):
        suite = run.experiment.suite
        thoughts = suite.thoughts(run.task(result), result.key.setting, result.trajectory, options.seed)
    return thinking_aloud(result.trajectory, thoughts)


def _of_episode(run: Episodes, result: Result, spoken: Trajectory, options: TraceOptions) -> Iterator[Line]:
    tools = run.tools(result)
    for part, chat in enumerate(chats_of(spoken, tools, run.experiment.agent, options.form)):
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
    """The same beginning with a question that the graph has no answer to; none where the suite has no such thing."""
    found = run.experiment.suite.without_answer(run.task(result), result.trajectory, options.seed)
    if found is None:
        return []
    question, reply = found
    prompt = (*result.trajectory.prompt[:-1], Message("user", question))
    told = Trajectory(prompt, (Turn(Message("assistant", reply)),), ExitStatus.ANSWERED)
    lines = list(_of_episode(run, result, told, options))
    return [{**line, "task_id": f"{line['task_id']}-refused", "correct": True, "refusal": True} for line in lines]


def _manifest(
    runs: Sequence[RecordedRun], out: Path, options: TraceOptions, counts: Counts, digest: str
) -> dict[str, Any]:
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
    return {
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
