"""A single episode, played outside of a run: by a person, in a notebook, in an example. Nothing is logged."""

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from graphwalk.errors import ConfigError
from graphwalk.runlog.result import Result
from graphwalk.runner.episode import play
from graphwalk.runner.places import Places
from graphwalk.runner.plan import LoadedWorld, PlannedEpisode, episodes_about
from graphwalk.runner.players import Players
from graphwalk.runner.resolve import Experiment, no_episode
from graphwalk.stores.registry import open_database
from graphwalk.stores.store import Database
from graphwalk.suites.suite import ReadLine, World
from graphwalk.types.episode import Task
from graphwalk.types.graph import PropertyGraph


async def play_first(experiment: Experiment, read: ReadLine) -> Result:
    """The first episode of an experiment; a person types what comes from `read`. ConfigError where it has none."""
    config, suite = experiment.config, experiment.suite
    async for world in suite.worlds_in(config.suite, config.seed, experiment.environment):
        async with _loaded(world, experiment) as loaded:
            for task in await suite.tasks(world, loaded.store, config.suite, config.seed, experiment.agent):
                for planned in episodes_about(task, loaded, experiment):
                    return await _played(planned, experiment, read)
    raise no_episode(experiment)


async def play_task(experiment: Experiment, task: Task, graph: PropertyGraph) -> Result:
    """An episode about `task`, which was made from `graph`, with the first model and setting of `experiment`.

    ConfigError where the task is about another graph, or the model cannot try it.
    """
    if task.graph_digest != graph.digest:
        raise ConfigError(
            f"the task {task.task_id} is not about this graph", hint="give the graph that the task was made from"
        )
    facts = {"nodes": graph.node_count, "relationships": graph.relationship_count}
    async with _loaded(World(graph.digest, graph, facts=facts), experiment) as loaded:
        for planned in episodes_about(task, loaded, experiment):
            return await _played(planned, experiment)
    raise no_episode(experiment)


async def _played(planned: PlannedEpisode, experiment: Experiment, read: ReadLine | None = None) -> Result:
    async with Players(experiment, read=read) as players, players.seat(planned) as (model, extractor):
        return await play(planned, model, extractor, experiment)


@asynccontextmanager
async def _loaded(world: World, experiment: Experiment) -> AsyncIterator[LoadedWorld]:
    """A world in its store, for the length of an episode."""
    kind, environment = experiment.config.store, experiment.environment

    async def open_once() -> Database:
        return await open_database(kind, environment, run_id=secrets.token_hex(4))

    places = Places(open_once, environment if kind == "neo4j" else None)
    try:
        store = await places.store_of(world)
        try:
            yield LoadedWorld(world, store)
        finally:
            if store is not None:
                await store.drop()
    finally:
        await places.close()
