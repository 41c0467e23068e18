"""Configuration of the agent: its ablation switches, its model calls, and how its answers are read."""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, NonNegativeInt, PositiveFloat, PositiveInt, field_validator

from graphwalk.config.strict import LoggedSettings, NameOrPath, Strict
from graphwalk.config.templates import PROMPT_SETS, Prompts, shipped_prompts

MOST_ROWS = 1000
"""Rows in the result of a query written by the model, and rows that a call with a timeout fetches."""
_QUERY_SECONDS = 10.0


class AgentConfig(Strict):
    """The agent and its ablation switches (docs/method.md, Agent and Tools)."""

    turn_limit: PositiveInt | None = None
    """Turns after which the answer is requested. None: the default of the experiment's suite, else no limit."""
    tool_format: Literal["native", "text", "json"] = "native"
    """How tools are called: by the server's API, in the text of the reply, or in a reply that the server holds to a
    JSON schema."""
    tool_choice: Literal["auto", "required"] = "auto"
    """required: each reply calls a tool until the model calls `answer`."""
    names_in_tools: NonNegativeInt = 0
    """Labels, types and property names of the schema are listed in the tools' JSON schemas if there are at most this
    many. 0: never."""
    answer: Literal["text", "tool"] = "text"
    """tool: the model answers by a call of the tool `answer`, whose fields are those of the question."""
    nudges: int = Field(default=0, ge=0, le=2)
    """Messages to a model about what is missing in a reply that has neither a call nor an answer."""
    max_calls_per_turn: PositiveInt = 256
    """Largest number of calls in one turn; further calls are refused with a message to the model."""
    call_limit: PositiveInt | None = None
    """Tool calls of one episode after which the answer is requested."""
    relationship_properties: bool = True
    """Tool results show the properties of relationships."""
    direction: bool = True
    """Tool results show the direction of relationships."""
    result_tokens: PositiveInt | None = None
    """Estimated tokens of one page of a tool result, of at most 100 rows. Further rows come in further pages, and long
    texts and lists are cut. None: no pages."""
    call_seconds: PositiveFloat | None = None
    """Timeout of a tool call, reported to the model. None: the timeout of the database, which ends the episode, and 10
    seconds for a query written by the model (write_cypher)."""
    schema_tokens: PositiveInt | None = None
    """Estimated tokens of the schema in the prompt; a larger one is cut to names and numbers, and the tool get_schema
    shows the rest. None: the whole schema."""
    encoding: Literal["json", "compact"] = "json"
    """Text format of tool results."""
    graph_encoding: Literal["json", "incidence"] = "json"
    """Text format of the whole graph in the no_tools setting."""
    schema_samples: int = Field(default=0, ge=0)
    """Values of each property that the schema in the prompt shows."""
    compaction: Literal["none", "window"] = "none"
    """Compaction of long conversations: none, or shorten old tool results (window)."""
    compaction_window: PositiveInt = 8
    """Turns whose tool results stay whole under compaction."""
    tools: tuple[NameOrPath, ...] | None = None
    """Built-in tools by name, your own by path. None: those of the suite."""
    tool_words: Literal["whole", "short"] = "whole"
    """Descriptions of tools: whole, or one sentence and the arguments."""
    prompts: NameOrPath | None = None
    """A folder whose files replace those of the same name in templates/prompts/. "short": built-in prompts for models
    with a small context; "paper": with the information of the papers and no more."""

    @field_validator("prompts")
    @classmethod
    def _is_a_folder(cls, prompts: str | None) -> str | None:
        if prompts not in (None, *PROMPT_SETS) and not Path(str(prompts)).is_dir():
            raise ValueError(f'must be {", ".join(PROMPT_SETS)} or a folder (./prompts/), not "{prompts}"')
        return prompts

    @property
    def parallel_tool_calls(self) -> bool | None:
        """Return False if the model may call only one tool in a turn, None for the default of its server."""
        if self.max_calls_per_turn == 1:
            return False
        return None  # not True: some servers refuse the field

    @property
    def query_seconds(self) -> float:
        """Return the timeout of a query written by the model."""
        return self.call_seconds or _QUERY_SECONDS

    @cached_property
    def texts(self) -> Prompts:
        """The prompts of this agent, read once. Raise ConfigError if a file of the user is wrong."""
        if self.prompts is None or self.prompts in PROMPT_SETS:
            return shipped_prompts(self.prompts)
        return Prompts(Path(self.prompts))

    def render(self, name: str, /, **values: Any) -> str:
        """Render a prompt by the name of its file: "graph_tools.j2"."""
        return self.texts.render(name, **values)


