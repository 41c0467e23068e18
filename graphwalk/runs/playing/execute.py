"""Start and resume a run: plan it, play its episodes concurrently, and log each result at once."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
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
from graphwalk.runs.episodes.plan import Plan, PlannedEpisode, make_plan
from graphwalk.runs.episodes.resolve import Experiment, resolve
from graphwalk.runs.folder.run_folder import NewRun, RunFolder
from graphwalk.runs.playing.counters import MOST_FAILURES, EpisodeCounters, RunSummary
from graphwalk.runs.playing.run_log import run_log
from graphwalk.runs.playing.run_progress import Progress
from graphwalk.runs.playing.shards import WHOLE, Shard
from graphwalk.variables import Variables
from graphwalk.version import __version__

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

    def begin(plan: Plan) -> dict[str, Any]:
        manifest = new_manifest(experiment, plan, new.run_id, new.created)
        if plan.unplayed:
            manifest["unplayed"] = list(plan.unplayed_notes())
        if shard != WHOLE:
            manifest |= {"shard": str(shard), "shard_episodes": len(shard.part(plan))}
        return manifest

    with new.folder.lock():
        return await _play(experiment, new.folder, new.run_id, progress, begin)


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
        try:
            prices = TypeAdapter(dict[str, KnownPrice]).validate_python(manifest["prices"])
        except ValidationError as error:
            raise RunLogError(f"{folder.manifest_path}: its prices cannot be read: {error}") from None
        experiment = resolve(config, variables, objects=objects, prices=prices)

        def go_on(plan: Plan) -> dict[str, Any]:
            check_unchanged(folder, experiment, plan, manifest["fingerprint"])
            return {**manifest, "config": config.model_dump(mode="json"), "fingerprint": fingerprint(experiment, plan)}

        return await _play(experiment, folder, manifest["run_id"], progress, go_on)


async def _play(
    experiment: Experiment,
    folder: RunFolder,
    run_id: str,
    progress: Progress,
    manifest_of: Callable[[Plan], dict[str, Any]],
) -> RunSummary:
    """Plan a run, write run.json, play the episodes without a result, and close all that was opened."""

    def note(text: str) -> None:
        _LOGGER.warning("%s", text)
        progress.note(text)

    with run_log(folder.path / "run.log", experiment.variables.secrets.redact):
        _LOGGER.info("GraphWalk %s works on %s", __version__, folder.path)
        async with _graph_sources(experiment, run_id, note) as sources:
            plan = await make_plan(experiment, sources, progress.planning)
            manifest = manifest_of(plan)
            folder.write_manifest(manifest)
            keep_texts(folder, experiment)
            counters = EpisodeCounters.of(folder, plan)
            planned = Shard.parse(manifest.get("shard", str(WHOLE))).part(plan)
            episodes = [episode for episode in planned if episode.key not in counters.status_of]
            _LOGGER.info("%d episodes planned, %d of them finished earlier", len(planned), len(planned) - len(episodes))
            async with RunModels(experiment, folder.replies_path, note) as models:
                with closing(folder.results_writer()) as results:
                    run = _PlayedRun(experiment, progress, note, results, counters, models)
                    run.announce(plan, manifest)
                    progress.started(len(planned), len(planned) - len(episodes))
                    await run.play(episodes)
                if changed := await sources.changed():
                    folder.write_manifest({**manifest, "changed_meanwhile": changed})
                return run.conclude(len(planned), changed)


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
    """The parts of a run that its workers share."""

    experiment: Experiment
    progress: Progress
    note: Callable[[str], None]
    results: LineWriter
    counters: EpisodeCounters
    models: RunModels

    def announce(self, plan: Plan, manifest: Mapping[str, Any]) -> None:
        """Charge the usage of earlier processes to the budget, and note what is special about the run."""
        usage = self.counters.usage
        if self.counters.status_of:
            self.models.budget.charge(usage)
        if self.experiment.without_extractor:
            self.note(self.experiment.without_extractor)
        if deviations(manifest["config"]):
            self.note(protocol_note(manifest["config"]))
        self.progress.priced(usage, self.experiment.prices)
        for text in plan.notes():
            self.note(text)

    async def play(self, episodes: Sequence[PlannedEpisode]) -> None:
        """Play episodes, as many at a time as the limit allows. Raise the first error of the run."""
        raise_file_limit()
        waiting = iter(episodes)
        try:
            async with asyncio.TaskGroup() as workers:
                for _ in range(min(len(episodes), self.experiment.config.limits.max_concurrency)):
                    workers.create_task(self._work(waiting))
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None

    async def _work(self, waiting: Iterator[PlannedEpisode]) -> None:
        """Play one episode after the other until none is left or the budget is spent, and log each result."""
        for planned in waiting:
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

    def conclude(self, episodes: int, changed: Sequence[str]) -> RunSummary:
        """Return the summary of a run of so many episodes; note databases that changed meanwhile."""
        budget = self.models.budget
        if budget.usd is not None and budget.unpriced:
            self.note(f"{budget.unpriced} replies have no known cost: the budget in dollars may be exceeded")
        for name in changed:
            self.note(f"the database {name} changed during the run: correct answers may be scored as wrong")
        summary = self.counters.summary(episodes, budget.exhausted)
        _LOGGER.info("%d of %d episodes have a score, %d failed", summary.finished, summary.episodes, summary.failed)
        return summary


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
