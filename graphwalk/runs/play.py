"""Play a run: plan it, play its episodes concurrently, and log each result at once."""

import asyncio
import logging
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from graphwalk.agent.conversation import Conversation
from graphwalk.agent.loop import Episode, run_episode
from graphwalk.errors import ConfigError, GraphwalkError, ModelError, RunLogError, StoreError
from graphwalk.files.json_lines import LineWriter, encode_line
from graphwalk.graphs.graph import PropertyGraph
from graphwalk.models.chat import Model, Reply, Usage, from_dict
from graphwalk.models.langchain import Reporting
from graphwalk.models.prices import KnownPrice
from graphwalk.models.registry import Guarded
from graphwalk.models.stack import ModelStack
from graphwalk.models.trajectory import ExitStatus, Trajectory
from graphwalk.models.wrappers import Budget, ReplyCache
from graphwalk.runs.context_window import window_warnings
from graphwalk.runs.experiment import load_experiment
from graphwalk.runs.folder import NewRun, RunFolder, run_log
from graphwalk.runs.manifest import check_unchanged, fingerprint, new_manifest, texts_of
from graphwalk.runs.plan import Plan, PlannedEpisode, PlannedGraph, episodes_about, graphs_of, make_plan, store_of
from graphwalk.runs.progress import Progress
from graphwalk.runs.record import EpisodeKey, Result, judge, key_of, read_answer
from graphwalk.runs.resolve import ResolvedExperiment, context_windows, no_episode, resolve
from graphwalk.suites.extraction import extract_with_model
from graphwalk.suites.loaded_graph import GraphInstance, LoadedGraph
from graphwalk.suites.suite import Task
from graphwalk.variables import Variables
from graphwalk.version import __version__

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

_LOGGER = logging.getLogger("graphwalk")
_MOST_FAILURES = 3
"""Episodes without a reply after which a model is skipped; each of them has retried its calls."""


@dataclass(frozen=True)
class RunSummary:
    """The state of a run when its process ends."""

    episodes: int
    finished: int
    failed: int
    """Episodes that ended in an infrastructure failure; a resume retries them."""
    usage: Usage
    budget_reached: bool


PlayEpisode = Callable[[PlannedEpisode], Awaitable[Result]]


Players = Callable[["RunModels", Mapping[str, Any]], AbstractAsyncContextManager[PlayEpisode]]
"""Opens what plays the episodes of a run, given its models and run.json: this process, or workers elsewhere."""


@asynccontextmanager
async def in_this_process(models: "RunModels", manifest: Mapping[str, Any]) -> AsyncIterator[PlayEpisode]:
    yield partial(play, models=models, experiment=models.experiment)


async def start_run(
    experiment: ResolvedExperiment,
    new: NewRun,
    progress: Progress,
    players: Players = in_this_process,
) -> RunSummary:
    """Start a run in its new folder and play it to its end. Errors of the run are raised."""

    def begin(plan: Plan) -> dict[str, Any]:
        manifest = new_manifest(experiment, plan, new.run_id, new.created)
        if plan.unplayed:
            manifest["unplayed"] = plan.unplayed
        return manifest

    with new.begin():
        return await _play_run(experiment, new.folder, new.run_id, progress, begin, players)


async def resume_run(
    folder: RunFolder,
    variables: Variables,
    progress: Progress,
    changes: Mapping[str, Any] | None = None,
    objects: Mapping[str, Model] | None = None,
    players: Players = in_this_process,
) -> RunSummary:
    """Resume a run: keep finished episodes, retry failed ones, reuse cached replies.

    `changes` replaces fields of the limits (concurrency, budgets, …); `objects`: name → model object of the caller.
    Raise RunLogError if anything else has changed.
    """
    with folder.lock():
        manifest = folder.read_manifest()
        changed = {**manifest["config"], "limits": {**manifest["config"]["limits"], **(changes or {})}}
        experiment = experiment_of(folder, {**manifest, "config": changed}, variables, objects)

        def continued(plan: Plan) -> dict[str, Any]:
            check_unchanged(folder, experiment, plan, manifest["fingerprint"])
            config = experiment.config.model_dump(mode="json")
            return {**manifest, "config": config, "fingerprint": fingerprint(experiment, plan)}

        return await _play_run(experiment, folder, manifest["run_id"], progress, continued, players)


