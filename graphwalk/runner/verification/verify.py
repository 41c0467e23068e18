"""A run worked out again on this machine: graphs, tasks and targets from the seed, every line of the log from them."""

import hashlib
import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from graphwalk.environment import Environment
from graphwalk.errors import OracleError
from graphwalk.models.registry import is_person
from graphwalk.runlog.result import EpisodeKey, Result
from graphwalk.runlog.run_folder import RunFolder
from graphwalk.runner.episode import judge
from graphwalk.runner.fingerprint import code_digests, scorer_digests, tasks_digest, texts_of
from graphwalk.runner.places import Places
from graphwalk.runner.plan import Plan, make_plan
from graphwalk.runner.players import Players
from graphwalk.runner.resolve import Experiment
from graphwalk.runner.verification.again import check_player, check_walk, seated
from graphwalk.runner.verification.findings import Check, Verification, no_findings
from graphwalk.runner.verification.kept_experiment import kept_experiment
from graphwalk.runner.verification.log_lines import checked_lines
from graphwalk.stores.registry import open_database
from graphwalk.stores.store import Database
from graphwalk.types.wire import to_dict


async def verify_run(
    folder: RunFolder,
    environment: Environment,
    store: str | None = None,
    told: Callable[[], object] = lambda: None,
) -> Verification:
    """All checks of a run folder, which is only read. `store`: make the graphs in another one than the run did.
    `told` is called after each line.

    ConfigError where today's GraphWalk cannot read its configuration, StoreError where the store cannot be reached.
    """
    manifest = folder.read_manifest()
    experiment = kept_experiment(folder, environment, store)

    async def open_one() -> Database:
        return await open_database(experiment.config.store, environment, run_id=f"verify-{manifest['run_id']}")

    places = Places(open_one, environment if experiment.config.store == "neo4j" else None)
    plan = Plan()
    try:
        plan = await make_plan(experiment, places, lambda number: None)
        with tempfile.TemporaryDirectory(prefix="graphwalk-") as scratch:
            replies = Path(scratch) / "replies.jsonl"
            if folder.replies_path.exists():
                shutil.copyfile(folder.replies_path, replies)
            async with seated(experiment, replies) as players:
                run = _Run(folder, experiment, plan, players, manifest.get("fingerprint") or {})
                return await run.verified(told)
    finally:
        await plan.drop_graphs()
        await places.close()


