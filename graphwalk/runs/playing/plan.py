"""The plan of a run: graphs in their stores, tasks about them, one episode per task, model, setting and repeat."""

from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from graphwalk.errors import ConfigError, counted
from graphwalk.models.base import Model
from graphwalk.runs.playing.graph_sources import GraphSources
from graphwalk.runs.playing.resolve import Experiment, can_play, no_episode
from graphwalk.runs.result import EpisodeKey
from graphwalk.seeds import seed_for
from graphwalk.stores.base import GraphStore
from graphwalk.stores.graph_schema import schema_of
from graphwalk.suites.suite import EpisodeSetup, GraphInstance, Suite
from graphwalk.types.episode import Task, setting_of
from graphwalk.types.schema import Schema

MOST_EPISODES = 1_000_000
"""Largest number of episodes of a run; each takes some kilobytes of memory."""


@dataclass(frozen=True)
class LoadedGraph:
    """A graph and its store, which is None for suites without one."""

    instance: GraphInstance
    store: GraphStore | None
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Question → reason why it is not asked about this graph."""
    reworded: Mapping[str, Mapping[str, Task]] = field(default_factory=dict)
    """Variant → task id → task, for variants that word questions in another way."""

    @property
    def facts(self) -> dict[str, Any]:
        """The record of the graph in results."""
        left_out = {"left_out": dict(self.left_out)} if self.left_out else {}
        return {"digest": self.instance.digest, **self.instance.facts, **left_out}

    async def whole_schema(self) -> Schema | None:
        """Return the schema of the whole graph, which a store of an existing database knows in part; None without a store."""
        if self.store is None or self.instance.graph is None or self.instance.existing_database is None:
            return None if self.store is None else await self.store.schema()
        return schema_of(self.instance.graph)


@dataclass(frozen=True)
class PlannedEpisode:
    key: EpisodeKey
    task: Task
    graph: LoadedGraph

    async def setup(self, experiment: Experiment) -> EpisodeSetup:
        """Return prompt, tools and follow-up of the episode. Raise StoreError if the graph cannot be reached."""
        graph, played = self.graph, experiment.of(self.key.setting)
        setting = setting_of(self.key.setting)
        return await played.suite.setup(self.task, setting, graph.instance, graph.store, played.agent, played.tools)

    async def scripted(self, name: str, experiment: Experiment) -> Model:
        """Return the scripted agent of this name, in place of the model."""
        schema = await self.graph.whole_schema()
        setting = setting_of(self.key.setting)
        seed = seed_for(experiment.config.seed, "player", self.key._replace(setting=setting).text)  # for all variants
        return experiment.suite.agents.model(name, self.task, setting, schema, seed)


@dataclass
class Plan:
    """All graphs, tasks and episodes of a run, in the order in which they are played."""

    graphs: list[LoadedGraph] = field(default_factory=list)
    tasks: list[tuple[Task, LoadedGraph]] = field(default_factory=list)
    episodes: list[PlannedEpisode] = field(default_factory=list)
    unplayed: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Model and reason → number of episodes that a scripted agent cannot play."""
    task_notes: list[str] = field(default_factory=list)
    """The notes of the suite on the tasks."""

    def known_to(self, settled: Mapping[str, Any]) -> "Plan":
        """Return the part of the plan that is in a fingerprint: the first graphs if the run ended during planning."""
        if settled["episodes"] is not None:
            return self
        graphs = self.graphs[: len(settled["graphs"])]
        settled_graphs = {id(graph) for graph in graphs}
        tasks = [(task, graph) for task, graph in self.tasks if id(graph) in settled_graphs]
        return Plan(graphs, tasks, [planned for planned in self.episodes if id(planned.graph) in settled_graphs])

    def notes(self) -> Iterator[str]:
        """Yield the notes of the suite, and a line for each question and episode that is left out."""
        yield from self.task_notes
        for loaded in self.graphs:
            name = loaded.instance.facts.get("name", loaded.instance.digest[:12])
            yield from (f"{name}: without {what}: {why}" for what, why in loaded.left_out.items())
        yield from self.unplayed_notes()

    def unplayed_notes(self) -> Iterator[str]:
        """Yield a line for each scripted agent that cannot play some episodes."""
        for (model, reason), number in self.unplayed.items():
            yield f"{counted(number, 'episode')} of {model} left out: {reason}."


