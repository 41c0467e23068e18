"""Resolve an experiment: look up all that it names, and report errors before the first call."""

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
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
class ResolvedExperiment:
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
    variants: Mapping[str, "ResolvedExperiment"] = field(default_factory=dict)
    """The experiment of each variant by name, with its own configuration, options and tools."""

    @property
    def called(self) -> tuple[str, ...]:
        """The models that play, and the extractor."""
        return self.models if self.extractor is None else (*self.models, self.extractor)

    @cached_property
    def options(self) -> CallOptions:
        """The settings of a model call."""
        parallel_tool_calls = self.config.agent.parallel_tool_calls
        return CallOptions(**self.config.options.model_dump(), parallel_tool_calls=parallel_tool_calls)

    def of(self, setting: Setting) -> "ResolvedExperiment":
        """Return the experiment as it is played in the variant of a setting. A variant returns itself."""
        return self.variants.get(setting.variant, self)

    def with_variants(self) -> "ResolvedExperiment":
        """Return the experiment with its variants resolved. Raise ConfigError for a prompt or tool that is wrong."""
        played = list(self.config.variants.values()) or [self.config]
        for config in played:
            check_levers(config.agent, self.suite, config.settings)

        variants = {}
        for name, config in self.config.variants.items():
            _ = config.agent.texts  # raises for a wrong prompt
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
) -> ResolvedExperiment:
    """Look up all that an experiment names, and open its models. Raise ConfigError for anything missing.

    Without `keys` no model is opened, and no API key is needed. `objects`: name → model object of the caller. `prices`:
    those of a run that is resumed; None: look them up. A model connects to its server with the first call; `RunModels`
    closes it.
    """
    _check_secrets(config, variables)
    variables = variables.serving(config.servers)
    suite = suite_named(config.suite.name)
    if config.scoring.text == "folded" and suite.name != "own_questions":
        raise ConfigError(f"scoring.text: the suite {suite.name} compares no texts", hint="leave the field out")
    tools = _tools(config.agent, suite)
    _ = config.agent.texts  # raises for a wrong prompt
    STORES.origin(config.store)  # raises for an unknown store

    models = _models_to_play(config, suite, variables)
    opened = dict(objects or {})
    for model in models:
        if model in opened:
            continue
        check_name(model)
        if per_episode(model):
            _check_scripted(model, suite, config.model_arguments.get(model))
        elif keys:
            opened[model] = open_model(model, variables, config.model_arguments.get(model))
    extractor = _open_extractor(config, suite, variables, opened, keys=keys)

    experiment = ResolvedExperiment(
        config=config,
        suite=suite,
        models=models,
        variables=variables,
        tools=tools,
        opened=opened,
        extractor=extractor,
    )
    language_models = [model for model in experiment.called if not per_episode(model)]
    if prices is None:
        prices = _known_prices(config, language_models, variables)
    if config.limits.budget_usd is not None:
        _check_budget(language_models, prices)
    if not _playable(suite, models, config.settings):
        raise no_episode(experiment)
    return replace(experiment, prices=prices).with_variants()


def _check_secrets(config: AnyExperiment, variables: Variables) -> None:
    """Raise ConfigError if a field with free content, which is logged, contains an API key.

    Other fields are not searched: the key of a local server may be equal to the name of its model.
    """
    free_fields = [config.options.extra, *config.model_arguments.values()]
    variable = variables.secrets.variable_in(json.dumps(free_fields, default=str))
    if variable:
        raise ConfigError(f"the experiment is logged and contains the value of {variable}", hint="remove it")


def _models_to_play(config: AnyExperiment, suite: Suite[Any, Any], variables: Variables) -> tuple[str, ...]:
    """Return the models of the experiment, else the default one, else the scripted agents of the suite."""
    default_model = variables.get(MODEL_VARIABLE)
    if config.models:
        models = config.models
    elif default_model:
        models = (default_model,)
    else:
        models = tuple(f"scripted/{name}" for name, player in suite.scripted_agents.items() if player.default)

    # -o model_arguments.openai/gpt-4.1.x=1 is an argument of openai/gpt-4.
    for name in config.model_arguments:
        if any(model.startswith(f"{name}.") for model in models):
            raise ConfigError(
                f"model_arguments: {name} is a part of a model's name: a dot begins a field",
                hint="-o 'model_arguments={PROVIDER/MODEL: {NAME: VALUE}}'",
            )
    if not models:
        raise ConfigError(f"no model is named, and the suite {suite.name} has no scripted agents", hint="--model …")
    return models


def _open_extractor(
    config: AnyExperiment, suite: Suite[Any, Any], variables: Variables, opened: dict[str, Model], *, keys: bool
) -> str | None:
    """Open the model that extracts answers, and return its name; None without one, or if it may lack its key."""
    if config.extractor is None:
        return None
    extractor = config.extractor.model
    if extractor in opened:
        return extractor
    arguments = config.model_arguments.get(extractor)
    check_name(extractor)
    if per_episode(extractor):
        _check_scripted(extractor, suite, arguments)
        return extractor
    if not keys:
        return extractor
    try:
        opened[extractor] = open_model(extractor, variables, arguments)
    except ConfigError:
        if config.extractor.required:
            raise
        return None
    return extractor


