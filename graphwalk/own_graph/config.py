"""The configuration of an agent over your own graph."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

from graphwalk.config.agent import FOREIGN, AgentConfig, Limits, ModelOptions
from graphwalk.config.resources import data_path
from graphwalk.config.strict import LoggedSettings, Strict, YamlFile, as_typed, set_dotted, validate
from graphwalk.errors import ConfigError
from graphwalk.runs.experiment import parse_override
from graphwalk.tools.graph_toolbox import OWN_GRAPH_TOOLS

DEFAULTS: Mapping[str, Any] = {**FOREIGN, "tools": OWN_GRAPH_TOOLS, "turn_limit": 30}


class AskConfig(Strict):
    """The fields of an experiment that an agent over your own graph has."""

    agent: AgentConfig
    options: ModelOptions = ModelOptions()
    limits: Limits = Limits()
    servers: dict[str, str] = Field(default_factory=dict)
    model_arguments: dict[str, LoggedSettings] = Field(default_factory=dict)


def ask_config(agent: Mapping[str, Any], overrides: Sequence[str] = (), *, small: bool = False) -> AskConfig:
    """Return the configuration with these fields of `agent` and `key=value` overrides.

    `small`: what is not set is that of templates/profiles/small.yaml. Raise ConfigError for a wrong field or value.
    """
    profile = YamlFile.read(data_path("templates") / "profiles" / "small.yaml").data if small else {"agent": {}}
    data = {**profile, "agent": {**DEFAULTS, **profile["agent"], **agent}}
    fields = [parse_override(override) for override in overrides]
    for key, value in fields:
        set_dotted(data, key, as_typed(value), f"-o {key}")
    config = validate(AskConfig, data, "ask", overridden=[key for key, _ in fields])
    for name, default in (("answer", "text"), ("nudges", 0)):
        if getattr(config.agent, name) != default:
            raise ConfigError(f"agent.{name}: an answer in words has no form", hint=f"leave it out, or set {default}")
    if config.agent.tool_choice == "required" and config.agent.tool_protocol != "json":
        raise ConfigError("agent.tool_choice: required needs tool_protocol: json", hint="docs/method.md, Levers")
    return config
