"""Verify a run: repeat it without model calls, and compare all that was logged."""

import hashlib
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import takewhile, zip_longest
from pathlib import Path
from typing import Any

from graphwalk.agent.loop import Episode, run_episode
from graphwalk.errors import GraphwalkError, RunLogError
from graphwalk.files.json_lines import decode_line, open_lines
from graphwalk.models.chat import CallOptions, Message, Model, Reply, ToolSpec, to_dict
from graphwalk.models.scripted import ReplayModel
from graphwalk.models.trajectory import ExitStatus, Trajectory
from graphwalk.models.wrappers import Budget, Cached, ReplyCache
from graphwalk.runs.folder import RunFolder
from graphwalk.runs.manifest import code_version, commit, differences, tasks_digest, texts_of
from graphwalk.runs.plan import GraphSources, Plan, PlannedEpisode, make_plan
from graphwalk.runs.record import EpisodeKey, Result, judge
from graphwalk.runs.resolve import Experiment, logged_experiment
from graphwalk.sanitise import quote
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.variables import Variables

CHECKS: Mapping[str, str] = {
    "lines": "complete lines with correct checksums",
    "episodes": "each planned episode exactly once, as counted in run.json",
    "texts": "prompts, tools and questions with the digests in run.json",
    "graphs": "generated again from the seed",
    "tasks": "generated again from the seed, with targets",
    "prompts": "rendered again",
    "tool results": "each call repeated on a fresh store",
    "turns": "follow-up questions, forced answers, exit status",
    "replies": "repeated by scripted agents; of models, found in replies.jsonl",
    "scores": "answer extracted and scored again",
    "totals": "turns, calls, tokens and seconds of each line",
}
_SHOWN = 10
"""Differences in an error message; `--json` has all of them."""
_AROUND = 30
"""Characters shown before and after the first difference of two texts."""


@dataclass
class VerifyCheck:
    """One row of the table. `unverified` counts by reason."""

    verified: int = 0
    differing: list[str] = field(default_factory=list)
    unverified: Counter[str] = field(default_factory=Counter)

    def compare(self, where: str, then: Any, now: Any, *, things: int = 1) -> None:
        """Count `things` (0: counted before) as verified if logged and new JSON are equal, else note the difference."""
        if then == now:
            self.verified += things
        else:
            self.differing.append(f"{where}: {parting(then, now)}")


@dataclass(frozen=True)
class RunVerification:
    """All checks of one run, by name in the order of `CHECKS`. `note` may explain differences."""

    checks: Mapping[str, VerifyCheck]
    note: str = ""

    @property
    def holds(self) -> bool:
        return not any(check.differing for check in self.checks.values())

    @property
    def error(self) -> GraphwalkError | None:
        """The first differences as a RunLogError; None without differences."""
        if self.holds:
            return None
        lines = [f"{name}: {text}" for name, check in self.checks.items() for text in check.differing]
        more = [f"… and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
        message = "\n".join(["the run is not reproducible:", *lines[:_SHOWN], *more])
        return RunLogError(message, hint=self.note or "the folder or the code was changed after the run")

    def as_json(self) -> str:
        checks = [{"check": name, "says": CHECKS[name], **vars(check)} for name, check in self.checks.items()]
        return json.dumps({"holds": self.holds, "note": self.note, "checks": checks}, indent=2)


def parting(then: Any, now: Any) -> str:
    """Describe the first difference of two JSON values; of long texts only the part around it."""
    name, (before, after) = next(iter(differences({"": then}, {"": now}).items()), ("", (then, now)))
    field_name = name.removeprefix(".")
    if isinstance(before, str) and isinstance(after, str) and max(len(before), len(after)) > 2 * _AROUND:
        start = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False)))
        cut = slice(max(0, start - _AROUND), start + _AROUND)
        before, after = before[cut], after[cut]
        field_name = f"{field_name}, character {start + 1}".removeprefix(", ")
    return f"{field_name or 'value'}: logged {quote(before)}, now {quote(after)}"


