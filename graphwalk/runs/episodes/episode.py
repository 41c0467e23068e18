"""Play one episode, from task to result: model, prompt, agent loop, extraction, score."""

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from graphwalk.agent import Episode, Watcher, run_episode
from graphwalk.config.agent import AgentConfig
from graphwalk.config.scoring import Scoring
from graphwalk.errors import ConfigError, GraphwalkError, ModelError, StoreError
from graphwalk.evaluation.extraction import MOST_CHARACTERS, TOO_LONG, Extraction, extract_with_model
from graphwalk.models.base import Model
from graphwalk.models.protocols import with_tools
from graphwalk.models.scripted import ReplayModel
from graphwalk.models.tracing import Reporting, callback_manager
from graphwalk.models.wrappers import Budget, Cached, ReplyCache, wrap
from graphwalk.runs.episodes.graph_sources import sources_for
from graphwalk.runs.episodes.plan import PlannedEpisode, PlannedGraph, episodes_about
from graphwalk.runs.episodes.resolve import Experiment, no_episode, recorded_episodes
from graphwalk.runs.folder.result import Result
from graphwalk.suites.loaded_graph import GraphInstance, LoadedGraph
from graphwalk.suites.task import Task
from graphwalk.types.chat import Reply, Usage
from graphwalk.types.episode import ExitStatus, Trajectory, setting_of
from graphwalk.types.graph import PropertyGraph

_LOGGER = logging.getLogger("graphwalk")
_MOST_IN_LOOP = 50_000
"""Characters of a trajectory that are scored in the event loop, in at most about 0.3 s; longer ones in a thread."""
_SHORT = 1_000
"""Characters of a reply that is too long which its score reads."""
P = ParamSpec("P")
R = TypeVar("R")


class RunModels(AsyncExitStack):
    """All models of an experiment, an asynchronous context manager.

    `replies`: file of the reply cache; None: no cache. `note` gets messages about long pauses.
    """

    def __init__(
        self,
        experiment: Experiment,
        replies: Path | None = None,
        note: Callable[[str], object] = lambda text: None,
    ) -> None:
        super().__init__()
        self.experiment = experiment
        config, limits = experiment.config, experiment.config.limits
        self.budget = Budget(limits.budget_tokens, limits.budget_usd)
        self._cache = None if replies is None else ReplyCache(replies)
        if self._cache is not None:
            self.callback(self._cache.close)
        self._models: dict[str, Model] = {}
        self._with_tools: dict[tuple[Any, ...], Model] = {}
        """Model and the fields of an agent about its calls → the model that variants with these fields share."""
        for spec in {*experiment.called} & {*experiment.opened}:
            self._models[spec] = wrap(
                experiment.opened[spec],
                limits,
                budget=self.budget,
                price=experiment.prices.get(spec),
                seed=config.seed,
                note=note,
            )
            self.push_async_callback(self._models[spec].close)
        self._recorded = {spec: recorded_episodes(spec) for spec in experiment.models if spec.startswith("replay/")}

    @asynccontextmanager
    async def for_episode(self, planned: PlannedEpisode) -> AsyncIterator[tuple[Model, Model | None]]:
        """Yield the model that plays an episode, and the extractor if there is one."""
        key, spec, extractor = planned.key, planned.key.model, self.experiment.extractor
        model: Model
        if spec in self._models:
            shared = self._of_agent(spec, self.experiment.of(key.setting).agent)
            model = Cached(shared, self._cache, self.budget, f"{key.text}\x1fplayer")
        elif spec in self._recorded:
            trajectory = self._recorded[spec].get((key.task_id, key.setting, key.repeat))
            if trajectory is None:
                missing = f"task {key.task_id} in setting {key.setting}, repeat {key.repeat}"
                raise ConfigError(f"{spec} has no episode of {missing}")
            model = ReplayModel(spec, trajectory)
        else:
            model = await planned.scripted(spec.partition("/")[2], self.experiment)
        try:
            if extractor is None:
                yield model, None
            else:
                yield model, Cached(self._models[extractor], self._cache, self.budget, f"{key.text}\x1fextractor")
        finally:
            await model.close()

    def _of_agent(self, spec: str, agent: AgentConfig) -> Model:
        """Return a model that calls tools as the agent of an episode does."""
        fields = ("tool_protocol", "tool_choice", "strict_tools", "max_calls_per_turn", "prompts")
        key = (spec, *(getattr(agent, field) for field in fields))
        if key not in self._with_tools:
            self._with_tools[key] = with_tools(self._models[spec], agent)
        return self._with_tools[key]


