"""Verify a run: repeat it without model calls, and compare all that was logged."""

import hashlib
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, repeat, takewhile, zip_longest
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from graphwalk.agent import Episode, run_episode
from graphwalk.errors import GraphwalkError, RunLogError
from graphwalk.files.json_lines import decode_line, open_lines
from graphwalk.files.resources import quote
from graphwalk.models.replay import OVER, ReplayModel
from graphwalk.runs.episodes.episode import RunModels, judge, play
from graphwalk.runs.episodes.fingerprint import code_version, commit, differences, tasks_digest, texts_of
from graphwalk.runs.episodes.graph_sources import GraphSources
from graphwalk.runs.episodes.plan import Plan, PlannedEpisode, make_plan
from graphwalk.runs.episodes.resolve import Experiment, kept_experiment, per_episode
from graphwalk.runs.folder.result import EpisodeKey, Result
from graphwalk.runs.folder.run_folder import RunFolder
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.stores.registry import queries_in_place
from graphwalk.types.episode import ExitStatus, Trajectory
from graphwalk.types.wire import to_dict
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
_NO_REPLY = "the reply is not in replies.jsonl"
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
    manifest = folder.read_manifest()
    experiment = kept_experiment(folder, variables)
    graphs = manifest["fingerprint"]["graphs"]

    async def without_queries() -> EmbeddedDatabase:
        return EmbeddedDatabase(takes_queries=False)

    # A run may come from a stranger: nothing is loaded into a database of the user because of it.
    opened = without_queries if any("write_cypher" in graph.get("left_out", {}) for graph in graphs) else None
    in_place = variables if queries_in_place(experiment.config.store) else None
    async with GraphSources(opened, in_place) as sources:
        plan = await make_plan(experiment, sources, lambda number: None)
        with tempfile.TemporaryDirectory(prefix="graphwalk-") as scratch:
            replies = Path(scratch) / "replies.jsonl"
            with open_lines(folder.replies_path) as lines, replies.open("wb") as copy:
                copy.writelines(lines)
            models_called = tuple(spec for spec in experiment.models if not spec.startswith("replay/"))
            unbound = experiment.config.limits.model_copy(update={"budget_tokens": None, "budget_usd": None})
            config = experiment.config.model_copy(update={"limits": unbound})
            no_replies = Trajectory((), (), ExitStatus.MODEL_ERROR)
            cached = {spec: ReplayModel(spec, no_replies) for spec in models_called if not per_episode(spec)}
            without_models = replace(experiment, config=config, models=models_called, opened=cached)
            async with RunModels(without_models, replies) as models:
                then = manifest["fingerprint"]
                planned = {episode.key: episode for episode in plan.episodes}
                return await _VerifiedRun(folder, experiment, plan, models, then, planned).verified(done)