class _Run:
    def __init__(
        self, folder: RunFolder, experiment: Experiment, plan: Plan, players: Players, then: dict[str, Any]
    ) -> None:
        self.folder, self.experiment, self.plan, self.players, self.then = folder, experiment, plan, players, then
        self.checks = no_findings()
        self.planned = {episode.key: episode for episode in plan.episodes}
        self.scored: Counter[EpisodeKey] = Counter()

    async def verified(self, told: Callable[[], object]) -> Verification:
        self._check_manifest()
        self._check_texts()
        await self._check_targets()
        for _ in checked_lines(self.folder.replies_path, self.checks["lines"]):
            pass
        for where, record in checked_lines(self.folder.results_path, self.checks["lines"]):
            try:
                result = Result.from_dict(record)
            except (KeyError, TypeError, ValueError) as error:
                self.checks["lines"].differing.append(f"{where}: it is no result: {type(error).__name__} {error}")
                continue
            await self._check_line(where, record, result)
            told()
        self._check_all_played()
        return Verification(self.checks, self._note())

    def _check_manifest(self) -> None:
        """What run.json says of graphs, tasks and episodes."""
        if not self.then:
            self.checks["episodes"].unverified["run.json has no counts: the run ended before its first episode"] += 1
            return
        known = self.plan.known_to(self.then)
        graphs, tasks = _json([loaded.facts for loaded in known.worlds]), known.tasks
        for number in range(max(len(graphs), len(self.then["graphs"]))):
            pair = [found[number] if number < len(found) else None for found in (self.then["graphs"], graphs)]
            self.checks["graphs"].compare(f"run.json: graph {number}", *pair)
        made = {"count": len(tasks), "sha256": tasks_digest(task for task, _ in tasks)}
        self.checks["tasks"].compare("run.json: tasks", self.then["tasks"], made, things=len(tasks))
        if known is self.plan:
            self.checks["episodes"].compare("run.json: episodes", self.then["episodes"], known.due, things=0)
        else:
            self.checks["episodes"].unverified["run.json has no count: the run ended before its plan was whole"] += 1

    def _check_texts(self) -> None:
        """The kept texts against their digests in run.json, and those of today against the kept ones."""
        check, today = self.checks["texts"], texts_of(self.experiment)
        for name, digest in self.then.get("texts", {}).items():
            kept = self.folder.kept_text(name)
            if kept is None:
                check.unverified["not kept in the folder"] += 1
            else:
                check.compare(f"texts/{name}: sha256", digest, _sha(kept))
                if today.get(name) != kept:
                    check.unverified["another text ships today"] += 1

    async def _check_targets(self) -> None:
        check = self.checks["targets"]
        for task, loaded in self.plan.tasks:
            try:
                way = await self.experiment.suite.confirm(task, loaded.world, self.experiment.config.suite)
            except OracleError as error:
                check.differing.append(f"{task.task_id}: {error}")
                continue
            if way is None:
                check.unverified[f"no second way to {task.template}, or none that is quick enough"] += 1
            else:
                check.verified += 1

    async def _check_line(self, where: str, record: dict[str, Any], result: Result) -> None:
        planned = self.planned.get(result.key)
        if planned is None:
            self.checks["episodes"].differing.append(f"{where}: {_named(result.key)} is not part of the run")
        elif result.score is not None and self.scored[result.key]:
            self.checks["episodes"].differing.append(f"{where}: {_named(result.key)} was played before")
        self._check_score(where, record, result)
        self._check_totals(where, record, result)
        if planned is None:
            return
        self.scored[result.key] += not result.exit_status.infrastructure
        self.checks["tasks"].compare(where, record["task"], planned.task.model_dump(mode="json"), things=0)
        self.checks["graphs"].compare(where, record["world"], _json(planned.world.facts), things=0)
        await check_walk(self.checks, where, planned, result, self.experiment)
        await check_player(self.checks["replies"], where, planned, result, self.players)

    def _check_score(self, where: str, record: dict[str, Any], result: Result) -> None:
        suite = self.experiment.suite
        try:
            task = suite.task_type.model_validate(result.task)
            made = judge(suite, task, result.key.setting, result.trajectory, result.extractor_reply)
        except ValidationError as error:
            self.checks["scores"].differing.append(f"{where}: the task cannot be read: {error.errors()[0]['msg']}")
            return
        logged = {"answer": record["answer"], "score": record["score"]}
        self.checks["scores"].compare(where, logged, _json({"answer": made[0], "score": made[1]}))

    def _check_totals(self, where: str, record: dict[str, Any], result: Result) -> None:
        """What a line sums up of its trajectory. An extractor's share of tokens and time is known to nobody else."""
        trajectory, names = result.trajectory, ["exit_status", "turns", "tool_calls"]
        sums: dict[str, Any] = {
            "exit_status": str(trajectory.exit_status),
            "turns": len(trajectory.turns),
            "tool_calls": len(trajectory.results),
            "usage": to_dict(trajectory.usage),
            "seconds": round(trajectory.seconds, 6),
        }
        if result.extractor_reply is None:
            names += ["usage", "seconds"]
        self.checks["totals"].compare(where, {n: record[n] for n in names}, {n: sums[n] for n in names})

    def _check_all_played(self) -> None:
        check: Check = self.checks["episodes"]
        for key in self.planned:
            if self.scored[key] or is_person(key.model):
                check.verified += self.scored[key] == 1
            else:
                check.unverified["not played to its end"] += 1

    def _note(self) -> str:
        """What explains differences that nobody made on purpose."""
        suite = self.experiment.suite
        same = self.then.get("code") == code_digests() and self.then.get("scorer") == scorer_digests(suite)
        commit = self.folder.read_manifest().get("commit")
        return "" if same else f"the code has changed since: the run was made at commit {commit}; verify it there"


def _named(key: EpisodeKey) -> str:
    return f"{key.task_id}, {key.model}, {key.setting}, repeat {key.repeat}"


def _json(value: Any) -> Any:
    return json.loads(json.dumps(value))


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
