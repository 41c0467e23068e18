"""A whole run: plan, players, episodes in flight, log; and going on with one that was interrupted."""

import asyncio
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from graphwalk.collection import rare_collection
from graphwalk.environment import Environment
from graphwalk.errors import ConfigError, RunLogError, StoreError
from graphwalk.experiments.loading import experiment_from
from graphwalk.jsonlines import LineWriter
from graphwalk.models.model import Model
from graphwalk.runlog.diary import diary
from graphwalk.runlog.mark import Mark, with_conditions
from graphwalk.runlog.result import EpisodeKey, key_of
from graphwalk.runlog.run_folder import NewRun, RunFolder
from graphwalk.runner.drift import settle
from graphwalk.runner.episode import play
from graphwalk.runner.fingerprint import conditions_digest
from graphwalk.runner.giving_up import GivingUp
from graphwalk.runner.manifest import new_manifest, prices_in
from graphwalk.runner.places import Places
from graphwalk.runner.plan import Plan, PlannedEpisode, make_plan
from graphwalk.runner.players import Players
from graphwalk.runner.progress import Logged, Progress
from graphwalk.runner.resolve import Experiment, resolve
from graphwalk.runner.sitting import Sitting, is_played_by_itself
from graphwalk.stores.outage import Gate
from graphwalk.stores.registry import open_database
from graphwalk.stores.store import Database
from graphwalk.types.chat import Usage
from graphwalk.types.episode import ExitStatus
from graphwalk.types.wire import from_dict

_CLEAN_UP_SECONDS = 3.5
"""An interrupted run has to end within five seconds (`graphwalk.asynchronous.END_SECONDS`)."""
_START_SECONDS = 0.003
"""Between the starts of two workers. Begun at once, they would wait for their replies at once and work at once, again
and again, where the server always takes the same time."""


@dataclass(frozen=True)
class RunSummary:
    """How a run stands when its process ends."""

    episodes: int
    finished: int
    failed: int
    """Episodes that ended in an infrastructure failure; a resume tries them again."""
    usage: Usage
    budget_reached: bool


async def start_run(
    experiment: Experiment,
    new: NewRun,
    progress: Progress,
    *,
    log_level: str = "info",
    sitting: Sitting | None = None,
) -> RunSummary:
    """Begin a run in its new folder and work until it is done. Errors of the run itself are raised.

    `log_level` is that of run.log: one of `graphwalk.runlog.diary.LEVELS`. `sitting`: only this person plays.
    """
    with new.folder.lock():
        manifest = new_manifest(experiment, new.run_id, new.created)
        new.folder.write_manifest(manifest)
        return await _worked(experiment, new.folder, progress, manifest, log_level, sitting)


async def resume_run(
    folder: RunFolder,
    environment: Environment,
    progress: Progress,
    changes: Mapping[str, Any] | None = None,
    given: Mapping[str, Model] | None = None,
    *,
    log_level: str = "info",
    sitting: Sitting | None = None,
) -> RunSummary:
    """Go on with a run: finished episodes stay, failed ones are tried again, paid replies are not asked for again.

    `sitting`: a person takes part in it, and nobody else plays. `changes` replaces fields of the limits (concurrency,
    budgets, …); `given` are models that the caller has made, by name. RunLogError where anything else has changed.
    """
    with folder.lock():
        manifest = folder.read_manifest()
        data = manifest.get("config")
        if not isinstance(data, dict):
            raise RunLogError(f"{folder.manifest_path} holds no configuration")
        limits = {**data.get("limits", {}), **(changes or {})}
        models = data.get("models", ())
        if sitting is not None and sitting.model not in models:
            models = [*models, sitting.model]
        try:
            config = experiment_from({**data, "limits": limits, "models": models}, str(folder.manifest_path))
        except ConfigError as error:
            error.hint = error.hint or f"texts as the run began with them are in {folder.texts_path}"
            raise
        manifest["config"] = config.model_dump(mode="json")
        keys = sitting is None
        experiment = resolve(config, environment, given=given, prices=prices_in(manifest), person=True, keys=keys)
        if sitting is not None:
            experiment = replace(experiment, extractor=(manifest.get("fingerprint") or {}).get("stage_2"))
        return await _worked(experiment, folder, progress, manifest, log_level, sitting)


