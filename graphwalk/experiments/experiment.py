"""The configuration of an experiment."""

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Generic, Self, TypeVar
from urllib.parse import urlsplit

import yaml
from pydantic import (
    AfterValidator,
    Field,
    PositiveInt,
    StringConstraints,
    ValidationInfo,
    field_validator,
    model_validator,
)

from graphwalk.config.agent import AgentConfig, foreign_agent
from graphwalk.config.calls import Limits, ModelOptions, Price
from graphwalk.config.scoring import Scoring
from graphwalk.config.strict import MOST, LoggedSettings, Strict, SuiteConfig
from graphwalk.errors import ConfigError, did_you_mean
from graphwalk.experiments.protocols import DEFAULT_PROTOCOL, protocols
from graphwalk.experiments.variants import checked, combinations, overridden
from graphwalk.suites.registry import SUITES, suite_class, suite_named
from graphwalk.variables import server_variable

C = TypeVar("C", bound=SuiteConfig)


class Extractor(Strict):
    """A model that extracts answers that the parser cannot read."""

    model: str = Field(min_length=1)
    """`provider/model`."""
    required: bool = True
    """Refuse to run without its API key; else run without the extractor."""

    @model_validator(mode="before")
    @classmethod
    def _named(cls, data: Any) -> Any:
        return {"model": data} if isinstance(data, str) else data


