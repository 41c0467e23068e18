"""The episodes of a run folder with what the log leaves out: the tools that each was offered."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphwalk.environment import Environment
from graphwalk.runlog.result import Result, key_of
from graphwalk.runlog.run_folder import RunFolder
from graphwalk.runner.places import Places
from graphwalk.runner.resolve import Experiment
from graphwalk.runner.verification.kept_experiment import kept_experiment
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.stores.store import Database
from graphwalk.types.chat import ToolSpec
from graphwalk.types.episode import Task

_Place = tuple[str, str]
"""Digest of a graph, and setting."""


@dataclass(frozen=True)
class RecordedRun:
    """A run: its experiment, and the tools of its episodes by graph and setting."""

    folder: RunFolder
    experiment: Experiment
    manifest: Mapping[str, Any]
    _tools: Mapping[_Place, Sequence[ToolSpec]]

    def results(self) -> Iterator[Result]:
        """The episodes in the order of the log; of one that was tried again, the last try."""
        last = {key_of(record): number for number, record in enumerate(self.folder.records())}
        for number, record in enumerate(self.folder.records()):
            if last[key_of(record)] == number:
                yield Result.from_dict(record)

    def task(self, result: Result) -> Task:
        return self.experiment.suite.task_type.model_validate(result.task)

    def tools(self, result: Result) -> Sequence[ToolSpec]:
        return self._tools[result.task["graph_digest"], result.key.setting]


async def read_run(folder: RunFolder, environment: Environment) -> RecordedRun:
    """Open a run folder, which is only read. Its graphs are made again in memory, since tools are told by their schema.

    RunLogError or ConfigError where the folder is damaged, or today's GraphWalk cannot read it.
    """
    experiment = kept_experiment(folder, environment, "embedded")
    asked: dict[_Place, dict[str, Any]] = {}
    for record in folder.records():
        asked.setdefault((record["task"]["graph_digest"], record["setting"]), record["task"])
    tools = {place: specs async for place, specs in _tools_of(experiment, asked, environment)}
    return RecordedRun(folder, experiment, folder.read_manifest(), tools)


async def _tools_of(
    experiment: Experiment, asked: Mapping[_Place, dict[str, Any]], environment: Environment
) -> AsyncIterator[tuple[_Place, Sequence[ToolSpec]]]:
    """The tools of one episode of every graph and setting."""
    suite, config = experiment.suite, experiment.config
    settings: dict[str, list[str]] = {}
    for digest, setting in asked:
        settings.setdefault(digest, []).append(setting)

    async def open_memory() -> Database:
        return EmbeddedDatabase()

    places = Places(open_memory)
    try:
        async for world in suite.worlds_in(config.suite, config.seed, environment):
            here = settings.pop(world.digest, ())
            store = await places.store_of(world) if here else None
            for setting in here:
                task = suite.task_type.model_validate(asked[world.digest, setting])
                opening = await suite.opening(task, setting, world, store, experiment.agent, experiment.tools)
                yield (world.digest, setting), () if opening.toolbox is None else tuple(opening.toolbox.specs)
            if store is not None:
                await store.drop()
            if not settings:
                return
    finally:
        await places.close()
