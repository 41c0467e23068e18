"""How an agent walks a graph that nobody made for it: large, with long values, and read a page at a time."""

from collections.abc import Mapping
from typing import Any

from graphwalk.config.agent import AgentConfig

FOREIGN: Mapping[str, Any] = {
    "result_budget": 50,
    "result_tokens": 4000,
    "fetched_rows": 1000,
    "value_characters": 400,
    "call_seconds": 10.0,
    "schema_tokens": 4000,
    "schema_samples": 3,
}
"""What holds where the user says nothing else."""


def foreign_agent(agent: AgentConfig | None = None) -> AgentConfig:
    """The agent with the limits of `FOREIGN`, except where the user set a field, be it to None."""
    agent = agent or AgentConfig()
    return agent.model_copy(
        update={name: value for name, value in FOREIGN.items() if name not in agent.model_fields_set}
    )