def _known_prices(config: AnyExperiment, models: Iterable[str], variables: Variables) -> dict[str, KnownPrice]:
    """Return the price of each model that the experiment states, or else that is published."""
    prices = {}
    for model in models:
        if model in config.prices:
            prices[model] = KnownPrice(price=config.prices[model], source=STATED)
            continue
        published = published_price(model, variables)
        if published is not None:
            prices[model] = published
    return prices


def _check_budget(models: Iterable[str], prices: Mapping[str, KnownPrice]) -> None:
    """Raise ConfigError if the price of a model, which a budget in dollars needs, is not known."""
    for model in models:
        if model not in prices:
            raise ConfigError(
                f"--budget-usd needs the price of {model}, which is not known",
                hint=f"-o 'prices={{{model}: {{input: 0.4, output: 1.6}}}}'   (US dollars per million tokens)",
            )


async def context_windows(experiment: ResolvedExperiment) -> dict[str, int]:
    """Return model → tokens of its context window, of the models whose servers report it."""
    arguments = experiment.config.model_arguments
    opened = experiment.opened
    questions = {}
    for model in experiment.models:
        # An object of the caller may be connected to another server than its name.
        if not getattr(opened.get(model), "lent", False):
            questions[model] = context_tokens(model, experiment.variables, arguments.get(model), opened.get(model))

    answers = await asyncio.gather(*questions.values())
    return {model: tokens for model, tokens in zip(questions, answers, strict=True) if tokens is not None}


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
    player = suite.scripted_agents.get(name)
    if player is None or setting not in player.settings:
        return False
    return not task or not player.why_not(task)


def _playable(suite: Suite[Any, Any], models: Sequence[str], settings: Iterable[str]) -> list[str]:
    """Return those of the settings that at least one of the models can play."""
    playable = []
    for setting in settings:
        if any(can_play(suite, model, setting) for model in models):
            playable.append(setting)
    return playable


def no_episode(experiment: ResolvedExperiment, reasons: Iterable[str] = ()) -> ConfigError:
    """Return the error for an experiment without an episode; `reasons` are one line each."""
    config = experiment.config
    suite = experiment.suite
    models = experiment.models
    settings = ", ".join(config.settings)

    playable = _playable(suite, models, suite.settings)
    if set(playable) & set(config.settings):
        lines = [f"{config.name} has no episode: no task can be played in {settings}", *reasons]
        return ConfigError("\n".join(lines), hint="choose other models, settings or questions")

    hint = "name a language model: --model openai/gpt-4.1-mini"
    if playable:
        hint += f", or a setting that they can play: --setting {playable[0]}"
    return ConfigError(f"{config.name} has no episode: {', '.join(models)} cannot play {settings}", hint=hint)


def _check_scripted(spec: str, suite: Suite[Any, Any], arguments: Mapping[str, Any] | None) -> None:
    """Raise ConfigError for an unknown scripted agent, and for arguments of one."""
    name = spec.partition("/")[2]
    if arguments:
        raise ConfigError(
            f"{spec} takes no arguments: {', '.join(arguments)}", hint="model_arguments are for language models"
        )
    if name not in suite.scripted_agents:
        names = ", ".join(suite.scripted_agents) or "the suite has none"
        close = did_you_mean(name, suite.scripted_agents)
        raise ConfigError(f"there is no {spec}{close}", hint=f"scripted agents of the suite {suite.name}: {names}")


def logged_experiment(folder: RunFolder, variables: Variables, store: str | None = None) -> ResolvedExperiment:
    """Return the experiment of a run, with the texts in its folder, for verification; models are not looked up.

    `store`: use another store. Raise ConfigError if this version cannot read the configuration.
    """
    data = folder.read_manifest()["config"]
    texts = folder.texts_path.resolve()

    agent = _logged_paths(data["agent"], texts)
    prompts = texts / "prompts"
    agent["prompts"] = str(prompts) if prompts.is_dir() else data["agent"]["prompts"]
    logged = {
        **data,
        "suite": _logged_paths(data["suite"], texts),
        "agent": agent,
        "store": store or data["store"],
        "vary": _logged_paths(data["vary"], texts),
    }
    config = load_experiment(logged, name=str(folder.manifest_path))
    suite = suite_named(config.suite.name)

    tools = []
    for name in suite.tools if config.agent.tools is None else config.agent.tools:
        tool = Path(name).stem
        path = texts / "tools" / f"{tool}.yaml"
        tools.append(str(path) if path.is_file() else tool)
    return ResolvedExperiment(
        config=config,
        suite=suite,
        models=config.models,
        variables=variables,
        tools=load_tools(tools),
    ).with_variants()


def _logged_paths(value: Any, texts: Path, field: str = "") -> Any:
    """Replace paths, at any depth, by those of the run's texts of the same field and name."""
    if isinstance(value, dict):
        replaced = {}
        for name, item in value.items():
            # Of "agent.tools", as `vary` names fields, the last part.
            replaced[name] = _logged_paths(item, texts, name.rpartition(".")[2])
        return replaced
    if isinstance(value, list):
        return [_logged_paths(item, texts, field) for item in value]
    if not isinstance(value, str) or not is_path(value):
        return value
    folder = "variants" if field == "prompts" else field
    path = texts / folder / Path(value).name
    return str(path) if path.exists() else value
