"""The configuration of an experiment: a YAML file, overrides from the command line, defaults from here."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PositiveFloat, PositiveInt

from graphwalk.config.specs import GraphSpec, MagmaGrid, MagmaSpec, MazeSpec


class Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class QuestionsConfig(Strict):
    """The twelve questions on generated property graphs. Every entry of `graphs` is made `count` times."""

    name: Literal["questions"] = "questions"
    graphs: tuple[GraphSpec, ...] = (GraphSpec(),)
    questions: tuple[str, ...] | None = None
    """Template names; None: all twelve."""
    per_question: PositiveInt = 1
    """Tasks per graph and question."""


class MazesConfig(Strict):
    name: Literal["mazes"] = "mazes"
    mazes: tuple[MazeSpec, ...] = (MazeSpec(),)
    strict: bool = False
    """Only cells next to visited ones may be asked for."""


class MagmaConfig(Strict):
    """Graph algorithms step by step, on the traces of every entry of `traces`."""

    name: Literal["magma"] = "magma"
    traces: tuple[MagmaGrid, ...] = (MagmaGrid(),)
    free_running: bool = False
    """Keep the model's own answers in the context, instead of one example per step with the correct ones."""

    def specs(self) -> tuple[MagmaSpec, ...]:
        """What is to be made, in order."""
        return tuple(spec for grid in self.traces for spec in grid.specs())


SuiteConfig = Annotated[QuestionsConfig | MazesConfig | MagmaConfig, Field(discriminator="name")]


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


class ModelOptions(Strict):
    """Sent with every call; None leaves it to the provider."""

    temperature: float | None = Field(default=None, ge=0)
    top_p: float | None = None
    max_output_tokens: PositiveInt | None = None
    reasoning_effort: str | None = None
    seed: int | None = None
    extra: dict[str, Any] = Field(default_factory=dict)


class Price(Strict):
    """US dollars per million tokens, for models whose provider does not report cost."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)


class Limits(Strict):
    """How fast, how long, how much. None: no limit. Seconds, tokens, US dollars."""

    max_concurrency: PositiveInt = 8
    requests_per_minute: PositiveFloat | None = None
    tokens_per_minute: PositiveFloat | None = None
    retries: int = Field(default=8, ge=0)
    call_seconds: PositiveFloat = 300
    episode_seconds: PositiveFloat = 3600
    episode_tokens: PositiveInt | None = None
    episode_usd: PositiveFloat | None = None
    budget_tokens: PositiveInt | None = None
    budget_usd: PositiveFloat | None = None


class ExperimentConfig(Strict):
    """One experiment: suite × models × settings × repeats."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")
    description: str = ""
    suite: SuiteConfig
    models: tuple[str, ...] = ()
    """`provider/model`; none: the scripted ones."""
    settings: tuple[str, ...] = ("tools",)
    repeats: PositiveInt = 1
    limit: PositiveInt | None = None
    """Only the first tasks."""
    seed: int = 0
    store: Literal["embedded", "neo4j"] = "embedded"
    keep: bool = False
    """Leave the graphs in Neo4j when the run is done."""
    agent: AgentConfig = AgentConfig()
    options: ModelOptions = ModelOptions()
    limits: Limits = Limits()
    prices: dict[str, Price] = Field(default_factory=dict)
    extractor: str | None = None
    reference: str | None = None
    """The paper's table to set beside ours: "table_1_mazes", "table_2_questions", …"""
