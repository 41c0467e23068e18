"""The worker pool of a run: episodes are played concurrently, and each result is logged at once."""

import asyncio
import resource
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graphwalk.errors import GraphwalkError
from graphwalk.jsonlines import LineWriter
from graphwalk.runs.episode import play, unrecorded
from graphwalk.runs.experiment import Experiment
from graphwalk.runs.plan import PlannedEpisode
from graphwalk.runs.progress import Progress
from graphwalk.runs.result import EpisodeKey, Result, key_of
from graphwalk.runs.run_folder import RunFolder
from graphwalk.runs.run_models import RunModels
from graphwalk.stores.health import HealthCheck
from graphwalk.types.chat import Usage
from graphwalk.types.episode import ExitStatus
from graphwalk.types.wire import from_dict

MOST_FAILURES = 3
"""Episodes without a reply after which the circuit breaker opens; each of them has retried its calls."""
_OTHER_FILES = 64
"""Open files other than connections: logs, modules, pipes."""
_FILES_PER_EPISODE = 2
"""Connections of an episode: to its model and to a database."""


@dataclass(frozen=True)
class RunSummary:
    """The state of a run when its process ends."""

    episodes: int
    finished: int
    failed: int
    """Episodes that ended in an infrastructure failure; a resume retries them."""
    usage: Usage
    budget_reached: bool


@dataclass
class EpisodeCounters:
    """Finished episodes of a run, with those of earlier processes, and their usage."""

    status_of: dict[EpisodeKey, ExitStatus] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)

    def count(self, key: EpisodeKey, status: ExitStatus, usage: Usage) -> None:
        self.status_of[key] = status
        self.usage += usage

    def summary(self, episodes: int, budget_reached: bool) -> RunSummary:
        failed = sum(status.infrastructure for status in self.status_of.values())
        return RunSummary(episodes, len(self.status_of) - failed, failed, self.usage, budget_reached)


def earlier_results(folder: RunFolder) -> tuple[EpisodeCounters, dict[EpisodeKey, int]]:
    """Count the finished episodes of earlier processes, without failures; also return the line of each episode."""
    counters, lines = EpisodeCounters(), {}
    for number, record in enumerate(folder.records(), 1):
        key, status = key_of(record), ExitStatus(record["exit_status"])
        lines[key] = number
        if not status.infrastructure:
            counters.count(key, status, from_dict(Usage, record["usage"]))
    return counters, lines


class CircuitBreaker:
    """A circuit breaker: skip a model after `MOST_FAILURES` episodes without a reply, unless it has ever replied."""

    def __init__(self, note: Callable[[str], object]) -> None:
        self._note = note
        self._failures: Counter[str] = Counter()
        self._replied: set[str] = set()

    def count(self, result: Result) -> None:
        model, trajectory = result.key.model, result.trajectory
        if trajectory.turns or trajectory.exit_status is not ExitStatus.MODEL_ERROR:
            self._replied.add(model)
            return
        self._failures[model] += 1
        if self._failures[model] == MOST_FAILURES and model not in self._replied:
            self._note(f"stopped calling {model}: {MOST_FAILURES} episodes without a reply; {trajectory.error}")

    def skips(self, model: str) -> bool:
        return self._failures[model] >= MOST_FAILURES and model not in self._replied


@dataclass
class WorkerPool:
    """A pool with one worker per episode in flight."""

    experiment: Experiment
    models: RunModels
    folder: RunFolder
    manifest: Mapping[str, Any]
    health: HealthCheck
    progress: Progress
    counters: EpisodeCounters

    def __post_init__(self) -> None:
        self._breaker = CircuitBreaker(self.progress.note)
        self._queue: asyncio.Queue[PlannedEpisode | None] = asyncio.Queue()

    async def play(self, batches: AsyncIterator[Sequence[PlannedEpisode]]) -> None:
        """Play episodes while more are planned. Errors of workers and batches are raised.

        The log is opened with the first episode, so that the log of a finished run stays compressed.
        """
        most = files_for(self.experiment.config.limits.max_concurrency, self.progress.note)
        begun, writer = 0, None
        try:
            async with asyncio.TaskGroup() as workers:
                async for episodes in batches:
                    if not episodes:
                        continue
                    if writer is None:
                        writer = self.folder.results_writer()
                        self.models.keeps_results = writer.check
                    for planned in episodes:
                        self._queue.put_nowait(planned)
                    for _ in range(begun, min(most, begun + len(episodes))):
                        workers.create_task(self._work(writer))
                        begun += 1
                for _ in range(begun):
                    self._queue.put_nowait(None)
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None
        finally:
            if writer is not None:
                writer.close()

    async def _work(self, writer: LineWriter) -> None:
        while (planned := await self._queue.get()) is not None:
            if self.models.budget.exhausted:
                return
            if self._breaker.skips(planned.key.model):
                continue
            await self.health.finished()
            async with self.models.for_episode(planned) as (model, extractor):
                result = await play(planned, model, extractor, self.experiment)
            try:
                writer.append(result.as_line(self.manifest))
            except GraphwalkError:
                raise
            except Exception as error:
                result = unrecorded(planned, self.experiment, error)
                writer.append(result.as_line(self.manifest))
            self.counters.count(planned.key, result.exit_status, result.usage)
            self._breaker.count(result)
            self.progress.finished(result)
            if self.health.failure is not None:
                raise self.health.failure
            await asyncio.sleep(0)


def files_for(episodes: int, note: Callable[[str], object]) -> int:
    """Return the number of episodes that the limit on open files permits, after raising the limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = _OTHER_FILES + _FILES_PER_EPISODE * episodes
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return episodes
    allowed = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    if allowed > soft:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    room = max(1, (allowed - _OTHER_FILES) // _FILES_PER_EPISODE)
    if room < episodes:
        limit = f"the limit is {allowed} (ulimit -n)"
        note(f"{episodes} episodes in flight need {needed} open files; {limit}, so {room} are played at a time")
    return min(room, episodes)