async def _worked(
    experiment: Experiment,
    folder: RunFolder,
    progress: Progress,
    manifest: dict[str, Any],
    level: str,
    sitting: Sitting | None,
) -> RunSummary:
    with diary(folder.log_path, level, experiment.environment.redact) as log:
        log.info("GraphWalk %s works on %s", manifest["graphwalk_version"], folder.path)
        try:
            summary = await _Run(experiment, folder, Logged(progress, log), manifest, sitting).work()
        except BaseException as error:
            log.log(logging.ERROR, "ended by %s: %s", type(error).__name__, error, exc_info=level == "debug")
            raise
        log.info("%d of %d episodes have a score, %d failed", summary.finished, summary.episodes, summary.failed)
        return summary


class _Run:
    """One process working on one run folder."""

    def __init__(
        self,
        experiment: Experiment,
        folder: RunFolder,
        progress: Progress,
        manifest: dict[str, Any],
        sitting: Sitting | None,
    ) -> None:
        self.sitting = sitting
        self.experiment, self.folder = experiment, folder
        self.progress, self.manifest = progress, manifest
        self.config = experiment.config
        self.mark = Mark(manifest["run_id"], None)
        self._giving_up = GivingUp(progress.note)
        self._gate = Gate(self.config.limits.store_wait_seconds, progress.note)
        stands = self.config.store == "neo4j"
        self.places = Places(self._open_database, experiment.environment if stands else None, self._gate)

    async def work(self) -> RunSummary:
        plan = Plan()
        seated, read = self.experiment, None
        if self.sitting is not None:
            # Where a person plays, no model is called, and no key of one is needed.
            seated, read = replace(seated, models=(self.sitting.model,), extractor=None), self.sitting.read
        async with Players(seated, self.folder.replies_path, read, self.progress.note) as players:
            try:
                plan = await make_plan(self.experiment, self.places, self.progress.planning)
                await self._settle_manifest(plan)
                for note in plan.notes():
                    self.progress.note(note)
                with rare_collection():
                    summary = await self._play_all(plan, players)
                await self._note_changes()
                return summary
            finally:
                await self._clean_up(plan)

    async def _open_database(self) -> Database:
        return await open_database(
            self.config.store,
            self.experiment.environment,
            run_id=self.manifest["run_id"],
            timeout_seconds=self.config.limits.store_seconds,
            wait_seconds=self.config.limits.store_wait_seconds,
        )

    async def _note_changes(self) -> None:
        """Targets are right for the graph as it was when the questions were drawn."""
        for name in await self.places.changed():
            self.manifest.setdefault("changed_meanwhile", []).append(name)
            self.folder.write_manifest(self.manifest)
            self.progress.note(
                f"the database {name} was changed while it was walked: answers may be right that count as wrong"
            )

    async def _settle_manifest(self, plan: Plan) -> None:
        """Record what the run is about, or refuse to go on where that is no longer the same."""
        then = self.manifest.get("fingerprint")
        now = await settle(self.folder, self.experiment, plan, then)
        conditions = conditions_digest(now)
        self.manifest = {**with_conditions(self.manifest, conditions), "fingerprint": now}
        self.mark = Mark(self.manifest["run_id"], conditions)
        self.folder.write_manifest(self.manifest)

    async def _play_all(self, plan: Plan, players: Players) -> RunSummary:
        tally = self._earlier_results(plan)
        if tally.status_of:
            players.budget.charge(tally.usage)
        if self.experiment.without_stage_2:
            self.progress.note(self.experiment.without_stage_2)
        self.progress.priced(tally.usage, self.experiment.prices)
        self.progress.started(plan.due, tally.due)
        plays = self.sitting.plays if self.sitting else is_played_by_itself
        pending = [planned for planned in plan.episodes if planned.key not in tally.status_of and plays(planned.key)]
        if pending:
            await self._play(pending, players, tally)
        for caveat in players.caveats():
            self.progress.note(caveat)
        summary = tally.summary(plan.due, players.budget.exhausted)
        if summary.finished == summary.episodes:
            self.folder.compress_results()
        return summary

    async def _play(self, pending: Sequence[PlannedEpisode], players: Players, tally: "_Tally") -> None:
        left = iter(pending)
        writer = self.folder.results_writer()
        players.keeps_results = writer.check
        try:
            async with asyncio.TaskGroup() as group:
                workers = 1 if self.sitting else self.config.limits.max_concurrency
                for number in range(min(workers, len(pending))):
                    group.create_task(self._work_off(number, left, players, writer, tally))
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None
        finally:
            writer.close()

    async def _work_off(
        self,
        number: int,
        pending: Iterator[PlannedEpisode],
        players: Players,
        writer: LineWriter,
        tally: "_Tally",
    ) -> None:
        """One of the workers that share the episodes that are left."""
        await asyncio.sleep(number * _START_SECONDS)
        played = False
        for planned in pending:
            if players.budget.exhausted:
                return
            if self._giving_up.hopeless(planned.key.model):
                continue
            if self.sitting and played and not await self.sitting.goes_on():
                return
            played = True
            await self._gate.settled()
            async with players.seat(planned) as (model, extractor):
                result = await play(planned, model, extractor, self.experiment)
            writer.append(self.mark.on(result.as_dict()))
            tally.count(planned.key, result.exit_status, result.usage)
            self._giving_up.count(result)
            self.progress.finished(result)
            if self._gate.lost is not None:
                raise self._gate.lost
            await asyncio.sleep(0)

    def _earlier_results(self, plan: Plan) -> "_Tally":
        """What earlier processes finished; failures are left out, so that they are tried again."""
        planned = {episode.key for episode in plan.episodes}
        tally = _Tally()
        for number, record in enumerate(self.folder.records(), 1):
            key, status = key_of(record), ExitStatus(record["exit_status"])
            if key not in planned:
                raise RunLogError(f"{self.folder.results_path}:{number}: the episode is not part of this run: {key}")
            if not status.infrastructure:
                tally.count(key, status, from_dict(Usage, record["usage"]))
        return tally

    async def _clean_up(self, plan: Plan) -> None:
        """Leave the database as it was found; where that takes too long, `graphwalk db clean` does it later."""
        task = asyncio.current_task()
        interrupted = task is not None and task.cancelling() > 0
        try:
            async with asyncio.timeout(_CLEAN_UP_SECONDS if interrupted else None):
                try:
                    if self.places.used and not self.config.keep and self._gate.lost is None:
                        await plan.drop_graphs()
                finally:
                    await self.places.close()
        except (StoreError, TimeoutError) as error:
            cause = (str(error) or "time out").splitlines()[0]
            self.progress.note(f"graphs may be left in the database ({cause}): graphwalk db clean")


@dataclass
class _Tally:
    """Finished episodes and what they cost."""

    status_of: dict[EpisodeKey, ExitStatus] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)

    @property
    def due(self) -> int:
        """Those that the run is not finished without."""
        return sum(map(is_played_by_itself, self.status_of))

    def count(self, key: EpisodeKey, status: ExitStatus, usage: Usage) -> None:
        self.status_of[key] = status
        self.usage += usage

    def summary(self, episodes: int, budget_reached: bool) -> RunSummary:
        failed = sum(status.infrastructure for key, status in self.status_of.items() if is_played_by_itself(key))
        return RunSummary(episodes, self.due - failed, failed, self.usage, budget_reached)