@dataclass(frozen=True)
class _VerifiedRun:
    folder: RunFolder
    experiment: Experiment
    plan: Plan
    models: RunModels
    then: Mapping[str, Any]
    """The fingerprint in run.json."""
    planned: Mapping[EpisodeKey, PlannedEpisode]
    checks: dict[str, VerifyCheck] = field(default_factory=lambda: {name: VerifyCheck() for name in CHECKS})
    scored: Counter[EpisodeKey] = field(default_factory=Counter)

    async def verified(self, done: Callable[[], object]) -> RunVerification:
        self._check_manifest()
        self._check_texts()
        for _ in checked_lines(self.folder.replies_path, self.checks["lines"]):
            pass
        for where, record in checked_lines(self.folder.results_path, self.checks["lines"]):
            try:
                result = Result.from_dict(record)
            except (KeyError, TypeError, ValueError) as error:
                self.checks["lines"].differing.append(f"{where}: not a result: {type(error).__name__} {error}")
                continue
            await self._check_line(where, record, result)
            done()
        for key in self.planned:
            if self.scored[key]:
                self.checks["episodes"].verified += self.scored[key] == 1
            else:
                self.checks["episodes"].unverified["not finished"] += 1
        return RunVerification(self.checks, self._note())

    def _check_manifest(self) -> None:
        """Compare run.json with the graphs, tasks and episodes of the plan."""
        graphs, tasks = _json([loaded.facts for loaded in self.plan.graphs]), self.plan.tasks
        for number, pair in enumerate(zip_longest(self.then["graphs"], graphs)):
            self.checks["graphs"].compare(f"run.json: graph {number}", *pair)
        digest = {"count": len(tasks), "sha256": tasks_digest(task for task, _ in tasks)}
        self.checks["tasks"].compare("run.json: tasks", self.then["tasks"], digest, things=len(tasks))
        self.checks["episodes"].compare("run.json: episodes", self.then["episodes"], len(self.plan.episodes), things=0)

    def _check_texts(self) -> None:
        """Compare the texts in the folder with their digests in run.json, and with those of this version."""
        check, today = self.checks["texts"], texts_of(self.experiment)
        for name, digest in self.then["texts"].items():
            text = self.folder.kept_text(name)
            if text is None:
                check.unverified["not text in the folder"] += 1
            else:
                check.compare(f"texts/{name}: sha256", digest, hashlib.sha256(text.encode()).hexdigest())
                if today.get(name) != text:
                    check.unverified["differs from the built-in text of this version"] += 1

    async def _check_line(self, where: str, record: dict[str, Any], result: Result) -> None:
        planned, key = self.planned.get(result.key), result.key
        if planned is None:
            self.checks["episodes"].differing.append(f"{where}: {key.in_words} is not part of the run")
        elif result.score is not None and self.scored[key]:
            self.checks["episodes"].differing.append(f"{where}: {key.in_words} is in an earlier line too")
        self._check_score(where, record, result)
        self._check_totals(where, record, result)
        if planned is None:
            return
        self.scored[key] += not result.exit_status.infrastructure
        self.checks["tasks"].compare(where, record["task"], planned.task.model_dump(mode="json"), things=0)
        self.checks["graphs"].compare(where, record["graph"], _json(planned.graph.facts), things=0)
        await self._check_episode(where, planned, result)
        await self._check_replies(where, planned, result)

    async def _check_episode(self, where: str, planned: PlannedEpisode, then: Result) -> None:
        """Repeat an episode with the replies of the log; compare prompt, tool results and follow-ups."""
        experiment, logged = self.experiment.of(planned.key.setting), _wire(then.trajectory)
        limits, model = experiment.config.limits, ReplayModel(then.key.model, then.trajectory)
        tokens, usd = limits.episode_tokens, limits.episode_usd
        prompt = await planned.prompt(experiment)
        episode = Episode(prompt, model, experiment.agent, experiment.options, tokens=tokens, usd=usd)
        now = _wire(await run_episode(episode))
        self.checks["prompts"].compare(where, logged["prompt"], now["prompt"])
        for number, turn in enumerate(logged["turns"], 1):
            again = now["turns"][number - 1] if number <= len(now["turns"]) else {}
            results_now = chain(again.get("results", ()), repeat(None))
            for place, result in enumerate(turn.get("results", ()), 1):  # none if the store failed
                call = f"{where}: turn {number}, call {place}"
                self.checks["tool results"].compare(call, result, next(results_now))
            courses = [
                {"calls": len(one.get("results", ())), **{n: one.get(n) for n in ("next_user", "forced")}}
                for one in (turn, again)
            ]
            self.checks["turns"].compare(f"{where}: turn {number}", *courses)
        end = then.trajectory.exit_status
        if end.infrastructure or end is ExitStatus.CONTEXT_OVERFLOW:
            self.checks["turns"].unverified["ended by a failure of provider or store"] += 1
        else:
            self.checks["turns"].compare(f"{where}: exit_status", logged["exit_status"], now["exit_status"])

    async def _check_replies(self, where: str, planned: PlannedEpisode, then: Result) -> None:
        """Play an episode again and compare the replies."""
        check, experiment, spec = self.checks["replies"], self.models.experiment, then.key.model
        if spec not in experiment.models:
            check.unverified[f"{spec.partition('/')[0]} models cannot be called again"] += len(then.trajectory.turns)
            return
        now = await play(planned, self.models, experiment)
        if now.exit_status is ExitStatus.MODEL_ERROR and OVER in (now.trajectory.error or ""):
            check.unverified[_NO_REPLY] += max(1, len(then.trajectory.turns) - len(now.trajectory.turns))
        messages = [to_dict(turn.message) for turn in now.trajectory.turns]
        for number, (turn, again) in enumerate(zip(then.trajectory.turns, messages, strict=False), 1):
            check.compare(f"{where}: turn {number}", to_dict(turn.message), again)

    def _check_score(self, where: str, record: dict[str, Any], result: Result) -> None:
        try:
            task = self.experiment.suite.task_type.model_validate(result.task)
            scoring = self.experiment.config.scoring
            answer, score = judge(task, result.key.setting, result.trajectory, result.extractor_reply, scoring)
        except ValidationError as error:
            self.checks["scores"].differing.append(f"{where}: the task cannot be read: {error.errors()[0]['msg']}")
            return
        logged, now = {"answer": record["answer"], "score": record["score"]}, {"answer": answer, "score": score}
        self.checks["scores"].compare(where, logged, _json(now))

    def _check_totals(self, where: str, record: dict[str, Any], result: Result) -> None:
        """Compare the totals of a line with its trajectory. The extractor's share is not logged."""
        trajectory, names = result.trajectory, ["exit_status", "turns", "tool_calls"]
        status, usage, seconds = trajectory.exit_status, trajectory.usage, trajectory.seconds
        again = replace(result, exit_status=status, usage=usage, seconds=seconds).as_dict()
        if result.extractor_reply is None:
            names += ["usage", "seconds"]
        self.checks["totals"].compare(where, {n: record[n] for n in names}, {n: again[n] for n in names})

    def _note(self) -> str:
        """Return a note if the run was made by another version or commit."""
        then, now = self.folder.read_manifest(), {self.then.get("version"), self.then.get("scorer")}
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


def _wire(trajectory: Trajectory) -> dict[str, Any]:
    """Return a trajectory as it is logged, without elapsed times."""
    wire = to_dict(trajectory)
    wire.setdefault("turns", [])
    wire.setdefault("prompt", [])
    for turn in wire["turns"]:
        turn.pop("seconds", None)
        for result in turn.get("results", ()):
            result.pop("seconds", None)
    return wire
