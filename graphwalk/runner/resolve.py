"""An experiment with everything that it names looked up: the one thing that planning, playing and reporting are handed.

What can be known to be wrong before the first call is found here.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from graphwalk.config.agent import AgentConfig
from graphwalk.environment import Environment
from graphwalk.errors import ConfigError
from graphwalk.experiments.config import AnyExperiment
from graphwalk.models.base import Model
from graphwalk.models.prices import KnownPrice, own_price, published_price
from graphwalk.models.registry import EPISODE_PROVIDERS, check_name, open_model
from graphwalk.redaction import LOOKS_LIKE_KEYS
from graphwalk.report.declared import Reference, SuiteReport
from graphwalk.runner.recorded import recorded_episodes
from graphwalk.stores.registry import STORES
from graphwalk.suites.registry import suite_named
from graphwalk.suites.suite import Suite
from graphwalk.toolbox.tool import Tool, load_tools
from graphwalk.types.chat import CallOptions


@dataclass(frozen=True)
class Experiment:
    """What is run: configuration, suite, players, report. `models` are those of the user, or the suite's players."""

    config: AnyExperiment
    suite: Suite[Any, Any]
    models: tuple[str, ...]
    options: CallOptions
    report: SuiteReport
    reference: Reference | None
    environment: Environment
    tools: tuple[Tool, ...]
    """Those that the agent is offered where a setting has tools."""
    prices: Mapping[str, KnownPrice] = field(default_factory=dict)
    """Of the models, the extractor among them, whose price is known."""
    given: Mapping[str, Model] = field(default_factory=dict)
    """Models that the caller has made, by the names under which `models` lists them."""
    extractor: str | None = None
    """The model of stage 2, None where there is none or it cannot be had."""

    @property
    def asked(self) -> tuple[str, ...]:
        """The models that play, and the one that reads answers."""
        return self.models if self.extractor is None else (*self.models, self.extractor)

    @property
    def without_stage_2(self) -> str | None:
        """What to say where the experiment names an extractor, and goes on without it."""
        named = self.config.extractor
        if named is None or self.extractor is not None:
            return None
        return f"no key for {named.model}: replies that stage 1 cannot read whole are scored as they were read"

    @property
    def agent(self) -> AgentConfig:
        return self.config.agent


def resolve(
    config: AnyExperiment,
    environment: Environment,
    *,
    keys: bool = True,
    person: bool = False,
    given: Mapping[str, Model] | None = None,
    prices: Mapping[str, KnownPrice] | None = None,
) -> Experiment:
    """Look up what an experiment names. ConfigError for everything that is not there; with `keys`, for missing keys.

    `person`: somebody sits there and can play. Models in `given` are there already, by name. `prices` are those that
    the run began with; None: they are looked up.
    """
    _refuse_secrets(config, environment)
    environment = environment.serving(config.servers)
    suite = suite_named(config.suite.name)
    report = suite.report()
    own = (environment.model,) if environment.model else tuple(f"scripted/{name}" for name in suite.default_players)
    models = config.models or own
    extractor = _extractor(config, environment, keys)
    asked = models if extractor is None else (*models, extractor)
    experiment = Experiment(
        config=config,
        suite=suite,
        models=models,
        options=CallOptions(**config.options.model_dump(), parallel_tool_calls=config.agent.parallel_tool_calls),
        report=report,
        reference=report.reference(config.reference) if config.reference else None,
        environment=environment,
        tools=_tools(config.agent, suite),
        prices=_prices(config, asked, environment) if prices is None else prices,
        given=given or {},
        extractor=extractor,
    )
    _ = config.agent.texts  # a wrong prompt is found now
    STORES.origin(config.store)
    _check_models(experiment, keys, person)
    _check_settings(experiment)
    return experiment