async def play(
    planned: PlannedEpisode, models: RunModels, experiment: Experiment, watcher: Watcher | None = None
) -> Result:
    """Play and score one episode, a tree of LangChain's callbacks. Failures of model and store are in the result."""
    variables, key, results = experiment.variables, planned.key, list[Result]()
    facts = {"task": key.task_id, "model": key.model, "setting": key.setting, "repeat": key.repeat}
    manager = callback_manager({"callbacks": [*variables.callbacks], "metadata": facts})
    async with models.for_episode(planned) as (model, extractor):
        if manager is None:
            return await _play(planned, model, extractor, experiment, watcher)
        from langchain_core.runnables import RunnableLambda

        async def outputs(inputs: dict[str, Any]) -> dict[str, Any]:
            # In here, LangChain's context has the manager of what is below the root.
            reader = None if extractor is None else Reporting(extractor, callback_manager() or manager)
            result = await _play(planned, model, reader, experiment, watcher)
            results.append(result)
            if result.exit_status.infrastructure:
                raise GraphwalkError(f"{result.exit_status}: {result.trajectory.error}")
            return {"answer": result.answer, "score": result.score, "exit_status": result.exit_status}

        root = RunnableLambda(outputs, name=f"episode {key.task_id}")
        try:
            await root.ainvoke({**facts, "question": planned.task.question}, {"callbacks": manager})
        except GraphwalkError:
            if not results:
                raise
        return results[0]


async def _play(
    planned: PlannedEpisode, model: Model, extractor: Model | None, experiment: Experiment, watcher: Watcher | None
) -> Result:
    experiment = experiment.of(planned.key.setting)
    limits = experiment.config.limits
    deadline = asyncio.get_running_loop().time() + limits.episode_seconds
    store = planned.graph.about.store
    try:
        prompt = await planned.prompt(experiment)
    except StoreError as error:
        return _result(planned, experiment, Trajectory((), (), ExitStatus.STORE_ERROR, str(error)))
    episode = Episode(
        prompt=prompt,
        model=model,
        config=experiment.agent,
        options=experiment.options,
        deadline=deadline,
        tokens=limits.episode_tokens,
        usd=limits.episode_usd,
        watcher=watcher or Watcher(),
    )
    trajectory = await run_episode(episode)
    if store is not None and trajectory.results and not trajectory.exit_status.infrastructure:
        try:
            await store.check_unchanged()
        except StoreError as error:
            trajectory = replace(trajectory, exit_status=ExitStatus.STORE_ERROR, error=str(error))
    extracted: Reply | None = None
    task, reply = planned.task, trajectory.reply
    if extractor is not None and reply.strip() and not trajectory.exit_status.infrastructure:
        extraction = await _judged(trajectory, read_answer, task, reply, experiment.config.scoring)
        if not extraction.sure:
            try:
                # The extractor sees question, reply and format, and never the target.
                answer_format = task.answer_format(experiment.agent)
                extracted = await extract_with_model(extractor, task.question, reply, answer_format, experiment.agent)
            except ModelError as error:
                trajectory = replace(trajectory, exit_status=ExitStatus.MODEL_ERROR, error=f"extractor: {error}")
    return await _judged(trajectory, _result, planned, experiment, trajectory, extracted)