class ExperimentConfig(Strict, Generic[C]):
    """One experiment: suite × models × settings × repeats. C is the configuration class of the suite."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")
    """Name of the experiment, and part of the names of run folders."""
    description: str = ""
    """Description in the list of experiments."""
    protocol: str = Field(
        default=DEFAULT_PROTOCOL, json_schema_extra=lambda schema: schema.update(enum=list(protocols()))
    )
    """Protocol: graphwalk, or paper for the settings of the papers where the experiment leaves them open."""
    suite: C
    models: tuple[str, ...] = ()
    """Models as `provider/model`; none: the scripted agents."""
    names: dict[str, Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]] = Field(
        default_factory=dict
    )
    """Names of models in reports, by model."""
    model_arguments: dict[str, LoggedSettings] = Field(default_factory=dict)
    """Extra keyword arguments for the model's constructor, by model."""
    servers: dict[str, str] = Field(default_factory=dict)
    """Base URLs by server: `openai`, or NAME of `openai-api/NAME/MODEL`; others come from NAME_BASE_URL."""
    settings: tuple[str, ...] = ("tools",)
    """Settings: tools, no_tools, write_cypher; for MAGMA its strategies."""
    repeats: int = Field(default=1, ge=1, le=MOST)
    """Episodes per task, model and setting."""
    limit: PositiveInt | None = None
    """Number of tasks; only the first ones are used."""
    seed: int = 0
    """Random seed."""
    store: str = "embedded"
    """Graph store: "embedded", "neo4j", or a store of another package."""
    agent: AgentConfig = Field(default=AgentConfig(), validate_default=True)
    options: ModelOptions = ModelOptions()
    limits: Limits = Limits()
    prices: dict[str, Price] = Field(default_factory=dict)
    """Prices by model, in US dollars per million tokens; they replace the published ones."""
    extractor: Extractor | None = None
    """Model for answers that the parser cannot read; its name alone, or with `required`."""
    scoring: Scoring = Scoring()
    reference: str | None = Field(default=None, min_length=1)
    """Published table shown in the report for comparison: "table_1_mazes", "table_2_questions", …"""
    vary: Annotated[dict[str, tuple[Any, ...]], AfterValidator(checked)] = Field(default_factory=dict)
    """Fields to vary, with their values: `agent.compaction: [none, window]`. Each combination is a variant of the run,
    played on the same tasks."""

    @field_validator("names")
    @classmethod
    def _distinct(cls, names: dict[str, str], info: ValidationInfo) -> dict[str, str]:
        shown = [names.get(model, model) for model in info.data.get("models", ())]
        if twice := [name for name in shown if shown.count(name) > 1]:
            raise ValueError(f"two models have the name {twice[0]!r}")
        return names

    @field_validator("protocol")
    @classmethod
    def _is_known(cls, protocol: str) -> str:
        if protocol not in protocols():
            raise ValueError(f"there is no protocol {protocol!r}; known: {', '.join(protocols())}")
        return protocol

    @field_validator("servers")
    @classmethod
    def _addresses_without_secrets(cls, servers: dict[str, str]) -> dict[str, str]:
        for name, url in servers.items():
            parts = urlsplit(url)
            if "@" in parts.netloc or parts.query or parts.fragment:
                raise ValueError(
                    f"{name}: an address is logged, and must have no user, query or fragment; set the key as "
                    f"{server_variable(name)}_API_KEY, or the whole address as {server_variable(name)}_BASE_URL"
                )
            if parts.scheme not in ("http", "https") or not parts.hostname:
                raise ValueError(f"{name}: {url!r} is not the address of a server; write it as https://host/v1")
        return servers

    @field_validator("models", "settings")
    @classmethod
    def _each_once(cls, names: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        """Refuse duplicates: their episodes would be paid for twice and counted once."""
        if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
            raise ValueError(f"{', '.join(twice)} is named twice; for more episodes of a task use repeats")
        return names

    @field_validator("settings")
    @classmethod
    def _of_the_suite(cls, names: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        if not names:
            raise ValueError("needs at least one setting")
        if "suite" not in info.data:
            return names
        suite = suite_named(info.data["suite"].name)
        words = suite.abbreviations
        names_in_words = ", ".join(f"{name} ({words[name]})" if name in words else name for name in suite.settings)
        for name in names:
            if name not in suite.settings:
                close = did_you_mean(name, suite.settings) or ";"
                raise ValueError(f"suite {suite.name} has no setting {name!r}{close} settings: {names_in_words}")
        return names

    @field_validator("agent")
    @classmethod
    def _as_the_suite_says(cls, agent: AgentConfig, info: ValidationInfo) -> AgentConfig:
        """Fill in the suite's turn limit and the limits on foreign graphs, so that a run records them."""
        suite = info.data.get("suite")
        if suite is not None and suite.foreign:
            agent = foreign_agent(agent)
        if agent.turn_limit is not None or suite is None:
            return agent
        return agent.model_copy(update={"turn_limit": suite_class(suite.name).turn_limit})

    @cached_property
    def variants(self) -> Mapping[str, Self]:
        """The experiment of each variant by name; empty without `vary`."""
        return {name: self._variant(overrides) for name, overrides in combinations(self.vary)} if self.vary else {}

    def _variant(self, overrides: Mapping[str, Any]) -> Self:
        by_part: dict[str, dict[str, Any]] = {}
        for field, value in overrides.items():
            part, _, name = field.partition(".")
            by_part.setdefault(part, {})[name] = value
        parts = {part: overridden(getattr(self, part), values) for part, values in by_part.items()}
        return self.model_copy(update={**parts, "vary": {}})

    def as_yaml(self) -> str:
        """Return the experiment with all fields as YAML that can be run."""
        return yaml.safe_dump(self.model_dump(mode="json"), sort_keys=False, allow_unicode=True)


AnyExperiment = ExperimentConfig[Any]


def experiment_type(data: Any) -> type[AnyExperiment]:
    """Return the class of experiments of the suite that `data` names. Raise ConfigError if there is no such suite."""
    suite = data.get("suite") if isinstance(data, dict) else None
    name = suite.get("name") if isinstance(suite, dict) else None
    if not isinstance(name, str):
        raise ConfigError("suite: name: a suite must be named", hint=f"suites: {', '.join(SUITES.names())}")
    config_type: Any = suite_class(name).config_type
    return ExperimentConfig[config_type]