def _refuse_secrets(config: AnyExperiment, environment: Environment) -> None:
    """Raise ConfigError where an experiment holds a secret: all of it is logged."""
    text = config.model_dump_json()
    found = [what for what, pattern in LOOKS_LIKE_KEYS.items() if pattern.search(text)]
    # Elsewhere names are written: a key for a local server may be that of its model.
    settings = json.dumps([config.options.extra, *config.model_arguments.values()], default=str)
    if environment.redact_said(settings) is not settings:
        found.append(f"the value of {environment.secret_in(settings)}")
    if found:
        raise ConfigError(
            f"the experiment is logged, and holds {found[0]}", hint="take it out, and set it in the environment alone"
        )


def per_episode(spec: str) -> bool:
    """True for models that play one episode and cost nothing: nothing of theirs is shared or kept."""
    return spec.partition("/")[0] in EPISODE_PROVIDERS


def can_play(suite: Suite[Any, Any], model: str, setting: str, task: Any = None) -> bool:
    """Scripted models are made for some settings and tasks; a language model can try anything."""
    provider, _, player = model.partition("/")
    return provider != "scripted" or suite.can_play(player.partition(":")[0], setting, task)


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


def _prices(config: AnyExperiment, asked: tuple[str, ...], environment: Environment) -> dict[str, KnownPrice]:
    """What the user says comes first. Models that cost nothing have no price."""
    found: dict[str, KnownPrice] = {}
    for spec in asked:
        own = config.prices.get(spec)
        price = own_price(own) if own is not None else published_price(spec, environment)
        if price is not None and not per_episode(spec):
            found[spec] = price
    return found


def _tools(agent: AgentConfig, suite: Suite[Any, Any]) -> tuple[Tool, ...]:
    if agent.tools is not None and not suite.tools:
        raise ConfigError(f"agent.tools: the suite {suite.name} plays without tools", hint="leave the field out")
    return load_tools(suite.tools if agent.tools is None else agent.tools)


def _extractor(config: AnyExperiment, environment: Environment, keys: bool) -> str | None:
    named = config.extractor
    if named is None:
        return None
    check_name(named.model)
    if keys and not named.required and not per_episode(named.model):
        try:
            open_model(named.model, environment, config.model_arguments.get(named.model))
        except ConfigError:
            return None
    return named.model


def _check_models(experiment: Experiment, keys: bool, person: bool) -> None:
    config, suite = experiment.config, experiment.suite
    if not experiment.models:
        raise ConfigError(f"no model is named, and the suite {suite.name} has no players of its own", hint="--model …")
    for spec in experiment.asked:
        provider, _, name = spec.partition("/")
        if spec not in experiment.given:
            check_name(spec)
        if per_episode(spec) and (given := config.model_arguments.get(spec)):
            raise ConfigError(f"{spec} takes no arguments: {', '.join(given)}", hint="-M is for models that are opened")
        if provider == "scripted" and name not in suite.players:
            known = ", ".join(suite.players) or "the suite has none"
            raise ConfigError(f"there is no {spec}", hint=f"scripted players: {known}")
        if provider == "human" and not person:
            raise ConfigError(f"{spec} plays single episodes", hint=f"graphwalk play {config.suite.name}")
        if provider == "replay":
            recorded_episodes(spec)
        elif not per_episode(spec) and spec not in experiment.given and keys:
            open_model(spec, experiment.environment, config.model_arguments.get(spec))
        if config.limits.budget_usd is not None and not per_episode(spec) and spec not in experiment.prices:
            raise ConfigError(
                f"--budget-usd needs the price of {spec}, which is not known",
                hint=f"-o 'prices={{{spec}: {{input: 0.4, output: 1.6}}}}'   (US dollars per million tokens)",
            )


def _check_settings(experiment: Experiment) -> None:
    config, suite = experiment.config, experiment.suite
    for setting in config.settings:
        if setting not in suite.settings:
            words = suite.abbreviations
            known = ", ".join(f"{name} ({words[name]})" if name in words else name for name in suite.settings)
            raise ConfigError(f"suite {suite.name} has no setting {setting!r}", hint=f"settings: {known}")
    if not any(can_play(suite, model, setting) for model in experiment.models for setting in config.settings):
        raise no_episode(experiment)