async def _judged(trajectory: Trajectory, function: Callable[P, R], *arguments: P.args, **named: P.kwargs) -> R:
    """Call a function that reads a trajectory, in a thread if that takes long, so that other episodes continue."""
    texts = (text for turn in trajectory.turns for text in (turn.message.content, *(r.content for r in turn.results)))
    if sum(map(len, filter(None, texts))) > _MOST_IN_LOOP:
        return await asyncio.to_thread(function, *arguments, **named)
    return function(*arguments, **named)


def unrecorded(planned: PlannedEpisode, experiment: Experiment, error: Exception) -> Result:
    """Return the failure of an episode whose result has no JSON form, after logging the traceback."""
    _LOGGER.error("%s cannot be recorded", planned.key, exc_info=error)
    cause = f"the result cannot be recorded: {type(error).__name__}: {error}"
    return _result(planned, experiment, Trajectory((), (), ExitStatus.MODEL_ERROR, cause))


def read_answer(task: Task, reply: str, scoring: Scoring) -> Extraction:
    """Return the answer in a reply; with strict extraction none unless the whole reply is the answer."""
    if len(reply) > MOST_CHARACTERS:
        return Extraction(stage=TOO_LONG)
    extraction = task.read(reply)
    return extraction if scoring.extraction == "lenient" or extraction.stage == "strict" else Extraction()


def judge(
    task: Task,
    setting: str,
    trajectory: Trajectory,
    extractor_reply: str | None = None,
    scoring: Scoring = Scoring(),
) -> tuple[Any, dict[str, Any] | None]:
    """Return answer and score of a trajectory, just played or from a log.

    The score is None for an infrastructure failure. `extractor_reply` is used if the parser finds no answer in the
    model's reply, or a lossy one, and finds one in the extractor's.
    """
    if trajectory.exit_status.infrastructure:
        return None, None
    extraction = read_answer(task, trajectory.reply, scoring)
    if extraction.stage == TOO_LONG:
        trajectory = with_short_reply(trajectory)
    if not extraction.sure and extractor_reply is not None:
        second = task.read(extractor_reply)
        extraction = extraction if second.answer is None else Extraction(second.answer, "model", second.lossy)
    score = task.score(setting_of(setting), trajectory, extraction, scoring)
    return extraction.answer, score.model_dump(mode="json")


def with_short_reply(trajectory: Trajectory) -> Trajectory:
    """Return a trajectory whose last turn has only the beginning of the reply, which is read for no answer."""
    *turns, last = trajectory.turns
    message = replace(last.message, content=(last.message.content or "")[:_SHORT])
    results = tuple(replace(one, content=one.content[:_SHORT]) if one.final else one for one in last.results)
    return replace(trajectory, turns=(*turns, replace(last, message=message, results=results)))


def _result(
    planned: PlannedEpisode, experiment: Experiment, trajectory: Trajectory, extracted: Reply | None = None
) -> Result:
    if trajectory.error is not None:
        trajectory = replace(trajectory, error=experiment.variables.secrets.redact_error(trajectory.error))
    reply = None if extracted is None else extracted.message.content or ""
    scoring = experiment.config.scoring
    answer, score = judge(planned.task, planned.key.setting, trajectory, reply, scoring)
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


async def play_task(experiment: Experiment, task: Task, graph: PropertyGraph) -> Result:
    """Play a task with the first model and setting. ConfigError if it is about another graph, or cannot be played."""
    if task.graph_digest != graph.digest:
        raise ConfigError(
            f"the task {task.task_id} is not about this graph", hint="give the graph that the task was made from"
        )
    sources, instance = sources_for(experiment, secrets.token_hex(4)), GraphInstance.of(graph)
    async with sources:
        loaded = PlannedGraph(LoadedGraph(instance, await sources.store_of(instance)))
        for planned in episodes_about(task, loaded, experiment):
            async with RunModels(experiment) as models:
                return await play(planned, models, experiment)
    raise no_episode(experiment)