def experiment_of(
    folder: RunFolder,
    manifest: Mapping[str, Any],
    variables: Variables,
    objects: Mapping[str, Model] | None = None,
    *,
    keys: bool = True,
) -> ResolvedExperiment:
    """Return the experiment that run.json in `folder` describes, with its prices, and its models opened.

    Without `keys` no model is opened, and no API key is needed.

    Raise ConfigError if this version or machine cannot play it, RunLogError for prices that cannot be read.
    """
    try:
        config = load_experiment(manifest["config"], name=str(folder.manifest_path))
    except ConfigError as error:
        error.hint = error.hint or f"the original texts of the run are in {folder.texts_path}"
        raise
    try:
        prices = TypeAdapter(dict[str, KnownPrice]).validate_python(manifest["prices"])
    except ValidationError as error:
        raise RunLogError(f"{folder.manifest_path}: its prices cannot be read: {error}") from None
    return resolve(config, variables, keys=keys, objects=objects, prices=prices)


async def _play_run(
    experiment: ResolvedExperiment,
    folder: RunFolder,
    run_id: str,
    progress: Progress,
    manifest_of: Callable[[Plan], dict[str, Any]],
    players: Players,
) -> RunSummary:
    """Plan a run, write run.json, play the episodes without a result, and close all that was opened."""

    def note(text: str) -> None:
        _LOGGER.warning("%s", text)
        progress.note(text)

    with run_log(folder.log_path, experiment.variables.secrets.redact):
        _LOGGER.info("GraphWalk %s works on %s", __version__, folder.path)
        async with graphs_of(experiment, run_id, note) as graphs:
            for provider in experiment.opened.values():
                if isinstance(provider, Guarded):
                    await provider.probe()  # a server that has not been started is named before the plan is made
            plan = await make_plan(experiment, graphs, progress.planning)
            manifest = manifest_of(plan)
            windows = await context_windows(experiment)
            if windows:
                manifest.setdefault("context_tokens", windows)
            folder.write_manifest(manifest)
            redact = experiment.variables.secrets.redact_certain
            texts = {name: redact(text) for name, text in texts_of(experiment).items()}
            folder.write_texts({**texts, "experiment.yaml": experiment.config.as_yaml()})
            is_resumed = folder.results_path.exists()
            finished = FinishedEpisodes.of(folder, plan) if is_resumed else FinishedEpisodes()
            waiting = [episode for episode in plan.episodes if episode.key not in finished.status_of]
            planned, earlier = len(plan.episodes), len(plan.episodes) - len(waiting)
            _LOGGER.info("%d episodes planned, %d of them finished earlier", planned, earlier)
            if experiment.config.extractor is not None and experiment.extractor is None:
                model = experiment.config.extractor.model
                note(f"no API key for the extractor {model}: replies are scored as the parser reads them")
            progress.priced(finished.usage, experiment.prices)
            notes = list(plan.notes())
            if windows or experiment.config.limits.context_tokens is not None:
                notes += await window_warnings(experiment, plan, windows)
            for text in notes:
                note(text)
            async with RunModels(experiment, folder.replies_path, note) as models:
                budget = models.budget
                if finished.status_of:
                    budget.charge(finished.usage)
                progress.started(planned, earlier)
                with closing(LineWriter(folder.results_path)) as results:
                    async with players(models, manifest) as play_episode:
                        run = _Workers(experiment, play_episode, budget, results, finished, progress, note)
                        await run.play_all(iter(waiting), min(len(waiting), experiment.config.limits.max_concurrency))
                if budget.usd is not None and budget.unpriced:
                    note(f"{budget.unpriced} replies have no known cost: the budget in dollars may be exceeded")
                failed = sum(status.infrastructure for status in finished.status_of.values())
                scored = len(finished.status_of) - failed
                _LOGGER.info("%d of %d episodes have a score, %d failed", scored, planned, failed)
                return RunSummary(planned, scored, failed, finished.usage, budget.exhausted)


