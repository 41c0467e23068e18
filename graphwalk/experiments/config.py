"""The configuration of an experiment: a YAML file, overrides from the command line, defaults from here."""

from typing import Any, Generic, TypeVar

import yaml
from pydantic import Field, PositiveInt, ValidationInfo, field_validator, model_validator

from graphwalk.config.agent import AgentConfig
from graphwalk.config.calls import Limits, ModelOptions, Price
from graphwalk.config.foreign import foreign_agent
from graphwalk.config.strict import Strict, SuiteConfig
from graphwalk.errors import ConfigError
from graphwalk.suites.registry import SUITES, suite_class

C = TypeVar("C", bound=SuiteConfig)


class Extractor(Strict):
    """A model that reads what stage 1 cannot. Where it is not `required`, a run without its key does without it."""

    model: str
    required: bool = True

    @model_validator(mode="before")
    @classmethod
    def _named(cls, data: Any) -> Any:
        return {"model": data} if isinstance(data, str) else data


class ExperimentConfig(Strict, Generic[C]):
    """One experiment: suite × models × settings × repeats. C is the configuration class of the suite."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")
    description: str = ""
    suite: C
    models: tuple[str, ...] = ()
    """`provider/model`; none: the scripted ones."""
    settings: tuple[str, ...] = ("tools",)
    repeats: PositiveInt = 1
    limit: PositiveInt | None = None
    """Only the first tasks."""
    seed: int = 0
    store: str = "embedded"
    """Where graphs are kept: "embedded", "neo4j", or a store of another package."""
    keep: bool = False
    """Leave the graphs in Neo4j when the run is done."""
    agent: AgentConfig = Field(default=AgentConfig(), validate_default=True)
    options: ModelOptions = ModelOptions()
    limits: Limits = Limits()
    prices: dict[str, Price] = Field(default_factory=dict)
    extractor: Extractor | None = None
    """The model of stage 2; its name alone, or with `required`."""
    reference: str | None = None
    """The paper's table to set beside ours: "table_1_mazes", "table_2_questions", …"""

    @field_validator("agent")
    @classmethod
    def _as_the_suite_says(cls, agent: AgentConfig, info: ValidationInfo) -> AgentConfig:
        """Turns, and the limits on foreign graphs: so that a run records them, and a resumed one has them still."""
        suite = info.data.get("suite")
        if suite is not None and suite.foreign:
            agent = foreign_agent(agent)
        if agent.turn_limit is not None or suite is None:
            return agent
        return agent.model_copy(update={"turn_limit": suite_class(suite.name).turn_limit})

    def as_yaml(self) -> str:
        """The experiment with all its fields, as a file that can be run."""
        return yaml.safe_dump(self.model_dump(mode="json"), sort_keys=False, allow_unicode=True)


AnyExperiment = ExperimentConfig[Any]


def experiment_type(data: Any) -> type[AnyExperiment]:
    """The class of an experiment with the suite that `data` names. ConfigError where it names none that there is."""
    suite = data.get("suite") if isinstance(data, dict) else None
    name = suite.get("name") if isinstance(suite, dict) else None
    if not isinstance(name, str):
        raise ConfigError("suite: name: a suite must be named", hint=f"suites: {', '.join(SUITES.names())}")
    config_type: Any = suite_class(name).config_type
    return ExperimentConfig[config_type]
