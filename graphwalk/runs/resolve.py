"""Resolve an experiment: look up all that it names, and report errors before the first call."""

import asyncio
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from graphwalk.config.agent import AgentConfig
from graphwalk.config.strict import is_path
from graphwalk.errors import ConfigError, did_you_mean
from graphwalk.models.chat import CallOptions, Model
from graphwalk.models.prices import STATED, KnownPrice, published_price
from graphwalk.models.registry import check_name, context_tokens, open_model
from graphwalk.runs.experiment import AnyExperiment, load_experiment
from graphwalk.runs.folder import RunFolder
from graphwalk.runs.task_levers import check_levers
from graphwalk.stores.base import STORES
from graphwalk.suites.setting import Setting
from graphwalk.suites.suite import Suite, suite_named
from graphwalk.tools.tool import Tool, load_tools
from graphwalk.variables import MODEL_VARIABLE, Variables


@dataclass(frozen=True)
class Experiment:
    """A resolved experiment. Default models: the scripted agents of the suite."""

    config: AnyExperiment
    suite: Suite[Any, Any]
    models: tuple[str, ...]
    variables: Variables
    tools: tuple[Tool, ...]
    """Tools of the agent, in settings with tools."""
    prices: Mapping[str, KnownPrice] = field(default_factory=dict)
    """Known prices of models and extractor, by model."""
    opened: Mapping[str, Model] = field(default_factory=dict)
    """Opened models and objects of the caller, by name; none of the models that play single episodes."""
    extractor: str | None = None
    """The model that extracts answers, None without one or without its API key."""
    variants: Mapping[str, "Experiment"] = field(default_factory=dict)
    """The experiment of each variant by name, with its own configuration, options and tools."""

    @property
    def called(self) -> tuple[str, ...]:
        """The models that play, and the extractor."""
        return self.models if self.extractor is None else (*self.models, self.extractor)

    @property
    def agent(self) -> AgentConfig:
        return self.config.agent

    @cached_property
    def options(self) -> CallOptions:
        """The settings of a model call."""
        return CallOptions(**self.config.options.model_dump(), parallel_tool_calls=self.agent.parallel_tool_calls)

    def of(self, setting: Setting) -> "Experiment":
        """Return the experiment as it is played in the variant of a setting. A variant returns itself."""
        return self.variants.get(setting.variant, self)

    def with_variants(self) -> "Experiment":
        """Return the experiment with its variants resolved. Raise ConfigError for a prompt or tool that is wrong."""
        variants = {}
        for config in self.config.variants.values() or (self.config,):
            check_levers(config.agent, self.suite, config.settings)
        for name, config in self.config.variants.items():
            _ = config.agent.texts
            variants[name] = replace(self, config=config, tools=_tools(config.agent, self.suite))
        return replace(self, variants=variants)

    @property
    def settings_played(self) -> list[Setting]:
        """The settings, each with every variant."""
        variants = list(self.config.variants) or [""]
        played = []
        for setting in self.config.settings:
            played += [Setting(setting, variant) for variant in variants]
        return played


def resolve(
    config: AnyExperiment,
    variables: Variables,
    *,
    keys: bool = True,
    objects: Mapping[str, Model] | None = None,
    prices: Mapping[str, KnownPrice] | None = None,
) -> Experiment:
    """Look up all that an experiment names, and open its models. Raise ConfigError for anything missing.

    Without `keys` no model is opened, and no API key is needed. `objects`: name → model object of the caller. `prices`:
    those of a run that is resumed; None: look them up. A model connects to its server with the first call; `RunModels`
    closes it.
    """
    # Only in free fields: the key of a local server may be equal to the name of its model.
    free_fields = json.dumps([config.options.extra, *config.model_arguments.values()], default=str)
    if variable := variables.secrets.variable_in(free_fields):
        raise ConfigError(f"the experiment is logged and contains the value of {variable}", hint="remove it")
    variables = variables.serving(config.servers)
    suite = suite_named(config.suite.name)
    if config.scoring.text == "folded" and suite.name != "own_questions":
        raise ConfigError(f"scoring.text: the suite {suite.name} compares no texts", hint="leave the field out")
    tools = _tools(config.agent, suite)
    _ = config.agent.texts  # raises for a wrong prompt
    STORES.origin(config.store)
    default_model = variables.get(MODEL_VARIABLE)
    scripted = [f"scripted/{name}" for name, player in suite.players.items() if player.default]
    models = config.models or ((default_model,) if default_model else tuple(scripted))
    if halves := [name for name in config.model_arguments for model in models if model.startswith(f"{name}.")]:
        raise ConfigError(
            f"model_arguments: {halves[0]} is a part of a model's name: a dot begins a field",
            hint="-o 'model_arguments={PROVIDER/MODEL: {NAME: VALUE}}'",
        )
    opened = dict(objects or {})
    if not models:
        raise ConfigError(f"no model is named, and the suite {suite.name} has no scripted agents", hint="--model …")
    extractor = None if config.extractor is None else config.extractor.model
    for spec in (*models, *([] if extractor is None else [extractor])):
        if spec in opened:
            continue
        check_name(spec)
        if per_episode(spec):
            _check_scripted(spec, suite, config.model_arguments.get(spec))
        if per_episode(spec) or not keys:
            continue
        try:
            opened[spec] = open_model(spec, variables, config.model_arguments.get(spec))
        except ConfigError:
            if spec in models or config.extractor is None or config.extractor.required:
                raise
            extractor = None
    called = models if extractor is None else (*models, extractor)
    language_models = [spec for spec in called if not per_episode(spec)]
    if prices is None:
        stated = {spec: KnownPrice(price=price, source=STATED) for spec, price in config.prices.items()}
        by_model = {spec: stated.get(spec) or published_price(spec, variables) for spec in language_models}
        prices = {spec: price for spec, price in by_model.items() if price is not None}
    for spec in language_models:
        if config.limits.budget_usd is not None and spec not in prices:
            raise ConfigError(
                f"--budget-usd needs the price of {spec}, which is not known",
                hint=f"-o 'prices={{{spec}: {{input: 0.4, output: 1.6}}}}'   (US dollars per million tokens)",
            )
    experiment = Experiment(
        config=config,
        suite=suite,
        models=models,
        variables=variables,
        tools=tools,
        prices=prices,
        opened=opened,
        extractor=extractor,
    )
    if not any(can_play(suite, model, setting) for model in models for setting in config.settings):
        raise no_episode(experiment)
    return experiment.with_variants()


