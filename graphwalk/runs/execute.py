"""Start and resume a run: plan, models, worker pool, log."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from graphwalk.errors import ConfigError, GraphwalkError, RunLogError, StoreError
from graphwalk.experiments.loading import experiment_from
from graphwalk.models.base import Model
from graphwalk.models.prices import KnownPrice
from graphwalk.runs.experiment import Experiment, resolve
from graphwalk.runs.fingerprint import check_unchanged, new_manifest
from graphwalk.runs.graph_sources import sources_for
from graphwalk.runs.plan import Plan, PlannedEpisode, grow
from graphwalk.runs.progress import LoggedProgress, Progress
from graphwalk.runs.protocol import deviations, protocol_note
from graphwalk.runs.result import EpisodeKey
from graphwalk.runs.run_folder import NewRun, RunFolder
from graphwalk.runs.run_models import RunModels
from graphwalk.runs.shards import WHOLE, Shard
from graphwalk.runs.worker_pool import EpisodeCounters, RunSummary, WorkerPool, earlier_results
from graphwalk.sanitise import one_line
from graphwalk.settings import Settings
from graphwalk.stores.health import HealthCheck

_LOGGER = logging.getLogger("graphwalk")
_LONGEST_LINE = 10_000
"""Characters of a line of `run.log`."""
_LOG_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
_CLEAN_UP_SECONDS = 2.0
"""Longest wait of an interrupted run for the database to drop its graphs, and again to close."""


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
        return await _worked(experiment, new.folder, progress, manifest, log_level)


async def resume_run(
    folder: RunFolder,
    settings: Settings,
    progress: Progress,
    changes: Mapping[str, Any] | None = None,
    given: Mapping[str, Model] | None = None,
    *,
    log_level: str = "info",
) -> RunSummary:
    """Resume a run: keep finished episodes, retry failed ones, reuse cached replies.

    `changes` replaces fields of the limits (concurrency, budgets, …); `given`: name → model object of the caller.
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
        experiment = resolve(config, settings, given=given, prices=prices)
        return await _worked(experiment, folder, progress, manifest, log_level)


async def _worked(
    experiment: Experiment,
    folder: RunFolder,
    progress: Progress,
    manifest: dict[str, Any],
    level: str,
) -> RunSummary:
    with _run_log(folder.log_path, level, experiment.settings.secrets.redact) as log:
        log.info("GraphWalk %s works on %s", manifest["graphwalk_version"], folder.path)
        try:
            summary = await _Run(experiment, folder, LoggedProgress(progress, log), manifest).work()
        except BaseException as error:
            internal = isinstance(error, Exception) and not isinstance(error, GraphwalkError)
            log.log(
                logging.ERROR, "ended by %s: %s", type(error).__name__, error, exc_info=internal or level == "debug"
            )
            raise
        log.info("%d of %d episodes have a score, %d failed", summary.finished, summary.episodes, summary.failed)
        return summary


