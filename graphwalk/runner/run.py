"""A whole run: plan, players, episodes in flight, log; and going on with one that was interrupted."""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Any

from graphwalk.environment import Environment
from graphwalk.errors import ConfigError, GraphwalkError, RunLogError, StoreError
from graphwalk.experiments.loading import experiment_from
from graphwalk.models.base import Model
from graphwalk.runlog.diary import diary
from graphwalk.runlog.mark import Mark, with_conditions
from graphwalk.runlog.result import EpisodeKey
from graphwalk.runlog.run_folder import NewRun, RunFolder
from graphwalk.runner.drift import settle
from graphwalk.runner.fingerprint import conditions_digest
from graphwalk.runner.manifest import new_manifest, prices_in
from graphwalk.runner.places import Places
from graphwalk.runner.plan import Plan, PlannedEpisode, grow
from graphwalk.runner.players import Players
from graphwalk.runner.progress import Logged, Progress
from graphwalk.runner.resolve import Experiment, resolve
from graphwalk.runner.shards import WHOLE, Shard
from graphwalk.runner.sitting import Sitting, is_played_by_itself
from graphwalk.runner.tally import RunSummary, Tally, earlier_results
from graphwalk.runner.workers import Workers
from graphwalk.stores.outage import Gate
from graphwalk.stores.registry import open_database
from graphwalk.stores.store import Database

_CLEAN_UP_SECONDS = 2.0
"""An interrupted run waits this long for the database to drop its graphs, and as long for it to close."""


async def start_run(
    experiment: Experiment,
    new: NewRun,
    progress: Progress,
    *,
    log_level: str = "info",
    sitting: Sitting | None = None,
    shard: Shard = WHOLE,
) -> RunSummary:
    """Begin a run, or one `shard` of it, in its new folder and work until it is done. Errors of the run are raised.

    `log_level` is that of run.log: one of `graphwalk.runlog.diary.LEVELS`. `sitting`: only this person plays.
    """
    with new.folder.lock():
        manifest = new_manifest(experiment, new.run_id, new.created)
        if shard != WHOLE:
            manifest["shard"] = str(shard)
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
            internal = isinstance(error, Exception) and not isinstance(error, GraphwalkError)
            log.log(
                logging.ERROR, "ended by %s: %s", type(error).__name__, error, exc_info=internal or level == "debug"
            )
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
        self._shard = Shard.parse(manifest.get("shard", str(WHOLE)))
        self.mark = Mark(manifest["run_id"], conditions_digest(experiment))
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

    async def _settle(self, plan: Plan, then: Mapping[str, Any] | None, *, whole: bool) -> None:
        """Record what the run is about, or refuse to go on where that is no longer the same."""
        now = await settle(self.folder, self.experiment, plan, then, whole=whole)
        self.manifest = {**with_conditions(self.manifest, self.mark), "fingerprint": now}
        if whole and self._shard != WHOLE:
            self.manifest["shard_episodes"] = self._due(plan)
        if whole and plan.unplayed:
            self.manifest["unplayed"] = list(plan.unplayed_notes())
        self.folder.write_manifest(self.manifest)

    async def _play_all(self, plan: Plan, players: Players) -> RunSummary:
        tally, lines = earlier_results(self.folder)
        if tally.status_of:
            players.budget.charge(tally.usage)
        if self.experiment.without_stage_2:
            self.progress.note(self.experiment.without_stage_2)
        self.progress.priced(tally.usage, self.experiment.prices)
        workers = Workers(
            self.experiment, players, self.folder, self.mark, self._gate, self.progress, tally, self.sitting
        )
        await workers.play(self._left(plan, tally, lines))
        for caveat in players.caveats():
            self.progress.note(caveat)
        summary = tally.summary(self._due(plan), players.budget.exhausted)
        if summary.finished == summary.episodes:
            self.folder.compress_results()
        return summary

    def _due(self, plan: Plan) -> int:
        """Episodes that this run, or its shard, is not finished without."""
        return sum(is_played_by_itself(planned.key) for planned in self._shard.part(plan, plan.episodes))

    async def _left(
        self, plan: Plan, tally: Tally, lines: Mapping[EpisodeKey, int]
    ) -> AsyncIterator[list[PlannedEpisode]]:
        """What is to be played and has no result yet, as it is planned. `lines`: where in the log episodes are."""
        earlier, done = frozenset(tally.status_of), tally.due
        plays = self.sitting.plays if self.sitting else is_played_by_itself
        async for episodes in self._planned(plan, at_once=not lines and self.sitting is None):
            if lines:
                self._refuse_others(plan, lines)
            mine = self._shard.part(plan, episodes)
            yield [planned for planned in mine if planned.key not in earlier and plays(planned.key)]
        self.progress.started(self._due(plan), done)

    async def _planned(self, plan: Plan, *, at_once: bool) -> AsyncIterator[list[PlannedEpisode]]:
        """The episodes of a new run `at_once` when their graph is ready; else all, when they are known to be as they
        were."""
        then, settled = self.manifest.get("fingerprint"), 0
        at_once = at_once and then is None
        async for episodes in grow(plan, self.experiment, self.places, self.progress.planning):
            if at_once:
                if len(plan.worlds) >= 2 * settled:
                    settled = len(plan.worlds)
                    await self._settle(plan, None, whole=False)
                yield episodes
                await asyncio.sleep(0)
        await self._settle(plan, then, whole=True)
        for note in plan.notes():
            self.progress.note(note)
        if not at_once:
            yield plan.episodes

    def _refuse_others(self, plan: Plan, lines: Mapping[EpisodeKey, int]) -> None:
        planned = {episode.key for episode in plan.episodes}
        for key, number in lines.items():
            if key not in planned:
                raise RunLogError(f"{self.folder.results_path}:{number}: the episode is not part of this run: {key}")

    async def _clean_up(self, plan: Plan) -> None:
        """Leave the database as it was found; where that takes too long, `graphwalk db clean` does it later."""
        task = asyncio.current_task()
        interrupted = task is not None and task.cancelling() > 0
        limit = _CLEAN_UP_SECONDS if interrupted else None
        try:
            try:
                if self.places.used and not self.config.keep and self._gate.lost is None:
                    async with asyncio.timeout(limit):
                        await plan.drop_graphs()
            finally:
                async with asyncio.timeout(limit):
                    await self.places.close()
        except (StoreError, TimeoutError) as error:
            cause = (str(error) or "time out").splitlines()[0]
            self.progress.note(f"graphs may be left in the database ({cause}): graphwalk db clean")
