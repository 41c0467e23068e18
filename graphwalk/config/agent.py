"""The agent and its ablation switches."""

from typing import Literal

from pydantic import Field, PositiveInt

from graphwalk.config.strict import Strict


class AgentConfig(Strict):
    """The agent and its ablation switches (spec sections 3 and 4)."""

    turn_limit: PositiveInt = 30
    tool_protocol: Literal["native", "text", "auto"] = "auto"
    parallel_tool_calls: bool = True
    max_calls_per_turn: PositiveInt = 256
    """Calls of one turn beyond this many are refused with a message to the model."""
    call_limit: PositiveInt | None = None
    """Tool calls of one episode; at this number the answer is asked for, as at the turn limit."""
    think: bool = True
    relationship_properties: bool = True
    direction: bool = True
    result_budget: PositiveInt | None = None
    """Rows of one tool result; more come in pages. None: no limit."""
    encoding: Literal["json", "csv", "compact"] = "json"
    """How tool results are written."""
    graph_encoding: Literal["json", "triples", "incidence", "cypher", "graphml"] = "json"
    """How the whole graph is written in the no_tools setting."""
    schema_samples: int = Field(default=0, ge=0)
    compaction: Literal["none", "window", "summary"] = "none"
    compaction_window: PositiveInt = 8
    """Turns whose tool results stay whole; older ones are shortened or summed up."""
    clock: str = "2026-01-01T00:00:00Z"
    """The time that the prompt states."""
