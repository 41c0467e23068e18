"""Start and resume a run: play its planned episodes concurrently, and log each result at once."""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from graphwalk.errors import ConfigError, GraphwalkError, RunLogError, StoreError
from graphwalk.experiments.loading import experiment_from
from graphwalk.experiments.protocol_differences import deviations, protocol_note
from graphwalk.files.json_lines import LineWriter
from graphwalk.models.base import Model
from graphwalk.models.prices import KnownPrice
from graphwalk.runs.episodes.episode import RunModels, play, unrecorded
from graphwalk.runs.episodes.fingerprint import check_unchanged, new_manifest
from graphwalk.runs.episodes.graph_sources import sources_for
from graphwalk.runs.episodes.plan import Plan, PlannedEpisode, grow
from graphwalk.runs.episodes.resolve import Experiment, resolve
from graphwalk.runs.folder.result import EpisodeKey, Result
from graphwalk.runs.folder.run_folder import NewRun, RunFolder
from graphwalk.runs.playing.counters import CircuitBreaker, RunSummary, earlier_results
from graphwalk.runs.playing.run_log import run_log
from graphwalk.runs.playing.run_progress import Progress
from graphwalk.runs.playing.shards import WHOLE, Shard
from graphwalk.settings import Settings
from graphwalk.stores.health import HealthCheck

_LOGGER = logging.getLogger("graphwalk")
_CLEAN_UP_SECONDS = 2.0
"""Longest wait of an interrupted run for the database to drop its graphs, and again to close."""
_OPEN_FILES = 10_000
"""Enough for any number of episodes in flight."""


async def start_run(
    experiment: Experiment,
    new: NewRun,
    progress: Progress,
    *,
    log_level: str = "info",
    shard: Shard = WHOLE,
) -> RunSummary:
    """Start a run, or one `shard` of it, in its new folder and play it to its end. Errors of the run are raised.

    `log_level`: "debug", "info", "warning" or "error".
    """
    with new.folder.lock():
        manifest = new_manifest(experiment, new.run_id, new.created)
        if shard != WHOLE:
            manifest["shard"] = str(shard)
        new.folder.write_manifest(manifest)
        return await _PlayedRun(experiment, new.folder, progress, manifest, log_level).play()


async def resume_run(
    folder: RunFolder,
    settings: Settings,
    progress: Progress,
    changes: Mapping[str, Any] | None = None,
    objects: Mapping[str, Model] | None = None,
    *,
    log_level: str = "info",
) -> RunSummary:
    """Resume a run: keep finished episodes, retry failed ones, reuse cached replies.

    `changes` replaces fields of the limits (concurrency, budgets, …); `objects`: name → model object of the caller.
    Raise RunLogError if anything else has changed.
    """
    with folder.lock():
        manifest = folder.read_manifest()
        data = manifest["config"]
        limits = {**data.get("limits", {}), **(changes or {})}
        try:
            config = experiment_from({**data, "limits": limits}, str(folder.manifest_path))
        except ConfigError as error:
            error.hint = error.hint or f"the original texts of the run are in {folder.texts_path}"
            raise
        manifest["config"] = config.model_dump(mode="json")
        try:
            prices = {model: KnownPrice.model_validate(price) for model, price in manifest["prices"].items()}
        except (LookupError, AttributeError, ValidationError) as error:
            raise RunLogError(f"{folder.manifest_path}: its prices cannot be read: {error}") from None
        experiment = resolve(config, settings, objects=objects, prices=prices)
        return await _PlayedRun(experiment, folder, progress, manifest, log_level).play()


