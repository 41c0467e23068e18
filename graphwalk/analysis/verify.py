"""Verify a run: repeat it without model calls, and compare all that was logged."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any

from graphwalk.agent.conversation import Conversation
from graphwalk.agent.loop import Episode, run_episode
from graphwalk.errors import GraphwalkError, RunLogError
from graphwalk.models.chat import Model, to_dict
from graphwalk.models.scripted import ReplayModel
from graphwalk.models.trajectory import ExitStatus, Trajectory
from graphwalk.runs.folder import RunFolder
from graphwalk.runs.manifest import differences, tasks_digest
from graphwalk.runs.plan import Plan, PlannedEpisode, make_plan
from graphwalk.runs.record import Result, judge
from graphwalk.runs.resolve import ResolvedExperiment, logged_experiment
from graphwalk.sanitise import quote
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.stores.open import OpenGraphs
from graphwalk.variables import Variables

CHECKS = ("episodes", "texts", "graphs", "tasks", "prompts", "tool results", "turns", "replies", "scores", "totals")
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
            return
        # {".0.content": ("Paris", "paris"), …}: the first of them is named.
        all_differences = differences({"": then}, {"": now})
        name, (before, after) = next(iter(all_differences.items()))
        if isinstance(before, str) and isinstance(after, str):
            # Long texts: what is around the first difference.
            start = max(0, _first_difference(before, after) - _AROUND)
            before = before[start : start + 2 * _AROUND]
            after = after[start : start + 2 * _AROUND]
        name = name.removeprefix(".") or "value"
        self.differing.append(f"{where}: {name}: logged {quote(before)}, now {quote(after)}")


def _first_difference(one: str, other: str) -> int:
    """Return the number of characters with which both texts begin."""
    for place, (character, of_other) in enumerate(zip(one, other, strict=False)):
        if character != of_other:
            return place
    return min(len(one), len(other))


@dataclass(frozen=True)
class RunVerification:
    """All checks of one run, by name in the order of `CHECKS`. `origin`: the version that made the run."""

    checks: Mapping[str, VerifyCheck]
    origin: str

    @property
    def holds(self) -> bool:
        return not any(check.differing for check in self.checks.values())

    @property
    def error(self) -> GraphwalkError | None:
        """The first differences as a RunLogError; None without differences."""
        if self.holds:
            return None
        differing = []
        for name, check in self.checks.items():
            differing += [f"{name}: {text}" for text in check.differing]
        lines = ["the run is not reproducible:", *differing[:_SHOWN]]
        if len(differing) > _SHOWN:
            lines.append(f"… and {len(differing) - _SHOWN} more")
        return RunLogError(
            "\n".join(lines), hint=f"use the version that made the run, {self.origin}, if this is another one"
        )

    def as_json(self) -> str:
        checks = [{"check": name, **vars(check)} for name, check in self.checks.items()]
        return json.dumps({"holds": self.holds, "origin": self.origin, "checks": checks}, indent=2)


async def verify_run(
    folder: RunFolder,
    variables: Variables,
    done: Callable[[], object] = lambda: None,
) -> RunVerification:
    """Check everything in a run folder, which is only read. Graphs are loaded into the embedded engine.

    `done` is called after each result. Raise RunLogError for a damaged line, ConfigError if this version cannot read
    the configuration, StoreError if an existing database of the run cannot be reached.
    """
    manifest = folder.read_manifest()
    then = manifest["fingerprint"]
    experiment = logged_experiment(folder, variables)
    # A run may come from a stranger: nothing is loaded into a database of the user because of it.
    left_out_cypher = any("write_cypher" in graph.get("left_out", {}) for graph in then["graphs"])
    memory = EmbeddedDatabase(takes_queries=not left_out_cypher)
    checks = {name: VerifyCheck() for name in CHECKS}
    async with OpenGraphs(variables, database=memory) as graphs:
        plan = await make_plan(experiment, graphs, lambda number: None)
        _check_manifest(then, plan, checks)
        _check_texts(folder, then, checks["texts"])
        unfinished = {one.key: one for one in plan.episodes}
        for number, record in enumerate(folder.records(), 1):
            where = f"results.jsonl:{number}"
            result = Result.from_dict(record)
            planned = unfinished.get(result.key)
            if planned is None:
                checks["episodes"].differing.append(f"{where}: {result.key.in_words} is not part of the run")
                continue
            if not result.exit_status.infrastructure:
                del unfinished[result.key]
                checks["episodes"].verified += 1
            await _check_result(where, record, result, planned, experiment, checks)
            done()
        if unfinished:
            checks["episodes"].unverified["not finished"] += len(unfinished)
    return RunVerification(checks, f"GraphWalk {manifest['graphwalk_version']}, commit {manifest.get('commit')}")


def _check_manifest(then: Mapping[str, Any], plan: Plan, checks: Mapping[str, VerifyCheck]) -> None:
    """Compare run.json with the graphs, tasks and episodes of the plan."""
    facts = _json([graph.facts for graph in plan.graphs])
    for number, (graph_then, graph_now) in enumerate(zip_longest(then["graphs"], facts)):
        checks["graphs"].compare(f"run.json: graph {number}", graph_then, graph_now)
    digest = {"count": len(plan.tasks), "sha256": tasks_digest(task for task, _ in plan.tasks)}
    checks["tasks"].compare("run.json: tasks", then["tasks"], digest, things=len(plan.tasks))
    checks["episodes"].compare("run.json: episodes", then["episodes"], len(plan.episodes), things=0)


def _check_texts(folder: RunFolder, then: Mapping[str, Any], check: VerifyCheck) -> None:
    """Compare the texts in the folder with their digests in run.json."""
    for name, digest in then["texts"].items():
        text = folder.read_text(name)
        if text is None:
            check.unverified["not text in the folder"] += 1
            continue
        check.compare(f"texts/{name}: sha256", digest, hashlib.sha256(text.encode()).hexdigest())


async def _check_result(
    where: str,
    record: dict[str, Any],
    then: Result,
    planned: PlannedEpisode,
    experiment: ResolvedExperiment,
    checks: Mapping[str, VerifyCheck],
) -> None:
    """Play the episode of one line of the log again, score it, and compare all parts of the line."""
    trajectory = then.trajectory
    task = experiment.suite.task_type.model_validate(then.task)
    answer, score = judge(task, trajectory, then.extractor_reply, experiment.config.scoring)
    # The extractor's share of tokens and seconds is not logged.
    is_without_extractor = then.extractor_reply is None
    now = replace(
        then,
        exit_status=trajectory.exit_status,
        answer=answer,
        score=score,
        usage=trajectory.usage if is_without_extractor else then.usage,
        seconds=trajectory.seconds if is_without_extractor else then.seconds,
        task=planned.task.model_dump(mode="json"),
        graph=planned.graph.facts,
    )
    parts = _parts(record, to_dict(trajectory))
    parts_now = _parts(_json(now.as_dict()), to_dict(await _play_again(planned, then, experiment)))
    compared = set(parts)
    if trajectory.exit_status.infrastructure:
        compared = {"tasks", "graphs", "prompts", "totals"}
        checks["turns"].unverified["ended by a failure of provider or store"] += 1
    elif not then.key.model.startswith("scripted/"):
        compared.remove("replies")
        checks["replies"].unverified["of a language model"] += len(parts["replies"])
    if trajectory.exit_status is ExitStatus.CONTEXT_OVERFLOW:
        # The last entry is the status: a replay of logged replies fails where these end, and overflows no window.
        parts_now["turns"][-1] = parts["turns"][-1]
    # Tasks and graphs are counted with run.json; the other parts are one thing each.
    numbers = {"tasks": 0, "graphs": 0, "tool results": len(parts["tool results"]), "replies": len(parts["replies"])}
    for name in parts:
        if name in compared:
            checks[name].compare(where, parts[name], parts_now[name], things=numbers.get(name, 1))


async def _play_again(planned: PlannedEpisode, then: Result, experiment: ResolvedExperiment) -> Trajectory:
    """Play an episode with the scripted agent or the logged replies that played it."""
    experiment = experiment.of(planned.key.setting)
    provider, _, name = then.key.model.partition("/")
    model: Model
    if provider == "scripted":
        model = await planned.scripted(name, experiment)
    else:
        model = ReplayModel(then.key.model, then.trajectory)
    start = Conversation(await planned.prompt(experiment), experiment.config.agent, experiment.config.limits)
    again = await run_episode(Episode(start, model, experiment.options))
    await model.close()
    return again


def _parts(record: Mapping[str, Any], trajectory: Mapping[str, Any]) -> dict[str, Any]:
    """Return what each check compares of a line and its trajectory, without the elapsed times of calls."""
    turns = trajectory.get("turns", [])
    replies = []
    results = []
    courses: list[Any] = []
    for turn in turns:
        replies.append(turn["message"])
        of_turn = turn.get("results", [])
        results += [_without_time(result) for result in of_turn]
        # {"calls": 2, "next_user": None, "forced": None}
        courses.append({"calls": len(of_turn), "next_user": turn.get("next_user"), "forced": turn.get("forced")})
    return {
        "tasks": record["task"],
        "graphs": record["graph"],
        "prompts": trajectory.get("prompt", []),
        "replies": replies,
        "tool results": results,
        "turns": [*courses, trajectory["exit_status"]],
        "scores": {"answer": record["answer"], "score": record["score"]},
        "totals": {name: record[name] for name in ("exit_status", "turns", "tool_calls", "usage", "seconds")},
    }


def _without_time(result: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in result.items() if name != "seconds"}


def _json(value: Any) -> Any:
    return json.loads(json.dumps(value))
