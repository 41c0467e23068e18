"""The plan of a run: graphs in their stores, tasks about them, one episode per task, model, setting and repeat."""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from graphwalk.agent.prompt import Prompt
from graphwalk.errors import ConfigError, StoreError, counted
from graphwalk.models.chat import Model
from graphwalk.runs.record import EpisodeKey
from graphwalk.runs.resolve import Experiment, can_play, no_episode
from graphwalk.runs.task_levers import AnswersByTool, with_levers
from graphwalk.seeds import seed_for, stdlib_random
from graphwalk.stores.base import Database, GraphStore, open_database
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.stores.sources import QUERY_SECONDS, open_source
from graphwalk.suites.loaded_graph import GraphInstance, LoadedGraph
from graphwalk.suites.setting import Setting
from graphwalk.suites.suite import Task
from graphwalk.variables import Variables

_LOGGER = logging.getLogger("graphwalk")
_CLEAN_UP_SECONDS = 2.0
"""Longest wait of an interrupted run for the database to drop its graphs and to close."""
MOST_EPISODES = 1_000_000
"""Largest number of episodes of a run; each takes some kilobytes of memory."""


def sources_for(experiment: Experiment, run_id: str, note: Callable[[str], object] = _LOGGER.warning) -> "GraphSources":
    """Return the graph sources of an experiment, in the store that it names."""
    config, variables, limits = experiment.config, experiment.variables, experiment.config.limits
    open_once = partial(
        open_database,
        config.store,
        variables,
        run_id=run_id,
        timeout_seconds=limits.store_seconds,
    )
    in_place = variables if config.store == "neo4j" else None
    return GraphSources(open_once, in_place, limits.store_seconds, note)


class GraphSources(AsyncExitStack):
    """The database of a run, opened when the first graph is loaded, and existing databases.

    `open_database` opens the database of loaded graphs; None: the embedded engine. `variables` are those of existing
    databases, whose queries end after `timeout_seconds`; None: load copies of them. `note` gets a message if graphs are
    left in the database.
    """

    def __init__(
        self,
        open_database: Callable[[], Awaitable[Database]] | None = None,
        variables: Variables | None = None,
        timeout_seconds: float = QUERY_SECONDS,
        note: Callable[[str], object] = _LOGGER.warning,
    ) -> None:
        super().__init__()
        self._open_database, self._variables = open_database, variables
        self._timeout_seconds, self._note = timeout_seconds, note
        self._half_loaded = False
        self._database: Database | None = None
        self._memory = EmbeddedDatabase()
        self._loaded: list[GraphStore] = []

    async def store_of(self, instance: GraphInstance) -> GraphStore | None:
        """Return the store of a graph; None for an instance without one. StoreError if it cannot be reached."""
        if instance.graph is None:
            return None
        if instance.existing_database is not None and self._variables is not None:
            source = open_source(instance.existing_database, self._variables, timeout_seconds=self._timeout_seconds)
            opened = await self.enter_async_context(source)
            return opened.store
        if self._open_database is None or (instance.in_memory and self._variables is not None):
            return await self._memory.load(instance.graph)
        if self._database is None:
            self._database = await self._open_database()
        self._half_loaded = not isinstance(self._database, EmbeddedDatabase)
        self._loaded.append(await self._database.load(instance.graph))
        self._half_loaded = False
        return self._loaded[-1]

    async def __aexit__(self, *error: Any) -> None:
        """Drop the loaded graphs and close the connections; of an interrupted run within seconds."""
        task = asyncio.current_task()
        try:
            async with asyncio.timeout(_CLEAN_UP_SECONDS if task is not None and task.cancelling() else None):
                try:
                    for store in self._loaded:
                        await store.drop()
                finally:
                    await super().__aexit__(*error)
                    await self._memory.close()
                    if self._database is not None:
                        await self._database.close()
            if self._half_loaded:
                raise StoreError("a load was interrupted")
        except (StoreError, TimeoutError) as failure:
            cause = (str(failure) or "time out").splitlines()[0]
            self._note(f"graphs may be left in the database ({cause}); to remove them: graphwalk db clean")


