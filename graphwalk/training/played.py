"""Training traces by the million: scripted agents solve the tasks of an experiment, correct solutions become chats.

They equal the chats of a run of the same experiment. Nothing else of the episodes is kept.
"""

import json
import math
from asyncio import run as run_in_loop
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache, partial
from itertools import islice
from typing import Any

from graphwalk.bulk import Rows, in_ranges
from graphwalk.errors import ConfigError
from graphwalk.experiments.config import AnyExperiment
from graphwalk.experiments.loading import experiment_from
from graphwalk.runs.episode import play
from graphwalk.runs.experiment import Experiment, per_episode, resolve
from graphwalk.runs.plan import LoadedGraph, episodes_about
from graphwalk.runs.result import Result
from graphwalk.runs.run_models import RunModels
from graphwalk.settings import Settings
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.registry import suite_named
from graphwalk.suites.suite import GraphInstance
from graphwalk.training.traces import Counts, Episodes, Line, TraceOptions, lines_of
from graphwalk.types.chat import ToolSpec

COLUMNS: dict[str, type] = {
    "messages": list,
    "tools": list,
    "task_id": str,
    "suite": str,
    "template": str,
    "setting": str,
    "model": str,
    "repeat": int,
    "part": int,
    "first_new": int,
    "graph_digest": str,
    "correct": bool,
    "refusal": bool,
}
_TOGETHER = 8
"""Graphs of a part."""


def trace_rows(config: AnyExperiment, options: TraceOptions) -> Rows:
    """Return the chats of an experiment, graph by graph. Raise ConfigError if it names a language model."""
    called = [model for model in config.models if not per_episode(model)]
    if called or not config.models:
        raise ConfigError(
            f"{', '.join(called) or 'no model'} cannot generate traces: not a scripted agent",
            hint="--model scripted/expert; for a language model use  graphwalk run  and  graphwalk export traces",
        )
    data = config.model_dump(mode="json")
    count = suite_named(config.suite.name).graph_count(config.suite)
    return Rows(
        name="graphs",
        of=partial(_lines, json.dumps(data), options),
        jobs=partial(in_ranges, 0, count, _TOGETHER),
        columns=COLUMNS,
        about={"experiment": data, "options": asdict(options)},
        total=count,
    )


def _lines(experiment: str, options: TraceOptions, places: tuple[int, int]) -> list[Line]:
    first, end = places
    graphs = _series(experiment).part(first, end)
    # Suites remember what they made for as long as a run lasts: a fresh one for each part.
    resolved = resolve(experiment_from(json.loads(experiment), "the experiment"), Settings(), keys=False)
    return run_in_loop(_chats(resolved, graphs, options))


async def _chats(experiment: Experiment, graphs: Sequence[GraphInstance], options: TraceOptions) -> list[Line]:
    lines: list[Line] = []
    async with RunModels(experiment) as players:
        for instance in graphs:
            lines += lines_of(await _played(experiment, players, instance), options, Counts())
    return lines


async def _played(experiment: Experiment, players: RunModels, instance: GraphInstance) -> Episodes:
    """Play the episodes about one graph."""
    suite, config = experiment.suite, experiment.config
    database, results = EmbeddedDatabase(), list[Result]()
    tools: dict[tuple[str, str], Sequence[ToolSpec]] = {}
    try:
        store = None if instance.graph is None else await database.load(instance.graph)
        tasks = await suite.tasks(instance, store, config.suite, config.seed, experiment.agent)
        loaded = LoadedGraph(instance, store, suite.left_out(instance))
        for planned in (planned for task in tasks for planned in episodes_about(task, loaded, experiment)):
            place = (instance.digest, planned.key.setting)
            if place not in tools:
                toolbox = (await planned.setup(experiment)).toolbox
                tools[place] = () if toolbox is None else tuple(toolbox.specs)
            async with players.for_episode(planned) as (model, extractor):
                results.append(await play(planned, model, extractor, experiment))
    finally:
        await database.close()
    return Episodes(experiment, lambda: results, tools)


class _Series:
    """The graphs of an experiment, one after the other; a step back starts again."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._config = experiment_from(data, "the experiment")
        self._graphs: Iterator[GraphInstance] = iter(())
        self._next: float = math.inf  # not started

    def part(self, first: int, end: int) -> list[GraphInstance]:
        if first < self._next:
            suite = suite_named(self._config.suite.name)
            self._graphs, self._next = suite.graphs(self._config.suite, self._config.seed), 0
        graphs = list(islice(self._graphs, first - int(self._next), end - int(self._next)))
        self._next = end
        return graphs


@lru_cache(maxsize=1)
def _series(experiment: str) -> _Series:
    """The worker of one process; its parts come in ascending order."""
    return _Series(json.loads(experiment))
