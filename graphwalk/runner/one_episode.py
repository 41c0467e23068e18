"""A single episode, played outside of a run: by a person, in a notebook, in an example."""

from collections.abc import Callable

from graphwalk.models.model import Model
from graphwalk.runlog.result import Result
from graphwalk.runner.episode import play
from graphwalk.runner.plan import make_plan
from graphwalk.runner.resolve import Experiment
from graphwalk.stores.registry import open_database
from graphwalk.stores.store import Database
from graphwalk.types.episode import Task


async def play_first(experiment: Experiment, choose: Callable[[Task], Model]) -> Result:
    """The first episode of an experiment, with the model that `choose` gives for its task. Nothing is logged."""
    opened: list[Database] = []

    async def open_once() -> Database:
        opened.append(await open_database(experiment.config.store, experiment.environment, run_id="one-episode"))
        return opened[-1]

    plan = await make_plan(experiment, open_once, lambda tasks: None)
    try:
        planned = plan.episodes[0]
        return await play(planned, choose(planned.task), None, experiment)
    finally:
        await plan.drop_graphs()
        for database in opened:
            await database.close()
