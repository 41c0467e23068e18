"""The plan of a run: graphs in their stores, tasks about them, one episode per task, model, setting and repeat."""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from graphwalk.agent.prompt import Prompt
from graphwalk.errors import ConfigError, counted
from graphwalk.models.chat import Model
from graphwalk.runs.record import EpisodeKey
from graphwalk.runs.resolve import ResolvedExperiment, can_play, no_episode
from graphwalk.runs.task_levers import AnswersByTool, with_levers
from graphwalk.seeds import seed_for, stdlib_random
from graphwalk.stores.base import GraphStore
from graphwalk.stores.open import OpenGraphs
from graphwalk.suites.loaded_graph import GraphInstance, LoadedGraph
from graphwalk.suites.setting import Setting
from graphwalk.suites.suite import Task

_LOGGER = logging.getLogger("graphwalk")
MOST_EPISODES = 1_000_000
"""Largest number of episodes of a run; each takes some kilobytes of memory."""


def graphs_of(
    experiment: ResolvedExperiment, run_id: str, note: Callable[[str], object] = _LOGGER.warning
) -> OpenGraphs:
    """Return what opens the graphs of an experiment, in the store that it names."""
    config = experiment.config
    return OpenGraphs(
        experiment.variables,
        config.store,
        run_id=run_id,
        timeout_seconds=config.limits.store_seconds,
        note=note,
    )


async def store_of(instance: GraphInstance, experiment: ResolvedExperiment, graphs: OpenGraphs) -> GraphStore | None:
    """Return the store of a graph; None for an instance without one. StoreError if it cannot be reached."""
    if instance.graph is None:
        return None
    is_in_neo4j = experiment.config.store == "neo4j"
    if is_in_neo4j and instance.existing_database is not None:
        return await graphs.open(instance.existing_database)
    return await graphs.load(instance.graph, in_this_process=is_in_neo4j and instance.in_memory)


@dataclass(frozen=True)
class PlannedGraph:
    """A loaded graph with what is recorded of its tasks."""

    about: LoadedGraph
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Question → reason why it is not asked about this graph."""

    @property
    def facts(self) -> dict[str, Any]:
        """The record of the graph in results."""
        instance = self.about.instance
        facts = {"digest": instance.digest, **instance.facts}
        if self.left_out:
            facts["left_out"] = dict(self.left_out)
        return facts


@dataclass(frozen=True)
class PlannedEpisode:
    key: EpisodeKey
    task: Task
    graph: PlannedGraph

    async def prompt(self, experiment: ResolvedExperiment) -> Prompt:
        """Return prompt, tools and follow-up of the episode. Raise StoreError if the graph cannot be reached."""
        setting = self.key.setting.name
        agent = experiment.of(self.key.setting).config.agent
        prompt = await self.task.prompt(self.graph.about, setting, agent)
        return with_levers(prompt, self.task, setting, agent)

    async def scripted(self, name: str, experiment: ResolvedExperiment) -> Model:
        """Return the scripted agent of this name, in place of the model."""
        schema = await self.graph.about.whole_schema()
        setting = self.key.setting.name
        key = self.key._replace(setting=Setting(setting))  # one walk for all variants
        seed = seed_for(experiment.config.seed, "player", key.text)
        player = experiment.suite.scripted_agents[name]
        random = stdlib_random(seed, *player.purpose, self.task.task_id)
        model = player.model(f"scripted/{name}", self.task, setting, schema, random)
        agent = experiment.of(self.key.setting).config.agent
        return AnswersByTool(model, self.task) if agent.answer == "tool" else model


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
            for question, reason in graph.left_out.items():
                yield f"{name}: without {question}: {reason}"
        yield from self.unplayed


def episodes_about(task: Task, graph: PlannedGraph, experiment: ResolvedExperiment) -> Iterator[PlannedEpisode]:
    """Return the episodes of one task that the models can play."""
    return (planned for planned, playable in _possible_episodes(task, graph, experiment) if playable)


def _possible_episodes(
    task: Task, graph: PlannedGraph, experiment: ResolvedExperiment
) -> Iterator[tuple[PlannedEpisode, bool]]:
    """Yield each episode of one task, and whether its model can play it."""
    for repeat in range(experiment.config.repeats):
        for setting in experiment.settings_played:
            if setting.name in graph.left_out:
                continue
            if not experiment.suite.asks(task, setting.name, experiment.config.suite):
                continue
            for model in experiment.models:
                planned = PlannedEpisode(EpisodeKey(task.task_id, model, setting, repeat), task, graph)
                yield planned, can_play(experiment.suite, model, setting.name, task)


def _why_unplayed(planned: PlannedEpisode, experiment: ResolvedExperiment) -> str:
    """Return the reason why a scripted agent cannot play an episode."""
    setting = planned.key.setting.name
    player = experiment.suite.scripted_agents[planned.key.model.partition("/")[2]]
    if setting not in player.settings:
        return f"this scripted agent cannot play {setting}"
    return player.why_not(planned.task)


async def make_plan(experiment: ResolvedExperiment, graphs: OpenGraphs, on_tasks: Callable[[int], None]) -> Plan:
    """Return the whole plan of an experiment, which is deterministic. `on_tasks` gets the number of tasks so far."""
    config, suite = experiment.config, experiment.suite
    plan = Plan()
    unplayed = Counter[tuple[str, str]]()  # (scripted agent, reason) → episodes that it cannot play
    episodes_of_task = config.repeats * len(experiment.settings_played) * len(experiment.models)
    async for instance in suite.read_graphs(config.suite, config.seed, experiment.variables):
        if config.limit is not None and len(plan.tasks) >= config.limit:
            break
        store = await store_of(instance, experiment, graphs)
        about = LoadedGraph(instance, store)
        most = None if config.limit is None else config.limit - len(plan.tasks)
        tasks, left_out, notes = await suite.first_tasks(about, config.suite, config.seed, config.agent, most)
        if (len(plan.tasks) + len(tasks)) * episodes_of_task > MOST_EPISODES:
            raise ConfigError(
                f"{config.name} has more than {MOST_EPISODES:,} episodes, the limit of one run",
                hint="lower repeats or limit, or split it into several runs",
            )
        if store is not None and tasks:
            await store.schema(config.agent.schema_samples)  # once, before all episodes ask for it at the same time
        graph = PlannedGraph(about, left_out)
        for task in tasks:
            for planned, playable in _possible_episodes(task, graph, experiment):
                if playable:
                    plan.episodes.append(planned)
                    continue
                unplayed[planned.key.model, _why_unplayed(planned, experiment)] += 1
        plan.graphs.append(graph)
        plan.tasks += [(task, graph) for task in tasks]
        plan.task_notes += notes
        on_tasks(len(plan.tasks))
        await asyncio.sleep(0)
    for (model, reason), number in unplayed.items():
        plan.unplayed.append(f"{counted(number, 'episode')} of {model} left out: {reason}.")
    if not plan.episodes:
        raise no_episode(experiment, plan.notes())
    return plan
