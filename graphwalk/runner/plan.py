"""What a run has to do: graphs in their stores, tasks about them, and one episode per task, model, setting, repeat."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from graphwalk.config.experiment import ExperimentConfig
from graphwalk.errors import ConfigError
from graphwalk.runlog.result import EpisodeKey
from graphwalk.stores.store import Database, GraphStore
from graphwalk.suites.suite import Suite, World
from graphwalk.types.episode import Task


@dataclass(frozen=True)
class LoadedWorld:
    """A graph and where agents find it; `store` is None for suites that need none."""

    world: World
    store: GraphStore | None

    @property
    def facts(self) -> dict[str, Any]:
        """What is logged about it."""
        return {"digest": self.world.digest, **self.world.facts}


@dataclass(frozen=True)
class PlannedEpisode:
    key: EpisodeKey
    task: Task
    world: LoadedWorld


@dataclass
class Plan:
    """All of a run, in the order in which it is worked off."""

    worlds: list[LoadedWorld] = field(default_factory=list)
    tasks: list[tuple[Task, LoadedWorld]] = field(default_factory=list)
    episodes: list[PlannedEpisode] = field(default_factory=list)

    async def drop_graphs(self) -> None:
        """Remove from the database what this run put there."""
        for loaded in self.worlds:
            if loaded.store is not None:
                await loaded.store.drop()


OpenDatabase = Callable[[], Awaitable[Database]]
Progress = Callable[[int], None]


async def make_plan(
    config: ExperimentConfig, suite: Suite[Any], models: tuple[str, ...], open_database: OpenDatabase, made: Progress
) -> Plan:
    """The plan of an experiment: the same for the same configuration. `made` is told how many tasks there are so far.

    ConfigError where the experiment asks for a setting that its suite does not have.
    """
    check_settings(config, suite, models)
    plan = Plan()
    database: Database | None = None
    for world in suite.worlds(config):
        if config.limit is not None and len(plan.tasks) >= config.limit:
            break
        store = None
        if world.graph is not None:
            database = database or await open_database()
            store = await database.load(world.graph)
        loaded = LoadedWorld(world, store)
        plan.worlds.append(loaded)
        plan.tasks += [(task, loaded) for task in await suite.tasks(world, store, config)]
        made(len(plan.tasks))
    del plan.tasks[config.limit or len(plan.tasks) :]
    plan.episodes = [
        PlannedEpisode(EpisodeKey(task.task_id, model, setting, repeat), task, world)
        for task, world in plan.tasks
        for repeat in range(config.repeats)
        for setting in config.settings
        if suite.applies(task, setting)
        for model in models
        if can_play(suite, model, setting)
    ]
    if not plan.episodes:
        raise _no_episode(config, models)
    return plan


def can_play(suite: Suite[Any], model: str, setting: str) -> bool:
    """Scripted models are made for some settings; a language model can try anything."""
    provider, _, policy = model.partition("/")
    return provider != "scripted" or suite.can_play(policy.partition(":")[0], setting)


def check_settings(config: ExperimentConfig, suite: Suite[Any], models: tuple[str, ...]) -> None:
    """ConfigError for a setting that the suite does not have, or where nobody plays any of them."""
    for setting in config.settings:
        if setting not in suite.settings:
            known = ", ".join(suite.settings)
            raise ConfigError(f"suite {suite.name} has no setting {setting!r}", hint=f"settings: {known}")
    if not any(can_play(suite, model, setting) for model in models for setting in config.settings):
        raise _no_episode(config, models)


def _no_episode(config: ExperimentConfig, models: tuple[str, ...]) -> ConfigError:
    return ConfigError(f"{config.name} has no episode: none of {', '.join(models)} plays {', '.join(config.settings)}")