@dataclass(frozen=True)
class PlannedGraph:
    """A loaded graph with what is recorded of its tasks."""

    about: LoadedGraph
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Question → reason why it is not asked about this graph."""

    @property
    def facts(self) -> dict[str, Any]:
        """The record of the graph in results."""
        left_out = {"left_out": dict(self.left_out)} if self.left_out else {}
        instance = self.about.instance
        return {"digest": instance.digest, **instance.facts, **left_out}


@dataclass(frozen=True)
class PlannedEpisode:
    key: EpisodeKey
    task: Task
    graph: PlannedGraph

    async def prompt(self, experiment: Experiment) -> Prompt:
        """Return prompt, tools and follow-up of the episode. Raise StoreError if the graph cannot be reached."""
        setting, agent = self.key.setting.name, experiment.of(self.key.setting).agent
        prompt = await self.task.prompt(self.graph.about, setting, agent)
        return with_levers(prompt, self.task, setting, agent)

    async def scripted(self, name: str, experiment: Experiment) -> Model:
        """Return the scripted agent of this name, in place of the model."""
        schema = await self.graph.about.whole_schema()
        setting = self.key.setting.name
        key = self.key._replace(setting=Setting(setting))  # one walk for all variants
        seed = seed_for(experiment.config.seed, "player", key.text)
        player = experiment.suite.players[name]
        random = stdlib_random(seed, *player.purpose, self.task.task_id)
        model = player.model(f"scripted/{name}", self.task, setting, schema, random)
        return AnswersByTool(model, self.task) if experiment.of(self.key.setting).agent.answer == "tool" else model


@dataclass
class Plan:
    """All graphs, tasks and episodes of a run, in the order in which they are played."""

    graphs: list[PlannedGraph] = field(default_factory=list)
    tasks: list[tuple[Task, PlannedGraph]] = field(default_factory=list)
    episodes: list[PlannedEpisode] = field(default_factory=list)
    unplayed: list[str] = field(default_factory=list)
    """A line for each scripted agent that cannot play some episodes."""
    task_notes: list[str] = field(default_factory=list)
    """The notes of the suite on the tasks."""

    def notes(self) -> Iterator[str]:
        """Yield the notes of the suite, and a line for each question and episode that is left out."""
        yield from self.task_notes
        for graph in self.graphs:
            instance = graph.about.instance
            name = instance.facts.get("name", instance.digest[:12])
            yield from (f"{name}: without {what}: {why}" for what, why in graph.left_out.items())
        yield from self.unplayed


def episodes_about(task: Task, graph: PlannedGraph, experiment: Experiment) -> Iterator[PlannedEpisode]:
    """Return the episodes of one task that the models can play."""
    return (planned for planned, playable in _possible_episodes(task, graph, experiment) if playable)


def _possible_episodes(
    task: Task, graph: PlannedGraph, experiment: Experiment
) -> Iterator[tuple[PlannedEpisode, bool]]:
    """Yield each episode of one task, and whether its model can play it."""
    for repeat in range(experiment.config.repeats):
        for setting in experiment.settings_played:
            if setting.name in graph.left_out:
                continue
            if experiment.suite.asks(task, setting.name, experiment.config.suite):
                for model in experiment.models:
                    planned = PlannedEpisode(EpisodeKey(task.task_id, model, setting, repeat), task, graph)
                    yield planned, can_play(experiment.suite, model, setting.name, task)


async def make_plan(experiment: Experiment, sources: GraphSources, on_tasks: Callable[[int], None]) -> Plan:
    """Return the whole plan of an experiment, which is deterministic. `on_tasks` gets the number of tasks so far."""
    config, suite = experiment.config, experiment.suite
    plan, unplayed = Plan(), Counter[tuple[str, str]]()
    async for instance in suite.read_graphs(config.suite, config.seed, experiment.variables):
        if config.limit is not None and len(plan.tasks) >= config.limit:
            break
        store = await sources.store_of(instance)
        about = LoadedGraph(instance, store)
        asked, left_out, notes = await suite.tasks(about, config.suite, config.seed, experiment.agent)
        tasks = asked if config.limit is None else asked[: config.limit - len(plan.tasks)]
        per_task = config.repeats * len(experiment.settings_played) * len(experiment.models)
        if (len(plan.tasks) + len(tasks)) * per_task > MOST_EPISODES:
            raise ConfigError(
                f"{config.name} has more than {MOST_EPISODES:,} episodes, the limit of one run",
                hint="lower repeats or limit, or split it into several runs",
            )
        if store is not None and tasks:
            await store.schema(experiment.agent.schema_samples)  # once, before all episodes ask for it at the same time
        graph = PlannedGraph(about, left_out)
        for task in tasks:
            for planned, playable in _possible_episodes(task, graph, experiment):
                if playable:
                    plan.episodes.append(planned)
                    continue
                model, setting = planned.key.model, planned.key.setting.name
                player = suite.players[model.partition("/")[2]]
                cannot = f"this scripted agent cannot play {setting}"
                unplayed[model, player.why_not(task) if setting in player.settings else cannot] += 1
        plan.graphs.append(graph)
        plan.tasks += [(task, graph) for task in tasks]
        plan.task_notes += notes
        on_tasks(len(plan.tasks))
        await asyncio.sleep(0)
    plan.unplayed = [
        f"{counted(number, 'episode')} of {model} left out: {reason}." for (model, reason), number in unplayed.items()
    ]
    if not plan.episodes:
        raise no_episode(experiment, plan.notes())
    return plan
