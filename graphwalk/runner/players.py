"""Who plays an episode: language models shared by all episodes, scripted and replayed ones made for each."""

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from types import TracebackType

from graphwalk.errors import ConfigError
from graphwalk.models.calls.budget import Budget
from graphwalk.models.calls.cache import ReplyCache
from graphwalk.models.calls.stack import build_model, episode_model
from graphwalk.models.model import Model
from graphwalk.models.players.replay import ReplayModel
from graphwalk.models.players.scripted import ScriptedModel
from graphwalk.runlog.result import EpisodeKey
from graphwalk.runlog.run_folder import RunFolder
from graphwalk.runner.plan import PlannedEpisode
from graphwalk.runner.recorded import ReplayKey, recorded_episodes
from graphwalk.runner.resolve import Experiment, per_episode
from graphwalk.seeds import seed_for
from graphwalk.types.episode import Trajectory


class Players:
    """All models of a run. Use as a context, so that connections are given back."""

    def __init__(self, experiment: Experiment, folder: RunFolder) -> None:
        self.experiment = experiment
        config = experiment.config
        self.budget = Budget(config.limits.budget_tokens, config.limits.budget_usd)
        self._cache = ReplyCache(folder.replies_path, experiment.environment)
        asked = {*experiment.models, *([experiment.extractor] if experiment.extractor else [])}
        self._shared: dict[str, Model] = {spec: self._build(spec) for spec in asked if not per_episode(spec)}
        self._recorded = {spec: recorded_episodes(spec) for spec in experiment.models if spec.startswith("replay/")}

    async def __aenter__(self) -> "Players":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for model in self._shared.values():
            await model.close()
        self._cache.close()

    @asynccontextmanager
    async def seat(self, planned: PlannedEpisode) -> AsyncIterator[tuple[Model, Model | None]]:
        """The player of an episode, and the extractor if there is one."""
        player = await self._player(planned)
        extractor = self.experiment.extractor
        try:
            yield player, None if extractor is None else self._remembered(extractor, planned.key, "extractor")
        finally:
            if per_episode(planned.key.model):
                await player.close()

    def caveats(self) -> Iterator[str]:
        """What a person should know about budgets and the reply cache."""
        budget = self.budget
        if budget.tokens is not None and budget.used.input_tokens is None and len(self._cache) > 0:
            yield "a provider reports no tokens, so that the token budget could not be kept"
        if budget.usd is not None and budget.unpriced:
            yield f"{budget.unpriced} replies have no known cost, so that the budget in dollars could not be kept"
        if self._cache.damaged:
            yield f"{self._cache.damaged} lines of replies.jsonl were damaged; their calls are made again"

    async def _player(self, planned: PlannedEpisode) -> Model:
        spec = planned.key.model
        if spec in self._recorded:
            return _replay(spec, self._recorded[spec], planned.key)
        if not spec.startswith("scripted/"):
            return self._remembered(spec, planned.key, "player")
        store = planned.world.store
        schema = None if store is None else await store.schema()
        seed = seed_for(self.experiment.config.seed, "player", planned.key.text)
        name = spec.partition("/")[2]
        return ScriptedModel(spec, self.experiment.suite.player(name, planned.task, planned.key.setting, schema, seed))

    def _build(self, spec: str) -> Model:
        config = self.experiment.config
        price = config.prices.get(spec)
        return build_model(
            spec, self.experiment.environment, config.limits, config.agent, price=price, seed=config.seed
        )

    def _remembered(self, spec: str, key: EpisodeKey, role: str) -> Model:
        episode_key = f"{key.text}\x1f{role}"
        return episode_model(self._shared[spec], cache=self._cache, episode_key=episode_key, budget=self.budget)


def _replay(spec: str, recorded: Mapping[ReplayKey, Trajectory], key: EpisodeKey) -> ReplayModel:
    found = recorded.get((key.task_id, key.setting, key.repeat))
    if found is None:
        raise ConfigError(f"{spec} has no episode of task {key.task_id} in setting {key.setting}, repeat {key.repeat}")
    return ReplayModel(spec, found)