@dataclass
class FinishedEpisodes:
    """Finished episodes of a run, with those of earlier processes, their usage, and models that do not reply."""

    status_of: dict[EpisodeKey, ExitStatus] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    replied: set[str] = field(default_factory=set)
    """Models that have replied, also in episodes that failed afterwards."""
    failures: Counter[str] = field(default_factory=Counter)
    """Model → episodes of this process without a reply."""

    @classmethod
    def of(cls, folder: RunFolder, plan: Plan) -> "FinishedEpisodes":
        """Count the finished episodes of earlier processes, without failures. RunLogError for one of another plan."""
        finished = cls()
        keys = {planned.key for planned in plan.episodes}
        for number, record in enumerate(folder.records(), 1):
            key, status = key_of(record), ExitStatus(record["exit_status"])
            if key not in keys:
                raise RunLogError(f"{folder.results_path}:{number}: the episode is not part of this run: {key}")
            if record["trajectory"].get("turns") or not status.infrastructure:
                finished.replied.add(key.model)
            if not status.infrastructure:
                finished.status_of[key] = status
                finished.usage += from_dict(Usage, record["usage"])
        return finished

    def count(self, result: Result) -> bool:
        """Count an episode. Return True if it is the last failure after which its model is skipped."""
        model, status = result.key.model, result.exit_status
        self.status_of[result.key] = status
        self.usage += result.usage
        if result.trajectory.turns or not status.infrastructure:
            self.replied.add(model)
        if model in self.replied or status is not ExitStatus.MODEL_ERROR:
            return False
        self.failures[model] += 1
        return self.failures[model] == _MOST_FAILURES

    def skips(self, model: str) -> bool:
        """Return True for a model that has never replied (a circuit breaker)."""
        return self.failures[model] >= _MOST_FAILURES and model not in self.replied


@dataclass(frozen=True)
class _Workers:
    """Workers that play the episodes of a run, and what they share."""

    experiment: ResolvedExperiment
    play: PlayEpisode
    budget: Budget
    results: LineWriter
    finished: FinishedEpisodes
    progress: Progress
    note: Callable[[str], None]

    async def play_all(self, waiting: Iterator[PlannedEpisode], number: int) -> None:
        """Play episodes, a `number` of them at a time. Raise the first error of the run."""
        try:
            async with asyncio.TaskGroup() as workers:
                for _ in range(number):
                    workers.create_task(self._work(waiting))
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None

    async def _work(self, waiting: Iterator[PlannedEpisode]) -> None:
        """Play one episode after the other until none is left or the budget is spent, and log each result."""
        for planned in waiting:
            if self.budget.exhausted:
                return
            if self.finished.skips(planned.key.model):
                continue
            try:
                result = await self.play(planned)
                line = encode_line(result.as_dict())
            except RunLogError:
                raise
            except Exception as error:
                trajectory = Trajectory((), (), ExitStatus.MODEL_ERROR, _unexpected(error, planned))
                result = _result(planned, self.experiment, trajectory)
                line = encode_line(result.as_dict())
            self.results.write(line)
            if self.finished.count(result):
                stopped = f"stopped calling {planned.key.model}: {_MOST_FAILURES} episodes without a reply"
                self.note(f"{stopped}; {result.trajectory.error}")
            if result.exit_status.infrastructure:
                _LOGGER.warning("%s: %s, %s", result.key.in_words, result.exit_status, result.trajectory.error)
            try:
                self.progress.finished(result)
            except Exception as error:
                self.note(f"on_result: {_unexpected(error, planned)}")
            await asyncio.sleep(0)