async def context_windows(experiment: Experiment) -> dict[str, int]:
    """Return model → tokens of its context window, of the models whose servers report it."""
    arguments, variables = experiment.config.model_arguments, experiment.variables
    # An object of the caller may be connected to another server than its name.
    models = [model for model in experiment.models if not getattr(experiment.opened.get(model), "lent", False)]
    windows = await asyncio.gather(*(context_tokens(model, variables, arguments.get(model)) for model in models))
    return {model: tokens for model, tokens in zip(models, windows, strict=True) if tokens is not None}


def _tools(agent: AgentConfig, suite: Suite[Any, Any]) -> tuple[Tool, ...]:
    if agent.tools is not None and not suite.tools:
        raise ConfigError(f"agent.tools: the suite {suite.name} plays without tools", hint="leave the field out")
    if agent.tools is None:
        return load_tools(suite.tools)
    try:
        return load_tools(agent.tools)
    except ConfigError as error:
        raise ConfigError(f"agent.tools: {error.message}", hint=error.hint) from error


def per_episode(spec: str) -> bool:
    """Return True for scripted agents: each plays one episode and costs nothing."""
    return spec.startswith("scripted/")


def can_play(suite: Suite[Any, Any], model: str, setting: str, task: Any = None) -> bool:
    """Return True if a model can play a task in a setting; only scripted agents are limited."""
    provider, _, name = model.partition("/")
    if provider != "scripted":
        return True
    player = suite.players.get(name)
    return player is not None and setting in player.settings and not (task and player.why_not(task))


def no_episode(experiment: Experiment, reasons: Iterable[str] = ()) -> ConfigError:
    """Return the error for an experiment without an episode; `reasons` are one line each."""
    config, suite, models = experiment.config, experiment.suite, experiment.models
    settings = ", ".join(config.settings)
    playable = [s for s in suite.settings if any(can_play(suite, model, s) for model in models)]
    if set(playable) & set(config.settings):
        cause = "\n".join([f"{config.name} has no episode: no task can be played in {settings}", *reasons])
        return ConfigError(cause, hint="choose other models, settings or questions")
    own = f", or a setting that they can play: --setting {playable[0]}" if playable else ""
    return ConfigError(
        f"{config.name} has no episode: {', '.join(models)} cannot play {settings}",
        hint=f"name a language model: --model openai/gpt-4.1-mini{own}",
    )


def _check_scripted(spec: str, suite: Suite[Any, Any], arguments: Mapping[str, Any] | None) -> None:
    """Raise ConfigError for an unknown scripted agent, and for arguments of one."""
    name = spec.partition("/")[2]
    if arguments:
        raise ConfigError(
            f"{spec} takes no arguments: {', '.join(arguments)}", hint="model_arguments are for language models"
        )
    if name not in suite.players:
        names = ", ".join(suite.players) or "the suite has none"
        close = did_you_mean(name, suite.players)
        raise ConfigError(f"there is no {spec}{close}", hint=f"scripted agents of the suite {suite.name}: {names}")


def logged_experiment(folder: RunFolder, variables: Variables, store: str | None = None) -> Experiment:
    """Return the experiment of a run, with the texts in its folder, for verification; models are not looked up.

    `store`: use another store. Raise ConfigError if this version cannot read the configuration.
    """
    data, texts = folder.read_manifest()["config"], folder.texts_path.resolve()
    prompts = str(texts / "prompts") if (texts / "prompts").is_dir() else data["agent"]["prompts"]
    changed = {
        "suite": _logged_paths(data["suite"], texts),
        "agent": {**_logged_paths(data["agent"], texts), "prompts": prompts},
        "store": store or data["store"],
        "vary": _logged_paths(data["vary"], texts),
    }
    config = load_experiment({**data, **changed}, name=str(folder.manifest_path))
    suite = suite_named(config.suite.name)
    names = [Path(name).stem for name in (suite.tools if config.agent.tools is None else config.agent.tools)]
    paths = {name: texts / "tools" / f"{name}.yaml" for name in names}
    return Experiment(
        config=config,
        suite=suite,
        models=config.models,
        variables=variables,
        tools=load_tools([str(path) if path.is_file() else name for name, path in paths.items()]),
    ).with_variants()


def _logged_paths(value: Any, texts: Path, field: str = "") -> Any:
    """Replace paths, at any depth, by those of the run's texts of the same field and name."""
    if isinstance(value, dict):
        return {name: _logged_paths(item, texts, name.rpartition(".")[2]) for name, item in value.items()}
    if isinstance(value, list):
        return [_logged_paths(item, texts, field) for item in value]
    if not isinstance(value, str) or not is_path(value):
        return value
    path = texts / ("variants" if field == "prompts" else field) / Path(value).name
    return str(path) if path.exists() else value