FOREIGN: Mapping[str, Any] = {
    "result_tokens": 4000,
    "call_seconds": 10.0,
    "schema_tokens": 4000,
    "schema_samples": 3,
}
"""Limits on graphs that were not generated, unless the user sets them."""


def foreign_agent(agent: AgentConfig | None = None) -> AgentConfig:
    """Return the agent with the limits of `FOREIGN`; fields that the user set, even to None, stay."""
    agent = agent or AgentConfig()
    limits = {name: value for name, value in FOREIGN.items() if name not in agent.model_fields_set}
    return agent.model_copy(update=limits)


class ModelOptions(Strict):
    """Options sent with every call of a model; None: the provider's default."""

    temperature: float | None = Field(default=None, ge=0)
    """Sampling temperature."""
    top_p: float | None = None
    """Nucleus sampling: share of the probability mass that tokens are drawn from."""
    max_output_tokens: PositiveInt | None = None
    """Output tokens of one reply."""
    reasoning_effort: str | None = None
    """Reasoning effort in the provider's words: low, medium, high, …"""
    seed: int | None = None
    """Seed of the provider's sampling, where it has one."""
    extra: LoggedSettings = Field(default_factory=dict)
    """Other fields of the request, by the provider's names."""


class Price(Strict):
    """Price of a model in US dollars per million tokens, used if its provider does not report the cost."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached_input: float | None = Field(default=None, ge=0)
    """Input from the provider's prompt cache. None: the rate of other input."""

    def cost(self, new: float, cached: float, output: float) -> float:
        """Return US dollars for tokens of new input, of input from the provider's cache, and of output."""
        cached_input = self.input if self.cached_input is None else self.cached_input
        return (new * self.input + cached * cached_input + output * self.output) / 1_000_000


class Limits(Strict):
    """Limits in seconds, tokens and US dollars. None: no limit."""

    max_concurrency: PositiveInt = 8
    """Episodes in flight."""
    requests_per_minute: PositiveFloat | None = None
    """Requests per minute to each model."""
    tokens_per_minute: PositiveFloat | None = None
    """Tokens per minute of each model."""
    retries: int = Field(default=8, ge=0)
    """Retries of a failed call."""
    call_seconds: PositiveFloat = 300
    """Timeout of one call of a model."""
    pause_seconds: PositiveFloat = 600
    """Longest wait that a server may ask for; beyond it the call fails."""
    store_seconds: PositiveFloat = 30
    """Timeout of one database query."""
    episode_seconds: PositiveFloat = 3600
    """Timeout of one episode."""
    context_tokens: PositiveInt | None = None
    """Context window of the models, for --check-setup and --dry-run. A smaller one that a server reports holds."""
    episode_tokens: PositiveInt | None = None
    """Tokens of one episode; beyond it the episode ends without an answer."""
    episode_usd: PositiveFloat | None = None
    """Cost of one episode; beyond it the episode ends without an answer."""
    budget_tokens: PositiveInt | None = None
    """Tokens of the whole run; beyond it the run ends and can be resumed with a larger budget."""
    budget_usd: PositiveFloat | None = None
    """Cost of the whole run."""


class Scoring(Strict):
    """How answers are read from replies."""

    extraction: Literal["lenient", "strict"] = "lenient"
    """lenient: fenced, embedded and wrapped JSON count too; strict: the whole reply must be JSON of the requested form.
    What is not read goes to the `extractor`, if there is one."""
    text: Literal["exact", "folded"] = "exact"
    """Comparison of texts in answers to your own questions. folded: without differences of case, accents and spaces."""
    steps: bool = False
    """Where results are read: how much of the answer is in sight before the first turn and after each, `potentials`."""