@dataclass
class _PlayedRun:
    """One process that plays the episodes of a run folder, with one worker per episode in flight."""

    experiment: Experiment
    folder: RunFolder
    progress: Progress
    manifest: dict[str, Any]
    log_level: str

    def __post_init__(self) -> None:
        self._shard = Shard.parse(self.manifest.get("shard", str(WHOLE)))
        self._queue: asyncio.Queue[PlannedEpisode | None] = asyncio.Queue()

    async def play(self) -> RunSummary:
        """Play the episodes without a result while the plan grows, and return the summary. Raise errors of the run.

        The file of results is opened with the first episode, so that the one of a finished run stays compressed.
        """
        plan, limits, writer, started = Plan(), self.experiment.config.limits, None, 0
        async with AsyncExitStack() as stack:
            log = stack.enter_context(
                run_log(self.folder.log_path, self.log_level, self.experiment.settings.secrets.redact)
            )
            log.info("GraphWalk %s works on %s", self.manifest["graphwalk_version"], self.folder.path)
            self._health = HealthCheck(limits.store_wait_seconds, self._note)
            self._sources = sources_for(self.experiment, self.manifest["run_id"], self._health)
            models = RunModels(self.experiment, self.folder.replies_path, self._note)
            self._models = await stack.enter_async_context(models)
            stack.push_async_callback(self._clean_up)
            self._counters, lines = earlier_results(self.folder)
            self._breaker = CircuitBreaker(self._note, self._counters.replied)
            self._announce()
            raise_file_limit()
            try:
                async with asyncio.TaskGroup() as workers:
                    async for episodes in self._unplayed_episodes(plan, lines):
                        if episodes and writer is None:
                            writer = self.folder.results_writer()
                            models.check_results = writer.check
                        for planned in episodes:
                            self._queue.put_nowait(planned)
                        for _ in range(started, min(limits.max_concurrency, started + len(episodes))):
                            assert writer is not None
                            workers.create_task(self._work(writer))
                            started += 1
                    for _ in range(started):
                        self._queue.put_nowait(None)
            except BaseExceptionGroup as errors:
                raise errors.exceptions[0] from None
            finally:
                if writer is not None:
                    writer.close()
            await self._conclude()
            summary = self._counters.summary(self._due(plan), models.budget.exhausted)
            log.info("%d of %d episodes have a score, %d failed", summary.finished, summary.episodes, summary.failed)
        return summary

    async def _work(self, writer: LineWriter) -> None:
        """Play episodes from the queue until it ends or the budget is spent, and log each result."""
        while (planned := await self._queue.get()) is not None:
            if self._models.budget.exhausted:
                return
            if self._breaker.skips(planned.key.model):
                continue
            await self._health.finished()
            async with self._models.for_episode(planned) as (model, extractor):
                result = await play(planned, model, extractor, self.experiment)
            try:
                writer.append(result.as_line(self.manifest))
            except GraphwalkError:
                raise
            except Exception as error:
                result = unrecorded(planned, self.experiment, error)
                writer.append(result.as_line(self.manifest))
            self._counters.count(planned.key, result.exit_status, result.usage)
            self._breaker.count(result)
            _log_result(result)
            self.progress.finished(result)
            if self._health.failure is not None:
                raise self._health.failure
            await asyncio.sleep(0)

    def _announce(self) -> None:
        """Charge the usage of earlier processes to the budget, and note what is special about the run."""
        usage = self._counters.usage
        if self._counters.status_of:
            self._models.budget.charge(usage)
        if self.experiment.without_extractor:
            self._note(self.experiment.without_extractor)
        if deviations(self.manifest["config"]):
            self._note(protocol_note(self.manifest["config"]))
        self.progress.priced(usage, self.experiment.prices)

    async def _conclude(self) -> None:
        """Compress the results, and record databases that changed during the run."""
        for caveat in self._models.caveats():
            self._note(caveat)
        self.folder.compress_results()
        for name in await self._sources.changed():
            self.manifest.setdefault("changed_meanwhile", []).append(name)
            self.folder.write_manifest(self.manifest)
            self._note(f"the database {name} changed during the run: correct answers may be scored as wrong")

    def _check_unchanged(self, plan: Plan, then: Mapping[str, Any] | None, *, whole: bool) -> None:
        """Write the fingerprint of the run. Raise RunLogError if it differs from `then`."""
        self.manifest["fingerprint"] = check_unchanged(self.folder, self.experiment, plan, then, whole=whole)
        if whole and self._shard != WHOLE:
            self.manifest["shard_episodes"] = self._due(plan)
        if whole and plan.unplayed:
            self.manifest["unplayed"] = list(plan.unplayed_notes())
        self.folder.write_manifest(self.manifest)

    def _due(self, plan: Plan) -> int:
        """Return the number of episodes of this run, or of its shard."""
        return sum(1 for _ in self._shard.part(plan, plan.episodes))

    async def _unplayed_episodes(
        self, plan: Plan, lines: Mapping[EpisodeKey, int]
    ) -> AsyncIterator[list[PlannedEpisode]]:
        """Yield the episodes without a result as they are planned. `lines`: the line of each logged episode."""
        earlier = frozenset(self._counters.status_of)
        async for episodes in self._planned(plan, at_once=not lines):
            if lines:
                keys = {episode.key for episode in plan.episodes}
                if other := next((key for key in lines if key not in keys), None):
                    place = f"{self.folder.results_path}:{lines[other]}"
                    raise RunLogError(f"{place}: the episode is not part of this run: {other}")
            part = self._shard.part(plan, episodes)
            yield [planned for planned in part if planned.key not in earlier]
        _LOGGER.info("%d episodes planned, %d of them finished earlier", self._due(plan), len(earlier))
        self.progress.started(self._due(plan), len(earlier))

    async def _planned(self, plan: Plan, *, at_once: bool) -> AsyncIterator[list[PlannedEpisode]]:
        """Yield the episodes of a new run graph by graph (`at_once`); else all, after the plan is checked."""
        then, settled = self.manifest.get("fingerprint"), 0
        at_once = at_once and then is None
        async for episodes in grow(plan, self.experiment, self._sources, self.progress.planning):
            if at_once:
                if len(plan.graphs) >= 2 * settled:
                    settled = len(plan.graphs)
                    self._check_unchanged(plan, None, whole=False)
                yield episodes
                await asyncio.sleep(0)
        self._check_unchanged(plan, then, whole=True)
        for note in plan.notes():
            self._note(note)
        if not at_once:
            yield plan.episodes

    def _note(self, text: str) -> None:
        _LOGGER.warning("%s", text)
        self.progress.note(text)

    async def _clean_up(self) -> None:
        """Drop the graphs of the run and close the stores, with a time limit if the run was interrupted."""
        task = asyncio.current_task()
        interrupted = task is not None and task.cancelling() > 0
        limit = _CLEAN_UP_SECONDS if interrupted else None
        try:
            try:
                if not self.experiment.config.keep and self._health.failure is None:
                    async with asyncio.timeout(limit):
                        await self._sources.drop_graphs()
            finally:
                async with asyncio.timeout(limit):
                    await self._sources.close()
            if self._sources.half_loaded:
                raise StoreError("a load was interrupted")
        except (StoreError, TimeoutError) as error:
            cause = (str(error) or "time out").splitlines()[0]
            self._note(f"graphs may be left in the database ({cause}); to remove them: graphwalk db clean")


def _log_result(result: Result) -> None:
    level = logging.WARNING if result.exit_status.infrastructure else logging.DEBUG
    outcome = result.trajectory.error or f"correct: {bool(result.score and result.score['correct'])}"
    _LOGGER.log(level, "%s: %s, %s", " ".join(map(str, result.key)), result.exit_status, outcome)


def raise_file_limit() -> None:
    """Raise the limit on open files as far as this process may: an episode needs two, for its model and a database."""
    try:
        import resource
    except ImportError:
        return  # Windows has no such limit
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _OPEN_FILES if hard == resource.RLIM_INFINITY else min(_OPEN_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
