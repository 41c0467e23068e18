"""Who plays an episode: language models shared by all episodes, scripted and replayed ones made for each."""

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

from graphwalk.config.experiment import ExperimentConfig
from graphwalk.errors import ConfigError
from graphwalk.models.budget import Budget
from graphwalk.models.cache import ReplyCache
from graphwalk.models.model import Model
from graphwalk.models.registry import check_name, open_model
from graphwalk.models.replay import ReplayModel
from graphwalk.models.scripted import ScriptedModel
from graphwalk.models.stack import build_model, episode_model
from graphwalk.runlog.result import EpisodeKey
from graphwalk.runlog.run_folder import RunFolder
from graphwalk.runner.plan import PlannedEpisode
from graphwalk.seeds import seed_for
from graphwalk.settings import Settings
from graphwalk.suites.suite import Suite
from graphwalk.types.episode import Trajectory
from graphwalk.types.wire import trajectory_from_dict

ReplayKey = tuple[str, str, int]
"""Task, setting, repeat: an episode of the one model that is replayed."""


class Players:
    """All models of a run. Use as a context, so that connections are given back."""

    def __init__(
        self,
        config: ExperimentConfig,
        suite: Suite[Any],
        folder: RunFolder,
        settings: Settings,
        models: tuple[str, ...],
    ) -> None:
        self.config, self.suite = config, suite
        self.budget = Budget(config.limits.budget_tokens, config.limits.budget_usd)
        self._cache = ReplyCache(folder.replies_path, settings)
        shared = [
            spec for spec in {*models, *([config.extractor] if config.extractor else [])} if not per_episode(spec)
        ]
        self._shared: dict[str, Model] = {spec: self._build(spec, settings) for spec in shared}
        self._recorded = {spec: _recorded(spec) for spec in models if spec.startswith("replay/")}

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
        extractor = self.config.extractor
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
        seed = seed_for(self.config.seed, "player", planned.key.text)
        name = spec.partition("/")[2]
        return ScriptedModel(spec, self.suite.policy(name, planned.task, planned.key.setting, schema, seed))

    def _build(self, spec: str, settings: Settings) -> Model:
        config = self.config
        price = config.prices.get(spec)
        return build_model(spec, settings, config.limits, config.agent, price=price, seed=config.seed)

    def _remembered(self, spec: str, key: EpisodeKey, role: str) -> Model:
        episode_key = f"{key.text}\x1f{role}"
        return episode_model(self._shared[spec], cache=self._cache, episode_key=episode_key, budget=self.budget)


def per_episode(spec: str) -> bool:
    """True for models that play one episode and cost nothing: nothing of theirs is shared or kept."""
    return spec.partition("/")[0] in ("scripted", "replay")


def check_models(config: ExperimentConfig, suite: Suite[Any], settings: Settings, *, keys: bool = True) -> None:
    """Look at every model, so that a wrong name is known before any work is done; with `keys`, a missing key too."""
    for spec in (*config.models, *([config.extractor] if config.extractor else [])):
        check_name(spec)
        provider, _, name = spec.partition("/")
        if provider == "scripted" and name not in suite.policies:
            raise ConfigError(f"there is no {spec}", hint=f"scripted players: {', '.join(suite.policies)}")
        if provider == "replay":
            _recorded(spec)
        elif provider != "scripted" and keys:
            open_model(spec, settings)
        if config.limits.budget_usd is not None and not per_episode(spec) and spec not in config.prices:
            raise ConfigError(
                f"--budget-usd needs the price of {spec}, which its provider may not report",
                hint=f"-o 'prices={{{spec}: {{input: 0.4, output: 1.6}}}}'   (US dollars per million tokens)",
            )


def _recorded(spec: str) -> Mapping[ReplayKey, Trajectory]:
    """All trajectories of the one model that `replay/RUN` or `replay/RUN:MODEL` names."""
    folder, model = _recorded_run(spec.partition("/")[2])
    models = folder.read_manifest()["config"]["models"]
    if model is None and len(models) == 1:
        (model,) = models
    if model not in models:
        wrong = f"has no model {model}" if model else f"names none of the {len(models)} models of that run"
        raise ConfigError(f"{spec} {wrong}", hint=" | ".join(f"replay/{folder.path}:{known}" for known in models))
    return {
        (record["task_id"], record["setting"], record["repeat"]): trajectory_from_dict(record["trajectory"])
        for record in folder.records()
        if record["model"] == model
    }


def _recorded_run(name: str) -> tuple[RunFolder, str | None]:
    """RUN and MODEL in RUN:MODEL, both of which may hold colons; the shortest RUN that is a folder."""
    parts = name.split(":")
    for number in range(1, len(parts)):
        path, model = Path(":".join(parts[:number])), ":".join(parts[number:])
        if RunFolder(path).manifest_path.exists():
            return RunFolder.open(path), model
    return RunFolder.open(Path(name)), None


def _replay(spec: str, recorded: Mapping[ReplayKey, Trajectory], key: EpisodeKey) -> ReplayModel:
    found = recorded.get((key.task_id, key.setting, key.repeat))
    if found is None:
        raise ConfigError(f"{spec} has no episode of task {key.task_id} in setting {key.setting}, repeat {key.repeat}")
    return ReplayModel(spec, found)
