"""One episode from task to logged result: prompt, walk, extraction, score."""

import asyncio
from dataclasses import replace
from typing import Any

from graphwalk.agent import Episode, run_episode
from graphwalk.errors import ModelError, StoreError
from graphwalk.models.base import Model
from graphwalk.runlog.result import Result
from graphwalk.runner.plan import PlannedEpisode
from graphwalk.runner.resolve import Experiment
from graphwalk.scoring.extraction import Extraction, extract_with_model
from graphwalk.stores.store import Provable
from graphwalk.suites.suite import Suite
from graphwalk.types.chat import Reply, Usage
from graphwalk.types.episode import ExitStatus, Task, Trajectory


async def play(planned: PlannedEpisode, model: Model, extractor: Model | None, experiment: Experiment) -> Result:
    """Let `model`, a program or a person, try the task, and score what it says.

    Raises only what is wrong with the run itself.
    """
    limits = experiment.config.limits
    deadline = asyncio.get_running_loop().time() + limits.episode_seconds
    generation = _generation(planned)
    try:
        opening = await planned.opening(experiment)
    except StoreError as error:
        return _result(planned, experiment, Trajectory((), (), ExitStatus.STORE_ERROR, str(error)))
    walk = Episode(
        opening=opening,
        model=model,
        config=experiment.agent,
        options=experiment.options,
        deadline=deadline,
        tokens=limits.episode_tokens,
        usd=limits.episode_usd,
    )
    trajectory = await _proven(planned, await run_episode(walk), generation)
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


def _generation(planned: PlannedEpisode) -> int:
    store = planned.world.store
    return store.generation if isinstance(store, Provable) else 0


async def _proven(planned: PlannedEpisode, trajectory: Trajectory, generation: int) -> Trajectory:
    """The trajectory, which failed where the graph that was walked cannot be shown to have been there all the time."""
    store = planned.world.store
    if trajectory.exit_status.infrastructure or not trajectory.results or not isinstance(store, Provable):
        return trajectory
    try:
        await store.prove(generation)
    except StoreError as error:
        return Trajectory(trajectory.prompt, trajectory.turns, ExitStatus.STORE_ERROR, str(error))
    return trajectory


async def _checked(
    planned: PlannedEpisode, experiment: Experiment, trajectory: Trajectory, extracted: Reply | None = None
) -> Result:
    """The result, whose score the store has confirmed where the suite lets it."""
    result = _result(planned, experiment, trajectory, extracted)
    suite, store = experiment.suite, planned.world.store
    if result.score is None or store is None:
        return result
    try:
        await suite.cross_check(planned.task, store, result.answer, suite.score_type.model_validate(result.score))
    except StoreError as error:
        failed = Trajectory(trajectory.prompt, trajectory.turns, ExitStatus.STORE_ERROR, f"cross-check: {error}")
        return _result(planned, experiment, failed, extracted)
    return result


def _result(
    planned: PlannedEpisode, experiment: Experiment, trajectory: Trajectory, extracted: Reply | None = None
) -> Result:
    if trajectory.error is not None:
        trajectory = replace(trajectory, error=experiment.environment.inert(trajectory.error))
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
        world=planned.world.facts,
        extractor_reply=reply,
    )