async def verify_run(
    folder: RunFolder,
    variables: Variables,
    done: Callable[[], object] = lambda: None,
) -> RunVerification:
    """Check everything in a run folder, which is only read. Graphs are loaded into the embedded engine.

    `done` is called after each result. Raise ConfigError if this version cannot read the configuration, StoreError if
    an existing database of the run cannot be reached.
    """
    then = folder.read_manifest()["fingerprint"]
    experiment = logged_experiment(folder, variables)

    async def without_queries() -> EmbeddedDatabase:
        return EmbeddedDatabase(takes_queries=False)

    # A run may come from a stranger: nothing is loaded into a database of the user because of it.
    opened = without_queries if any("write_cypher" in graph.get("left_out", {}) for graph in then["graphs"]) else None
    in_place = variables if experiment.config.store == "neo4j" else None
    checks = {name: VerifyCheck() for name in CHECKS}
    async with GraphSources(opened, in_place) as sources:
        plan = await make_plan(experiment, sources, lambda number: None)
        _check_manifest(then, plan, checks)
        _check_texts(folder, then, experiment, checks["texts"])
        with tempfile.TemporaryDirectory(prefix="graphwalk-") as scratch:
            copy = Path(scratch) / folder.replies_path.name
            with open_lines(folder.replies_path) as lines:
                copy.write_bytes(b"".join(lines))
            for _ in checked_lines(copy, checks["lines"]):
                pass
            with closing(ReplyCache(copy)) as cache:
                run = _VerifiedRun(experiment, {one.key: one for one in plan.episodes}, cache, checks)
                for where, record in checked_lines(folder.results_path, checks["lines"]):
                    await run.check_line(where, record)
                    done()
        for key in run.planned:
            if run.scored[key]:
                checks["episodes"].verified += run.scored[key] == 1
            else:
                checks["episodes"].unverified["not finished"] += 1
    return RunVerification(checks, _note(folder, then))


def _check_manifest(then: Mapping[str, Any], plan: Plan, checks: Mapping[str, VerifyCheck]) -> None:
    """Compare run.json with the graphs, tasks and episodes of the plan."""
    for number, pair in enumerate(zip_longest(then["graphs"], _json([loaded.facts for loaded in plan.graphs]))):
        checks["graphs"].compare(f"run.json: graph {number}", *pair)
    digest = {"count": len(plan.tasks), "sha256": tasks_digest(task for task, _ in plan.tasks)}
    checks["tasks"].compare("run.json: tasks", then["tasks"], digest, things=len(plan.tasks))
    checks["episodes"].compare("run.json: episodes", then["episodes"], len(plan.episodes), things=0)


def _check_texts(folder: RunFolder, then: Mapping[str, Any], experiment: Experiment, check: VerifyCheck) -> None:
    """Compare the texts in the folder with their digests in run.json, and with those of this version."""
    today = texts_of(experiment)
    for name, digest in then["texts"].items():
        text = folder.read_text(name)
        if text is None:
            check.unverified["not text in the folder"] += 1
            continue
        check.compare(f"texts/{name}: sha256", digest, hashlib.sha256(text.encode()).hexdigest())
        if today.get(name) != text:
            check.unverified["differs from the built-in text of this version"] += 1


class _LoggedModel(Cached):
    """The replies of an episode: of `replies.jsonl`, else of the log; the latter are counted as unverified."""

    def __init__(self, logged: Model, replies: ReplyCache, unverified: Counter[str], key: EpisodeKey) -> None:
        super().__init__(logged, replies, Budget(), f"{key.text}\x1fplayer")
        self._replies, self._unverified = replies, unverified

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        logged = await self.inner.complete(messages, tools, options)
        reply = self._replies.get(self.next_key(messages, tools, options))
        if reply is None:
            self._unverified["the reply is not in replies.jsonl"] += 1
        return reply or logged


