"""One episode from task to result: prompt, walk, extraction, score."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from graphwalk.agent import Episode, run_episode
from graphwalk.errors import ConfigError, ModelError, StoreError
from graphwalk.evaluation.extraction import Extraction, extract_with_model
from graphwalk.models.base import Model
from graphwalk.runs.experiment import Experiment, no_episode
from graphwalk.runs.graph_sources import sources_for
from graphwalk.runs.plan import LoadedGraph, PlannedEpisode, episodes_about
from graphwalk.runs.result import Result
from graphwalk.runs.run_models import RunModels
from graphwalk.suites.suite import GraphInstance, ReadLine, Suite
from graphwalk.types.chat import Reply, Usage
from graphwalk.types.episode import ExitStatus, Task, Trajectory
from graphwalk.types.graph import PropertyGraph


async def play(planned: PlannedEpisode, model: Model, extractor: Model | None, experiment: Experiment) -> Result:
    """Let `model`, a program or a person, try the task, and score what it says.

    Raises only what is wrong with the run itself.
    """
    limits = experiment.config.limits
    deadline = asyncio.get_running_loop().time() + limits.episode_seconds
    store = planned.graph.store
    generation = 0 if store is None else store.generation
    try:
        setup = await planned.setup(experiment)
    except StoreError as error:
        return _result(planned, experiment, Trajectory((), (), ExitStatus.STORE_ERROR, str(error)))
    walk = Episode(
        setup=setup,
        model=model,
        config=experiment.agent,
        options=experiment.options,
        deadline=deadline,
        tokens=limits.episode_tokens,
        usd=limits.episode_usd,
    )
    trajectory = await _unchanged(planned, await run_episode(walk), generation)
    if trajectory.exit_status.infrastructure or extractor is None or not trajectory.reply.strip():
        return await _checked(planned, experiment, trajectory)
    suite, task = experiment.suite, planned.task
    if suite.extract(task, trajectory.reply).sure:
        return await _checked(planned, experiment, trajectory)
    try:
        # It sees question, reply and format, and never the target.
        form = suite.answer_format(task, experiment.agent)
        reply = await extract_with_model(extractor, task.question, trajectory.reply, form, experiment.agent)
    except ModelError as error:
        failed = Trajectory(trajectory.prompt, trajectory.turns, ExitStatus.MODEL_ERROR, f"extractor: {error}")
        return _result(planned, experiment, failed)
    return await _checked(planned, experiment, trajectory, reply)


def judge(
    suite: Suite[Any, Any], task: Task, setting: str, trajectory: Trajectory, extractor_reply: str | None = None
) -> tuple[Any, dict[str, Any] | None]:
    """(answer, score) of a trajectory: the same for an episode just played and for one out of a log.

    The score is None for an infrastructure failure. `extractor_reply` (stage 2) counts where stage 1 reads nothing or
    is lossy, and something can be read in it.
    """
    if trajectory.exit_status.infrastructure:
        return None, None
    extraction = suite.extract(task, trajectory.reply)
    if not extraction.sure and extractor_reply is not None:
        second = suite.extract(task, extractor_reply)
        extraction = extraction if second.answer is None else Extraction(second.answer, "model", second.lossy)
    score = suite.score(task, setting, trajectory, extraction)
    return extraction.answer, score.model_dump(mode="json")


async def _unchanged(planned: PlannedEpisode, trajectory: Trajectory, generation: int) -> Trajectory:
    """The trajectory, which failed where the graph that was walked cannot be shown to have been there all the time."""
    store = planned.graph.store
    if trajectory.exit_status.infrastructure or not trajectory.results or store is None:
        return trajectory
    try:
        await store.check_unchanged(generation)
    except StoreError as error:
        return Trajectory(trajectory.prompt, trajectory.turns, ExitStatus.STORE_ERROR, str(error))
    return trajectory


async def _checked(
    planned: PlannedEpisode, experiment: Experiment, trajectory: Trajectory, extracted: Reply | None = None
) -> Result:
    """The result, whose score the store has confirmed where the suite lets it."""
    result = _result(planned, experiment, trajectory, extracted)
    suite, store = experiment.suite, planned.graph.store
    if result.score is None or store is None:
        return result
    try:
        await suite.verification.cross_check(
            planned.task, store, result.answer, suite.score_type.model_validate(result.score)
        )
    except StoreError as error:
        failed = Trajectory(trajectory.prompt, trajectory.turns, ExitStatus.STORE_ERROR, f"cross-check: {error}")
        return _result(planned, experiment, failed, extracted)
    return result


def _result(
    planned: PlannedEpisode, experiment: Experiment, trajectory: Trajectory, extracted: Reply | None = None
) -> Result:
    if trajectory.error is not None:
        trajectory = replace(trajectory, error=experiment.settings.secrets.redact_error(trajectory.error))
    reply = None if extracted is None else extracted.message.content or ""
    answer, score = judge(experiment.suite, planned.task, planned.key.setting, trajectory, reply)
    return Result(
        key=planned.key,
        exit_status=trajectory.exit_status,
        answer=answer,
        score=score,
        trajectory=trajectory,
        usage=trajectory.usage + (Usage() if extracted is None else extracted.usage),
        seconds=trajectory.seconds + (0.0 if extracted is None else extracted.seconds),
        task=planned.task.model_dump(mode="json"),
        graph=planned.graph.facts,
        extractor_reply=reply,
    )


async def play_first(experiment: Experiment, read: ReadLine) -> Result:
    """The first episode of an experiment; a person types what comes from `read`. ConfigError where it has none."""
    config, suite = experiment.config, experiment.suite
    async for instance in suite.read_graphs(config.suite, config.seed, experiment.settings):
        async with _loaded(instance, experiment) as loaded:
            for task in await suite.tasks(instance, loaded.store, config.suite, config.seed, experiment.agent):
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
    async with _loaded(GraphInstance.of(graph), experiment) as loaded:
        for planned in episodes_about(task, loaded, experiment):
            return await _played(planned, experiment)
    raise no_episode(experiment)


async def _played(planned: PlannedEpisode, experiment: Experiment, read: ReadLine | None = None) -> Result:
    async with RunModels(experiment, read=read) as models, models.for_episode(planned) as (model, extractor):
        return await play(planned, model, extractor, experiment)


@asynccontextmanager
async def _loaded(instance: GraphInstance, experiment: Experiment) -> AsyncIterator[LoadedGraph]:
    """A graph in its store, for the length of an episode."""
    sources = sources_for(experiment, secrets.token_hex(4))
    try:
        store = await sources.store_of(instance)
        try:
            yield LoadedGraph(instance, store)
        finally:
            if store is not None:
                await store.drop()
    finally:
        await sources.close()
