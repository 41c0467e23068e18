"""The agent and its ablation switches."""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, PositiveFloat, PositiveInt, field_validator

from graphwalk.config.prompts import Prompts, shipped_prompts, short_prompts
from graphwalk.config.strict import NameOrPath, Strict
from graphwalk.encodings import ENCODINGS

SHORT = "short"
"""The prompts in few words."""


class AgentConfig(Strict):
    """The agent and its ablation switches (docs/method.md, Agent and Tools)."""

    turn_limit: PositiveInt | None = None
    """Turns after which the answer is asked for. None: in an experiment what its suite says, else no limit."""
    tool_protocol: Literal["native", "text", "auto"] = "auto"
    """How tools are called: by the server's own way, in the text of the reply, or by whichever of them works."""
    parallel_tool_calls: bool = True
    """The model may call several tools in one turn."""
    max_calls_per_turn: PositiveInt = 256
    """Calls of one turn beyond this many are refused with a message to the model."""
    call_limit: PositiveInt | None = None
    """Tool calls of one episode; at this number the answer is asked for, as at the turn limit."""
    repeat_limit: PositiveInt | None = None
    """Turns in which one call may be made, name and arguments the same; at this number the answer is asked for, as at
    the turn limit. A model that repeats itself is stuck."""
    think: bool = True
    """Offer tools that only take notes."""
    relationship_properties: bool = True
    """Tool results show the properties of relationships."""
    direction: bool = True
    """Tool results show the direction of relationships."""
    result_budget: PositiveInt | None = None
    """Rows of one tool result; more come in pages. None: no limit."""
    result_tokens: PositiveInt | None = None
    """Tokens of the rows of one page, by our estimate. None: no limit."""
    fetched_rows: PositiveInt | None = None
    """Rows that a call takes from the database before it counts the others. None: all."""
    value_characters: PositiveInt | None = None
    """Longer texts and lists are cut in a result of several rows. None: never."""
    call_seconds: PositiveFloat | None = None
    """Time after which a call is given up and the model told so. None: the database's own, which ends the episode."""
    schema_tokens: PositiveInt | None = None
    """Tokens of the schema in the prompt, by our estimate; a larger one is cut to names and numbers, and the tool
    get_schema shows the rest. None: a table of all there is."""
    query_seconds: PositiveFloat = 10.0
    """Time that a query of the model's own may take (write_cypher)."""
    query_rows: PositiveInt = 1000
    """Rows that such a query may show."""
    encoding: str = Field(default="json", json_schema_extra={"enum": list(ENCODINGS)})
    """How tool results are written."""
    graph_encoding: Literal["json", "triples", "incidence", "cypher", "graphml"] = "json"
    """How the whole graph is written in the no_tools setting."""
    schema_samples: int = Field(default=0, ge=0)
    """Values of each property that the schema in the prompt shows."""
    compaction: Literal["none", "window", "summary"] = "none"
    """What becomes of a long conversation: it stays, old results are shortened, or old turns are summed up."""
    compaction_window: PositiveInt = 8
    """Turns whose tool results stay whole; older ones are shortened or summed up."""
    clock: str = Field(default="2026-01-01T00:00:00Z", min_length=1)
    """The time that the prompt states."""
    tools: tuple[NameOrPath, ...] | None = None
    """Tools that ship, by name, and the user's own, by path; None: those of the suite."""
    tool_words: Literal["whole", "short"] = "whole"
    """What is told about a tool: all of it, or one sentence and its arguments."""
    prompts: NameOrPath | None = None
    """A folder: each file in it replaces the one of templates/prompts/ with the same name. "short": one that ships, for
    models with a small context."""

    @field_validator("encoding")
    @classmethod
    def _is_known(cls, encoding: str) -> str:
        if encoding not in ENCODINGS:
            *others, last = ENCODINGS
            raise ValueError(f'must be {", ".join(others)} or {last}, not "{encoding}"')
        return encoding

    @field_validator("prompts")
    @classmethod
    def _is_a_folder(cls, prompts: str | None) -> str | None:
        if prompts not in (None, SHORT) and not Path(str(prompts)).is_dir():
            raise ValueError(f"{prompts} is not a folder; a path has a slash in it: ./prompts/")
        return prompts

    @cached_property
    def texts(self) -> Prompts:
        """The prompts of this agent, read once. ConfigError where a file of the user's is wrong."""
        if self.prompts == SHORT:
            return short_prompts()
        return shipped_prompts() if self.prompts is None else Prompts(Path(self.prompts))

    def render(self, name: str, /, **values: Any) -> str:
        """A prompt by the name of its file: "graph_tools.j2"."""
        return self.texts.render(name, **values)


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