def has_callbacks(experiment: ResolvedExperiment) -> bool:
    """Return True if each episode is reported to callbacks of LangChain, of the caller or of the environment."""
    from langchain_core.runnables.config import get_async_callback_manager_for_config

    handlers: RunnableConfig = {"callbacks": [*experiment.variables.callbacks]}
    return bool(get_async_callback_manager_for_config(handlers).handlers)


class RunModels(AsyncExitStack):
    """All models of an experiment, an asynchronous context manager, with the budget of all their calls.

    `replies`: the file of the reply cache; None: no cache. `note` gets messages, as about long pauses.
    """

    def __init__(
        self,
        experiment: ResolvedExperiment,
        replies: Path | None = None,
        note: Callable[[str], object] = lambda text: None,
    ) -> None:
        super().__init__()
        self.experiment = experiment
        self.note = note
        limits = experiment.config.limits
        self.budget = Budget(limits.budget_tokens, limits.budget_usd)
        # Looked up once: it takes as long as a tool call.
        self.are_reported = has_callbacks(experiment)
        cache = None
        if replies is not None:
            cache = ReplyCache(replies)
            self.callback(cache.close)
        self._models: dict[str, ModelStack] = {}
        for spec in {*experiment.called} & {*experiment.opened}:
            self._models[spec] = ModelStack(
                experiment.opened[spec],
                limits,
                budget=self.budget,
                price=experiment.prices.get(spec),
                seed=experiment.config.seed,
                cache=cache,
                note=note,
            )
            self.push_async_callback(self._models[spec].shared.close)

    @asynccontextmanager
    async def for_episode(self, planned: PlannedEpisode) -> AsyncIterator[tuple[Model, Model | None]]:
        """Yield the model that plays an episode, and the extractor if there is one."""
        key, spec = planned.key, planned.key.model
        extractor: Model | None = None
        if self.experiment.extractor is not None:
            extractor = self._models[self.experiment.extractor].in_episode(f"{key.text}\x1fextractor")
        if spec in self._models:
            agent = self.experiment.of(key.setting).config.agent
            yield self._models[spec].in_episode(f"{key.text}\x1fplayer", agent), extractor
            return

        # A scripted agent plays one episode; the other models are closed at the end of the run.
        scripted = await planned.scripted(spec.partition("/")[2], self.experiment)
        try:
            yield scripted, extractor
        finally:
            await scripted.close()


async def play(planned: PlannedEpisode, models: RunModels, experiment: ResolvedExperiment) -> Result:
    """Play and score one episode. Failures of model and store are in the result."""
    async with models.for_episode(planned) as (model, extractor):
        if models.are_reported:
            return await play_reported(planned, model, extractor, experiment)
        return await play_with(planned, model, extractor, experiment)


async def play_reported(
    planned: PlannedEpisode, model: Model, extractor: Model | None, experiment: ResolvedExperiment
) -> Result:
    """Play and score an episode as `play_with`, as a tree of LangChain's callbacks."""
    from langchain_core.runnables import RunnableLambda

    variables, key, results = experiment.variables, planned.key, list[Result]()
    facts = {"task": key.task_id, "model": key.model, "setting": str(key.setting), "repeat": key.repeat}

    async def outputs(inputs: dict[str, Any], config: "RunnableConfig") -> dict[str, Any]:
        manager: Any = config["callbacks"]  # of what is below the root
        reader = None if extractor is None else Reporting(extractor, manager)
        result = await play_with(planned, model, reader, experiment)
        results.append(result)
        if result.exit_status.infrastructure:
            raise GraphwalkError(f"{result.exit_status}: {result.trajectory.error}")
        return {"answer": result.answer, "score": result.score, "exit_status": result.exit_status}

    root = RunnableLambda(outputs, name=f"episode {key.task_id}")
    try:
        config: RunnableConfig = {"callbacks": [*variables.callbacks], "metadata": facts}
        await root.ainvoke({**facts, "question": planned.task.question}, config)
    except GraphwalkError:
        if not results:
            raise
    return results[0]


