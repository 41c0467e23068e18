"""Start and resume a run: play its planned episodes concurrently, and log each result at once."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from typing import Any

from pydantic import TypeAdapter, ValidationError

from graphwalk.errors import ConfigError, RunLogError, StoreError
from graphwalk.experiments.loading import experiment_from
from graphwalk.experiments.protocol_differences import deviations, protocol_note
from graphwalk.files.json_lines import LineWriter
from graphwalk.models.base import Model
from graphwalk.models.prices import KnownPrice
from graphwalk.runs.episodes.episode import RunModels, play, unrecorded
from graphwalk.runs.episodes.fingerprint import check_unchanged, fingerprint, keep_texts, new_manifest
from graphwalk.runs.episodes.graph_sources import GraphSources, sources_for
from graphwalk.runs.episodes.plan import Plan, PlannedEpisode, grow
from graphwalk.runs.episodes.resolve import Experiment, resolve
from graphwalk.runs.folder.run_folder import NewRun, RunFolder
from graphwalk.runs.playing.counters import MOST_FAILURES, EpisodeCounters, RunSummary
from graphwalk.runs.playing.run_log import run_log
from graphwalk.runs.playing.run_progress import Progress
from graphwalk.runs.playing.shards import WHOLE, Shard
from graphwalk.variables import Variables

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
    shard: Shard = WHOLE,
) -> RunSummary:
    """Start a run, or one `shard` of it, in its new folder and play it to its end. Errors of the run are raised."""
    with new.folder.lock():
        manifest = new_manifest(experiment, new.run_id, new.created)
        if shard != WHOLE:
            manifest["shard"] = str(shard)
        new.folder.write_manifest(manifest)
        return await _play(experiment, new.folder, progress, manifest)


async def resume_run(
    folder: RunFolder,
    variables: Variables,
    progress: Progress,
    changes: Mapping[str, Any] | None = None,
    objects: Mapping[str, Model] | None = None,
) -> RunSummary:
    """Resume a run: keep finished episodes, retry failed ones, reuse cached replies.

    `changes` replaces fields of the limits (concurrency, budgets, …); `objects`: name → model object of the caller.
    Raise RunLogError if anything else has changed.
    """
    with folder.lock():
        manifest = folder.read_manifest()
        data = manifest["config"]
        limits = {**data["limits"], **(changes or {})}
        try:
            config = experiment_from({**data, "limits": limits}, str(folder.manifest_path))
        except ConfigError as error:
            error.hint = error.hint or f"the original texts of the run are in {folder.texts_path}"
            raise
        manifest["config"] = config.model_dump(mode="json")
        try:
            prices = TypeAdapter(dict[str, KnownPrice]).validate_python(manifest["prices"])
        except ValidationError as error:
            raise RunLogError(f"{folder.manifest_path}: its prices cannot be read: {error}") from None
        experiment = resolve(config, variables, objects=objects, prices=prices)
        return await _play(experiment, folder, progress, manifest)


async def _play(experiment: Experiment, folder: RunFolder, progress: Progress, manifest: dict[str, Any]) -> RunSummary:
    """Play the episodes without a result, one worker for each in flight, while the plan grows. Raise its errors."""

    def note(text: str) -> None:
        _LOGGER.warning("%s", text)
        progress.note(text)

    with run_log(folder.path / "run.log", experiment.variables.secrets.redact):
        _LOGGER.info("GraphWalk %s works on %s", manifest["graphwalk_version"], folder.path)
        counters = EpisodeCounters.of(folder)
        async with (
            RunModels(experiment, folder.replies_path, note) as models,
            _graph_sources(experiment, manifest["run_id"], note) as sources,
        ):
            raise_file_limit()
            number = 0
            with closing(folder.results_writer()) as results:
                run = _PlayedRun(experiment, folder, progress, manifest, note, results, counters, models, sources)
                run.announce()
                try:
                    async with asyncio.TaskGroup() as workers:
                        async for planned in run.unplayed_episodes():
                            run.queue.put_nowait(planned)
                            if number < experiment.config.limits.max_concurrency:
                                number += 1
                                workers.create_task(run.work())
                        for _ in range(number):
                            run.queue.put_nowait(None)
                except BaseExceptionGroup as errors:
                    raise errors.exceptions[0] from None
            return await run.conclude()


@asynccontextmanager
async def _graph_sources(
    experiment: Experiment, run_id: str, note: Callable[[str], None]
) -> AsyncIterator[GraphSources]:
    """Open the graph sources of a run; at the end, drop its graphs and close them, of an interrupted run in time."""
    sources = sources_for(experiment, run_id)
    try:
        yield sources
    finally:
        task = asyncio.current_task()
        limit = _CLEAN_UP_SECONDS if task is not None and task.cancelling() else None
        try:
            try:
                async with asyncio.timeout(limit):
                    await sources.drop_graphs()
            finally:
                async with asyncio.timeout(limit):
                    await sources.close()
            if sources.half_loaded:
                raise StoreError("a load was interrupted")
        except (StoreError, TimeoutError) as error:
            cause = (str(error) or "time out").splitlines()[0]
            note(f"graphs may be left in the database ({cause}); to remove them: graphwalk db clean")


@dataclass(frozen=True)
class _PlayedRun:
    """The parts of a run that one process plays, and what it has planned."""

    experiment: Experiment
    folder: RunFolder
    progress: Progress
    manifest: dict[str, Any]
    note: Callable[[str], None]
    results: LineWriter
    counters: EpisodeCounters
    models: RunModels
    sources: GraphSources
    plan: Plan = field(default_factory=Plan)
    queue: asyncio.Queue[PlannedEpisode | None] = field(default_factory=asyncio.Queue)

    async def work(self) -> None:
        """Play episodes from the queue until it ends or the budget is spent, and log each result."""
        while (planned := await self.queue.get()) is not None:
            if self.models.budget.exhausted:
                return
            if self.counters.skips(planned.key.model):
                continue
            result = await play(planned, self.models, self.experiment)
            try:
                self.results.append(result.as_dict())
            except (TypeError, ValueError, RecursionError) as error:
                result = unrecorded(planned, self.experiment, error)
                self.results.append(result.as_dict())
            if self.counters.count(result):
                stopped = f"stopped calling {planned.key.model}: {MOST_FAILURES} episodes without a reply"
                self.note(f"{stopped}; {result.trajectory.error}")
            if result.exit_status.infrastructure:
                _LOGGER.warning("%s: %s, %s", result.key.in_words, result.exit_status, result.trajectory.error)
            self.progress.finished(result)
            await asyncio.sleep(0)

    def announce(self) -> None:
        """Charge the usage of earlier processes to the budget, and note what is special about the run."""
        usage = self.counters.usage
        if self.counters.status_of:
            self.models.budget.charge(usage)
        if self.experiment.without_extractor:
            self.note(self.experiment.without_extractor)
        if deviations(self.manifest["config"]):
            self.note(protocol_note(self.manifest["config"]))
        self.progress.priced(usage, self.experiment.prices)

    async def conclude(self) -> RunSummary:
        """Record databases that changed during the run, and return the summary."""
        budget = self.models.budget
        if budget.usd is not None and budget.unpriced:
            self.note(f"{budget.unpriced} replies have no known cost: the budget in dollars may be exceeded")
        for name in await self.sources.changed():
            self.manifest.setdefault("changed_meanwhile", []).append(name)
            self.folder.write_manifest(self.manifest)
            self.note(f"the database {name} changed during the run: correct answers may be scored as wrong")
        summary = self.counters.summary(self._own_episodes(), budget.exhausted)
        _LOGGER.info("%d of %d episodes have a score, %d failed", summary.finished, summary.episodes, summary.failed)
        return summary

    async def unplayed_episodes(self) -> AsyncIterator[PlannedEpisode]:
        """Yield the episodes without a result: of a new run graph by graph, else after the whole plan is checked."""
        plan, then, settled = self.plan, self.manifest.get("fingerprint"), 0
        finished = frozenset(self.counters.status_of)
        is_new = then is None and not self.counters.lines
        async for episodes in grow(plan, self.experiment, self.sources, self.progress.planning):
            if is_new:
                if settled == 0:
                    keep_texts(self.folder, self.experiment)
                if len(plan.graphs) >= 2 * settled:
                    settled = len(plan.graphs)
                    self._write_fingerprint(whole=False)
                for planned in self._shard.part(plan, episodes):
                    yield planned
                await asyncio.sleep(0)
        if then is not None:
            check_unchanged(self.folder, self.experiment, plan, then)
        if not is_new:
            keep_texts(self.folder, self.experiment)
        self._write_fingerprint(whole=True)
        for text in plan.notes():
            self.note(text)
        if not is_new:
            keys = {planned.key for planned in plan.episodes}
            for key, line in self.counters.lines.items():
                if key not in keys:
                    raise RunLogError(f"{self.folder.results_path}:{line}: the episode is not part of this run: {key}")
            for planned in self._shard.part(plan, plan.episodes):
                if planned.key not in finished:
                    yield planned
        _LOGGER.info("%d episodes planned, %d of them finished earlier", self._own_episodes(), len(finished))
        self.progress.started(self._own_episodes(), len(finished))

    def _write_fingerprint(self, *, whole: bool) -> None:
        """Write the fingerprint of the run into run.json. `whole`: the plan is complete."""
        self.manifest["fingerprint"] = fingerprint(self.experiment, self.plan, whole=whole)
        if whole and self._shard != WHOLE:
            self.manifest["shard_episodes"] = self._own_episodes()
        if whole and self.plan.unplayed:
            self.manifest["unplayed"] = list(self.plan.unplayed_notes())
        self.folder.write_manifest(self.manifest)

    @property
    def _shard(self) -> Shard:
        return Shard.parse(self.manifest.get("shard", str(WHOLE)))

    def _own_episodes(self) -> int:
        """Return the number of episodes of this run, or of its shard."""
        return sum(1 for _ in self._shard.part(self.plan, self.plan.episodes))


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