@dataclass(frozen=True)
class _VerifiedRun:
    experiment: Experiment
    planned: Mapping[EpisodeKey, PlannedEpisode]
    replies: ReplyCache
    checks: Mapping[str, VerifyCheck]
    scored: Counter[EpisodeKey] = field(default_factory=Counter)

    async def check_line(self, where: str, record: dict[str, Any]) -> None:
        """Play the episode of one line of the log again, score it, and compare all parts of the line."""
        try:
            then = Result.from_dict(record)
            task = self.experiment.suite.task_type.model_validate(then.task)
        except (LookupError, TypeError, ValueError) as error:
            self.checks["lines"].differing.append(f"{where}: not a result: {type(error).__name__} {error}")
            return
        planned, trajectory = self.planned.get(then.key), then.trajectory
        if planned is None:
            self.checks["episodes"].differing.append(f"{where}: {then.key.in_words} is not part of the run")
            return
        if then.score is not None and self.scored[then.key]:
            self.checks["episodes"].differing.append(f"{where}: {then.key.in_words} is in an earlier line too")
        self.scored[then.key] += not then.exit_status.infrastructure
        scoring = self.experiment.config.scoring
        answer, score = judge(task, trajectory, then.extractor_reply, scoring)
        alone = then.extractor_reply is None  # the extractor's share of tokens and seconds is not logged
        now = replace(
            then,
            exit_status=trajectory.exit_status,
            answer=answer,
            score=score,
            usage=trajectory.usage if alone else then.usage,
            seconds=trajectory.seconds if alone else then.seconds,
            task=planned.task.model_dump(mode="json"),
            graph=planned.graph.facts,
        )
        again, unverified = await self._play_again(planned, then)
        self.checks["replies"].unverified.update(unverified)
        parts = _parts(record, to_dict(trajectory))
        parts_now = _parts(_json(now.as_dict()), to_dict(again))
        compared = tuple(parts)
        if trajectory.exit_status.infrastructure:
            compared = ("tasks", "graphs", "prompts", "totals")
            self.checks["turns"].unverified["ended by a failure of provider or store"] += 1
        if trajectory.exit_status is ExitStatus.CONTEXT_OVERFLOW:
            parts_now["turns"][-1] = parts["turns"][-1]
        numbers = {"tasks": 0, "graphs": 0, "tool results": len(parts["tool results"])}
        numbers["replies"] = len(parts["replies"]) - unverified.total()
        for name in compared:
            self.checks[name].compare(where, parts[name], parts_now[name], things=numbers.get(name, 1))

    async def _play_again(self, planned: PlannedEpisode, then: Result) -> tuple[Trajectory, Counter[str]]:
        """Play an episode with the agent or the logged replies that played it; count replies that are not verified."""
        experiment, spec, unverified = self.experiment.of(planned.key.setting), then.key.model, Counter[str]()
        provider, _, name = spec.partition("/")
        if provider == "scripted":
            model = await planned.scripted(name, experiment)
        else:
            model = _LoggedModel(ReplayModel(spec, then.trajectory), self.replies, unverified, then.key)
        limits, prompt = experiment.config.limits, await planned.prompt(experiment)
        tokens, usd = limits.episode_tokens, limits.episode_usd
        again = await run_episode(Episode(prompt, model, experiment.agent, experiment.options, tokens=tokens, usd=usd))
        await model.close()
        return again, unverified


def _parts(record: Mapping[str, Any], trajectory: Mapping[str, Any]) -> dict[str, Any]:
    """Return what each check compares of a line and its trajectory, without the elapsed times of calls."""
    turns = trajectory.get("turns", [])
    results = [result for turn in turns for result in turn.get("results", [])]
    courses = [
        {"calls": len(turn.get("results", [])), **{name: turn.get(name) for name in ("next_user", "forced")}}
        for turn in turns
    ]
    return {
        "tasks": record["task"],
        "graphs": record["graph"],
        "prompts": trajectory.get("prompt", []),
        "replies": [turn["message"] for turn in turns],
        "tool results": [{k: v for k, v in result.items() if k != "seconds"} for result in results],
        "turns": [*courses, trajectory["exit_status"]],
        "scores": {"answer": record["answer"], "score": record["score"]},
        "totals": {name: record[name] for name in ("exit_status", "turns", "tool_calls", "usage", "seconds")},
    }


def _note(folder: RunFolder, fingerprint: Mapping[str, Any]) -> str:
    """Return a note if the run was made by another version or commit."""
    then, now = folder.read_manifest(), {fingerprint.get("version"), fingerprint.get("scorer")}
    if now == {code_version()} and then.get("commit") == commit():
        return ""
    made_by = f"GraphWalk {then['graphwalk_version']}, commit {then.get('commit')}"
    return f"the run was made by {made_by}; verify it with that version"


def _json(value: Any) -> Any:
    return json.loads(json.dumps(value))


def checked_lines(path: Path, check: VerifyCheck) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (`results.jsonl:7`, record) for every complete line; count the others in `check`."""
    with open_lines(path) as file:
        for number, line in enumerate(file, 1):
            where = f"{path.name}:{number}"
            if not line.endswith(b"\n"):
                check.unverified["cut off by a kill"] += 1
                continue
            try:
                record = decode_line(line)
            except (ValueError, RecursionError) as error:
                check.differing.append(f"{where}: {error}")
                continue
            check.verified += 1
            yield where, record
