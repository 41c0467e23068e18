"""Open the models of a run: language models are shared by all episodes, other models play one episode each."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import TracebackType

from graphwalk.console import counted
from graphwalk.errors import ConfigError
from graphwalk.models.base import Model
from graphwalk.models.budget import Budget
from graphwalk.models.registry import open_model
from graphwalk.models.replay import ReplayModel
from graphwalk.models.wrappers import Cached, ReplyCache, wrap
from graphwalk.runs.experiment import Experiment, per_episode, recorded_episodes
from graphwalk.runs.plan import PlannedEpisode
from graphwalk.runs.result import EpisodeKey


class RunModels:
    """All models of an experiment, an asynchronous context manager.

    `replies`: file of the reply cache; None: no cache. `note` gets messages about long pauses and damaged replies.
    """

    def __init__(
        self,
        experiment: Experiment,
        replies: Path | None = None,
        note: Callable[[str], object] = lambda text: None,
    ) -> None:
        self.experiment = experiment
        self.keeps_results: Callable[[], None] = lambda: None
        """Called before each request; raises if results can no longer be written."""
        config = experiment.config
        self.budget = Budget(config.limits.budget_tokens, config.limits.budget_usd)
        self._cache = None if replies is None else ReplyCache(replies)
        if self._cache is not None and self._cache.damaged:
            note(f"{counted(self._cache.damaged, 'damaged line')} removed from replies.jsonl")
        asked = set(experiment.asked)
        self._models = {spec: self._opened(spec, note) for spec in asked if not per_episode(spec)}
        self._recorded = {spec: recorded_episodes(spec) for spec in experiment.models if spec.startswith("replay/")}

    async def __aenter__(self) -> "RunModels":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for model in self._models.values():
            await model.close()
        if self._cache is not None:
            self._cache.close()

    @asynccontextmanager
    async def for_episode(self, planned: PlannedEpisode) -> AsyncIterator[tuple[Model, Model | None]]:
        """Yield the model that plays an episode, and the extractor if there is one."""
        model = await self._model(planned)
        extractor = self.experiment.extractor
        try:
            yield model, None if extractor is None else self._called(extractor, planned.key, "extractor")
        finally:
            await model.close()

    def caveats(self) -> Iterator[str]:
        """Yield notes about the budget at the end of a run."""
        budget = self.budget
        if budget.usd is not None and budget.unpriced:
            yield f"{budget.unpriced} replies have no known cost: the budget in dollars may be exceeded"

    def _opened(self, spec: str, note: Callable[[str], object]) -> Model:
        """Open a model and put the wrappers of a run around it."""
        experiment = self.experiment
        config, limits, price = experiment.config, experiment.config.limits, experiment.prices.get(spec)
        provider = experiment.given.get(spec)
        if provider is None:
            provider = open_model(spec, experiment.settings, config.model_arguments.get(spec))
        return wrap(
            provider,
            limits,
            config.agent,
            budget=self.budget,
            price=price.price if price else None,
            stated=price is not None and price.stated,
            seed=config.seed,
            ready=self._ready,
            note=note,
        )

    def _ready(self) -> None:
        """Raise RunLogError if replies or results could not be written."""
        if self._cache is not None:
            self._cache.check()
        self.keeps_results()

    def _called(self, spec: str, key: EpisodeKey, role: str) -> Model:
        return Cached(self._models[spec], self._cache, self.budget, f"{key.text}\x1f{role}")

    async def _model(self, planned: PlannedEpisode) -> Model:
        spec, key = planned.key.model, planned.key
        if spec in self._models:
            return self._called(spec, key, "player")
        if spec in self._recorded:
            found = self._recorded[spec].get((key.task_id, key.setting, key.repeat))
            if found is None:
                missing = f"task {key.task_id} in setting {key.setting}, repeat {key.repeat}"
                raise ConfigError(f"{spec} has no episode of {missing}")
            return ReplayModel(spec, found)
        return await planned.scripted(spec.partition("/")[2], self.experiment)