async def play_with(
    planned: PlannedEpisode, model: Model, extractor: Model | None, experiment: ResolvedExperiment
) -> Result:
    """Play and score an episode as `play`, with these models."""
    task, setting, store = planned.task, planned.key.setting, planned.graph.about.store
    experiment = experiment.of(setting)
    config = experiment.config
    limits, scoring, agent = config.limits, config.scoring, config.agent
    deadline = asyncio.get_running_loop().time() + limits.episode_seconds
    trajectory = Trajectory((), (), ExitStatus.STORE_ERROR)
    extracted: Reply | None = None
    try:
        episode = Episode(
            Conversation(await planned.prompt(experiment), agent, limits),
            model,
            experiment.options,
            deadline=deadline,
        )
        trajectory = await run_episode(episode)
        if trajectory.exit_status.infrastructure:
            return _result(planned, experiment, trajectory)
        if store is not None and not store.in_process and trajectory.results:
            await store.check_unchanged()
        if extractor is not None and trajectory.reply.strip():
            extraction = await asyncio.to_thread(read_answer, task, trajectory.reply, scoring)
            if not extraction.sure:
                # The extractor sees question, reply and format, and never the target.
                answer_format = task.answer_format(agent)
                async with asyncio.timeout_at(deadline):
                    extracted = await extract_with_model(
                        extractor, task.question, trajectory.reply, answer_format, agent
                    )
        reply = None if extracted is None else extracted.message.content or ""
        # In a thread, since reading a long reply takes seconds.
        answer, score = await asyncio.to_thread(judge, task, trajectory, reply, scoring)
        return _result(planned, experiment, trajectory, answer, score, extracted)
    except RunLogError:
        raise
    except StoreError as error:
        trajectory = replace(trajectory, exit_status=ExitStatus.STORE_ERROR, error=error.message)
    except ModelError as error:
        trajectory = replace(trajectory, exit_status=ExitStatus.MODEL_ERROR, error=f"extractor: {error.message}")
    except TimeoutError:
        cause = "the deadline of the episode passed during the call of the extractor"
        trajectory = replace(trajectory, exit_status=ExitStatus.MODEL_ERROR, error=cause)
    except Exception as error:
        cause = _unexpected(error, planned)
        trajectory = replace(trajectory, exit_status=ExitStatus.MODEL_ERROR, error=cause)
    return _result(planned, experiment, trajectory, extracted=extracted)


def _unexpected(error: Exception, planned: PlannedEpisode) -> str:
    """Log an error that is a mistake of a program, with its traceback, and return it in words."""
    _LOGGER.error("unexpected error in %s", planned.key.in_words, exc_info=error)
    cause = error.message if isinstance(error, GraphwalkError) else error
    return f"unexpected error: {type(error).__name__}: {cause}"


def _result(
    planned: PlannedEpisode,
    experiment: ResolvedExperiment,
    trajectory: Trajectory,
    answer: Any = None,
    score: dict[str, Any] | None = None,
    extracted: Reply | None = None,
) -> Result:
    if trajectory.error is not None:
        trajectory = replace(trajectory, error=experiment.variables.secrets.redact_error(trajectory.error))
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
        extractor_reply=None if extracted is None else extracted.message.content or "",
    )


async def play_task(experiment: ResolvedExperiment, task: Task, graph: PropertyGraph) -> Result:
    """Play a task with the first model and setting. ConfigError if it is about another graph, or cannot be played."""
    if task.graph_digest != graph.digest:
        raise ConfigError(
            f"the task {task.task_id} is not about this graph", hint="give the graph that the task was made from"
        )
    instance = GraphInstance.of(graph)
    async with graphs_of(experiment, secrets.token_hex(4)) as graphs:
        loaded = PlannedGraph(LoadedGraph(instance, await store_of(instance, experiment, graphs)))
        for planned in episodes_about(task, loaded, experiment):
            async with RunModels(experiment) as models:
                return await play(planned, models, experiment)
    raise no_episode(experiment)