@dataclass
class _Run:
    """One process working on one run folder."""

    experiment: Experiment
    folder: RunFolder
    progress: Progress
    manifest: dict[str, Any]

    def __post_init__(self) -> None:
        self._shard = Shard.parse(self.manifest.get("shard", str(WHOLE)))
        self._health = HealthCheck(self.experiment.config.limits.store_wait_seconds, self.progress.note)
        self.sources = sources_for(self.experiment, self.manifest["run_id"], self._health)

    async def work(self) -> RunSummary:
        plan = Plan()
        async with RunModels(self.experiment, self.folder.replies_path, self.progress.note) as models:
            try:
                summary = await self._play_all(plan, models)
                for name in await self.sources.changed():
                    self.manifest.setdefault("changed_meanwhile", []).append(name)
                    self.folder.write_manifest(self.manifest)
                    note = f"the database {name} changed during the run: correct answers may be scored as wrong"
                    self.progress.note(note)
                return summary
            finally:
                await self._clean_up()

    def _check_unchanged(self, plan: Plan, then: Mapping[str, Any] | None, *, whole: bool) -> None:
        """Write the fingerprint of the run. Raise RunLogError if it differs from `then`."""
        self.manifest["fingerprint"] = check_unchanged(self.folder, self.experiment, plan, then, whole=whole)
        if whole and self._shard != WHOLE:
            self.manifest["shard_episodes"] = self._due(plan)
        if whole and plan.unplayed:
            self.manifest["unplayed"] = list(plan.unplayed_notes())
        self.folder.write_manifest(self.manifest)

    async def _play_all(self, plan: Plan, models: RunModels) -> RunSummary:
        counters, lines = earlier_results(self.folder)
        if counters.status_of:
            models.budget.charge(counters.usage)
        if self.experiment.without_extractor:
            self.progress.note(self.experiment.without_extractor)
        if deviations(self.manifest["config"]):
            self.progress.note(protocol_note(self.manifest["config"]))
        self.progress.priced(counters.usage, self.experiment.prices)
        workers = WorkerPool(self.experiment, models, self.folder, self.manifest, self._health, self.progress, counters)
        await workers.play(self._left(plan, counters, lines))
        for caveat in models.caveats():
            self.progress.note(caveat)
        self.folder.compress_results()
        return counters.summary(self._due(plan), models.budget.exhausted)

    def _due(self, plan: Plan) -> int:
        """Return the number of episodes of this run, or of its shard."""
        return sum(1 for _ in self._shard.part(plan, plan.episodes))

    async def _left(
        self, plan: Plan, counters: EpisodeCounters, lines: Mapping[EpisodeKey, int]
    ) -> AsyncIterator[list[PlannedEpisode]]:
        """Yield the episodes without a result as they are planned. `lines`: the line of each logged episode."""
        earlier = frozenset(counters.status_of)
        async for episodes in self._planned(plan, at_once=not lines):
            if lines:
                keys = {episode.key for episode in plan.episodes}
                if other := next((key for key in lines if key not in keys), None):
                    place = f"{self.folder.results_path}:{lines[other]}"
                    raise RunLogError(f"{place}: the episode is not part of this run: {other}")
            mine = self._shard.part(plan, episodes)
            yield [planned for planned in mine if planned.key not in earlier]
        self.progress.started(self._due(plan), len(earlier))

    async def _planned(self, plan: Plan, *, at_once: bool) -> AsyncIterator[list[PlannedEpisode]]:
        """Yield the episodes of a new run graph by graph (`at_once`); else all, after the plan is checked."""
        then, settled = self.manifest.get("fingerprint"), 0
        at_once = at_once and then is None
        async for episodes in grow(plan, self.experiment, self.sources, self.progress.planning):
            if at_once:
                if len(plan.graphs) >= 2 * settled:
                    settled = len(plan.graphs)
                    self._check_unchanged(plan, None, whole=False)
                yield episodes
                await asyncio.sleep(0)
        self._check_unchanged(plan, then, whole=True)
        for note in plan.notes():
            self.progress.note(note)
        if not at_once:
            yield plan.episodes

    async def _clean_up(self) -> None:
        """Drop the graphs of the run and close the stores, with a time limit if the run was interrupted."""
        task = asyncio.current_task()
        interrupted = task is not None and task.cancelling() > 0
        limit = _CLEAN_UP_SECONDS if interrupted else None
        try:
            try:
                if not self.experiment.config.keep and self._health.failure is None:
                    async with asyncio.timeout(limit):
                        await self.sources.drop_graphs()
            finally:
                async with asyncio.timeout(limit):
                    await self.sources.close()
            if self.sources.half_loaded:
                raise StoreError("a load was interrupted")
        except (StoreError, TimeoutError) as error:
            cause = (str(error) or "time out").splitlines()[0]
            self.progress.note(f"graphs may be left in the database ({cause}); to remove them: graphwalk db clean")


class _LogFormatter(logging.Formatter):
    """A formatter that removes secrets and control characters; only tracebacks have several lines."""

    def __init__(self, redact: Callable[[str], str]) -> None:
        super().__init__(_LOG_FORMAT)
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        record = copy(record)
        record.msg, record.args = one_line(self._redact(record.getMessage()), _LONGEST_LINE), ()
        return self._redact(super().format(record))


class _LogFile(logging.FileHandler):
    """A log file whose records are left out while it cannot be written, for example on a full disk."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 -- the name is that of the library
        pass

    def close(self) -> None:
        with suppress(OSError):
            super().close()


@contextmanager
def _run_log(path: Path, level: str, redact: Callable[[str], str]) -> Iterator[logging.Logger]:
    """Log into a file while the block runs; at "debug" also the records of libraries.

    `redact` removes secrets. If the file cannot be written, the run continues without it.
    """
    try:
        handler = _LogFile(path, encoding="utf-8", errors="backslashreplace")
    except OSError:
        yield _LOGGER
        return
    handler.setFormatter(_LogFormatter(redact))
    logger = logging.getLogger() if level == "debug" else _LOGGER
    before, propagated = logger.level, _LOGGER.propagate
    logger.addHandler(handler)
    logger.setLevel(level.upper())
    _LOGGER.propagate = level == "debug"
    try:
        yield _LOGGER
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)
        _LOGGER.propagate = propagated
        handler.close()
