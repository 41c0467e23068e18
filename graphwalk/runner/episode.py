"""One episode from task to logged result: prompt, walk, extraction, score."""

import asyncio
from dataclasses import dataclass
from typing import Any

from graphwalk.agent.loop import Walk, run_episode
from graphwalk.config.experiment import ExperimentConfig
from graphwalk.errors import ModelError, StoreError
from graphwalk.models.model import Model
from graphwalk.runlog.result import Result
from graphwalk.runner.plan import PlannedEpisode
from graphwalk.scoring.extraction import extract_with_model
from graphwalk.suites.suite import Extraction, Suite
from graphwalk.types.chat import CallOptions, Usage
from graphwalk.types.episode import ExitStatus, Trajectory


@dataclass(frozen=True)
class Stage:
    """What all episodes of a run have in common."""

    config: ExperimentConfig
    suite: Suite[Any]
    options: CallOptions


async def play(planned: PlannedEpisode, model: Model, extractor: Model | None, stage: Stage) -> Result:
    """Let `model` try the task and score what it says. Raises only what is wrong with the run itself."""
    limits, suite, task = stage.config.limits, stage.suite, planned.task
    deadline = asyncio.get_running_loop().time() + limits.episode_seconds
    try:
        episode = await suite.episode(
            task, planned.key.setting, planned.world.world, planned.world.store, stage.config.agent
        )
    except StoreError as error:
        return _result(planned, stage, Trajectory((), (), ExitStatus.STORE_ERROR, str(error)))
    walk = Walk(
        episode=episode,
        model=model,
        config=stage.config.agent,
        options=stage.options,
        deadline=deadline,
        tokens=limits.episode_tokens,
        usd=limits.episode_usd,
    )
    trajectory = await run_episode(walk)
    if trajectory.exit_status.infrastructure:
        return _result(planned, stage, trajectory)
    extraction = suite.extract(task, trajectory.reply)
    if extraction.answer is not None or extractor is None or not trajectory.reply.strip():
        return _result(planned, stage, trajectory, extraction)
    return await _extract_again(planned, stage, trajectory, extractor)


async def _extract_again(planned: PlannedEpisode, stage: Stage, trajectory: Trajectory, extractor: Model) -> Result:
    """Stage 2: a model reads the answer out of the reply; it sees question, reply and format, never the gold."""
    suite, task = stage.suite, planned.task
    try:
        reply = await extract_with_model(extractor, task.question, trajectory.reply, suite.answer_format(task))
    except ModelError as error:
        failed = Trajectory(trajectory.prompt, trajectory.turns, ExitStatus.MODEL_ERROR, f"extractor: {error}")
        return _result(planned, stage, failed)
    text = reply.message.content or ""
    read = suite.extract(task, text)
    extraction = Extraction(read.answer, "model") if read.answer is not None else Extraction()
    return _result(planned, stage, trajectory, extraction, reply.usage, reply.seconds, text)


def _result(
    planned: PlannedEpisode,
    stage: Stage,
    trajectory: Trajectory,
    extraction: Extraction | None = None,
    extra_usage: Usage = Usage(),
    extra_seconds: float = 0.0,
    extractor_reply: str | None = None,
) -> Result:
    """`extraction` is None for an infrastructure failure, which has no score."""
    score = None
    if extraction is not None:
        score = stage.suite.score(planned.task, planned.key.setting, trajectory, extraction).model_dump(mode="json")
    return Result(
        key=planned.key,
        exit_status=trajectory.exit_status,
        answer=extraction.answer if extraction else None,
        score=score,
        trajectory=trajectory,
        usage=trajectory.usage + extra_usage,
        seconds=trajectory.seconds + extra_seconds,
        task=planned.task.model_dump(mode="json"),
        world=planned.world.facts,
        extractor_reply=extractor_reply,
    )