def episodes_about(task: Task, graph: LoadedGraph, experiment: Experiment) -> Iterator[PlannedEpisode]:
    """Return the episodes of one task that the models can play."""
    return (planned for planned, playable in _asked_about(task, graph, experiment) if playable)


def _asked_about(task: Task, graph: LoadedGraph, experiment: Experiment) -> Iterator[tuple[PlannedEpisode, bool]]:
    """Yield each episode of one task, and whether its model can play it."""
    for repeat in range(experiment.config.repeats):
        for setting in experiment.settings_played:
            if experiment.suite.applies(task, setting_of(setting), experiment.config.suite):
                worded = graph.reworded.get(setting.partition(":")[2], {}).get(task.task_id, task)
                for model in experiment.models:
                    planned = PlannedEpisode(EpisodeKey(task.task_id, model, setting, repeat), worded, graph)
                    yield planned, can_play(experiment.suite, model, setting, task)


async def grow(
    plan: Plan, experiment: Experiment, sources: GraphSources, on_tasks: Callable[[int], None]
) -> AsyncIterator[list[PlannedEpisode]]:
    """Extend a plan graph by graph, and yield the episodes of each. `made` gets the number of tasks so far."""
    config, suite = experiment.config, experiment.suite
    async for instance in suite.read_graphs(config.suite, config.seed, experiment.settings):
        if config.limit is not None and len(plan.tasks) >= config.limit:
            break
        store = await sources.store_of(instance)
        tasks = await suite.tasks(instance, store, config.suite, config.seed, experiment.agent)
        tasks = tasks if config.limit is None else tasks[: config.limit - len(plan.tasks)]
        per_task = config.repeats * len(experiment.settings_played) * len(experiment.models)
        if (len(plan.tasks) + len(tasks)) * per_task > MOST_EPISODES:
            raise ConfigError(
                f"{config.name} has more than {MOST_EPISODES:,} episodes, the limit of one run",
                hint="lower repeats or limit, or split it into several runs",
            )
        if store is not None and tasks:
            await store.schema(experiment.agent.schema_samples)  # once, before all episodes ask for it at the same time
        reworded = await _reworded(experiment, instance, store)
        loaded = LoadedGraph(instance, store, suite.left_out(instance), reworded)
        pairs = [pair for task in tasks for pair in _asked_about(task, loaded, experiment)]
        episodes = [planned for planned, playable in pairs if playable]
        plan.unplayed.update(_unplayed(each, suite) for each, playable in pairs if not playable)
        plan.graphs.append(loaded)
        plan.tasks += [(task, loaded) for task in tasks]
        plan.episodes += episodes
        on_tasks(len(plan.tasks))
        yield episodes
    plan.task_notes = list(suite.notes([task for task, _ in plan.tasks]))
    if not plan.episodes:
        raise no_episode(experiment, plan.notes())


def _unplayed(planned: PlannedEpisode, suite: Suite[Any, Any]) -> tuple[str, str]:
    """Return the model of an episode that is left out, and the reason."""
    key = planned.key
    agent = key.model.partition("/")[2].partition(":")[0]
    return key.model, suite.agents.why_not(agent, setting_of(key.setting), planned.task)


async def _reworded(
    experiment: Experiment, instance: GraphInstance, store: GraphStore | None
) -> dict[str, dict[str, Task]]:
    """Return the tasks of variants whose suite words questions in another way; other variants share the tasks."""
    config, suite, by_variant = experiment.config, experiment.suite, {}
    by_wording: dict[str, dict[str, Task]] = {config.suite.model_dump_json(): {}}
    for name, variant in config.variants.items():
        words = variant.suite.model_dump_json()
        if words not in by_wording:
            tasks = await suite.tasks(instance, store, variant.suite, config.seed, experiment.agent)
            by_wording[words] = {task.task_id: task for task in tasks}
        by_variant[name] = by_wording[words]
    return by_variant


async def make_plan(experiment: Experiment, sources: GraphSources, on_tasks: Callable[[int], None]) -> Plan:
    """Return the whole plan of an experiment, which is deterministic."""
    plan = Plan()
    async for _ in grow(plan, experiment, sources, on_tasks):
        pass
    return plan
