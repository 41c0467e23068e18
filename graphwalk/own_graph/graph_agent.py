"""The agent over your own graph: its configuration, its model, its tools and prompt, and the questions it answers."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import Field

from graphwalk.agent.conversation import Conversation
from graphwalk.agent.levers import NamesInTools
from graphwalk.agent.loop import Episode, Watcher, call_tool, run_episode
from graphwalk.agent.prompt import Prompt
from graphwalk.config.agent import FOREIGN, AgentConfig, Limits, ModelOptions
from graphwalk.config.resources import YamlFile, data_path
from graphwalk.config.strict import LoggedSettings, Strict, as_typed, set_dotted, validate
from graphwalk.errors import ConfigError, GraphwalkError, StoreError, did_you_mean
from graphwalk.graphs.schema import Schema
from graphwalk.models.chat import CallOptions, Message, ToolCall
from graphwalk.models.prices import published_price
from graphwalk.models.protocols import with_tools
from graphwalk.models.registry import AnyModel, open_model
from graphwalk.models.scripted import ScriptedChatModel
from graphwalk.models.stack import ModelStack
from graphwalk.models.trajectory import ExitStatus, ToolResult, Trajectory
from graphwalk.models.wrappers import Budget
from graphwalk.own_graph.answer import Answer, Exchange
from graphwalk.runs.experiment import parse_override
from graphwalk.stores.base import GraphStore
from graphwalk.suites.graph_prompts import QUERY_TOOLS, own_graph_query_system, own_graph_system
from graphwalk.suites.mazes.toolbox import MAZE_TOOLS
from graphwalk.suites.own_questions.look import look_in_words
from graphwalk.tools.graph_toolbox import OWN_GRAPH_TOOLS, GraphToolbox
from graphwalk.tools.schema_text import schema_text
from graphwalk.tools.tool import load_tools
from graphwalk.tools.toolbox import Toolbox
from graphwalk.variables import Variables, read_variables

_LOGGER = logging.getLogger("graphwalk")
DEFAULTS: Mapping[str, Any] = {**FOREIGN, "tools": OWN_GRAPH_TOOLS, "turn_limit": 30}


WALKING = "tools"
QUERIES = "write_cypher"
ASK_SETTINGS = (WALKING, QUERIES)
"""Ways to ask: the model walks with tools, or writes queries."""


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
    profile: dict[str, Any] = {"agent": {}}
    if small:
        profile = YamlFile.read(data_path("templates") / "profiles" / "small.yaml").data
    data = {**profile, "agent": {**DEFAULTS, **profile["agent"], **agent}}

    overridden = []
    for override in overrides:
        key, value = parse_override(override)  # agent.turn_limit=10
        set_dotted(data, key, as_typed(value), f"-o {key}")
        overridden.append(key)
    return validate(AskConfig, data, "ask", overridden=overridden)


LOOK = "scripted/look"


def toolbox_over(store: GraphStore, schema: Schema, agent: AgentConfig) -> Toolbox:
    """Return the tools of an agent over a graph. Raise ConfigError for a wrong tool."""
    tools = load_tools(agent.tools or ())
    for tool in tools:
        if tool.name in MAZE_TOOLS:
            raise ConfigError(f"the tool {tool.name} walks generated mazes only", hint="graphwalk run paper-table-1")
    toolbox = GraphToolbox(store, schema, tools, agent)
    return NamesInTools(toolbox, agent) if agent.names_in_tools else toolbox


async def answer_call(toolbox: Toolbox, call: ToolCall, agent: AgentConfig) -> ToolResult:
    """Return the result of a call by another program, which reads of a failing database in it."""
    try:
        return await call_tool(toolbox, call, agent)
    except StoreError as error:
        cause = error.message.splitlines()[0]  # without the query, which GraphWalk wrote
        text = f"The database does not answer: {read_variables().secrets.redact(cause)}"
        return ToolResult(call, text, error="store_error")


def has_search(agent: AgentConfig) -> bool:
    """Tell whether one of the tools searches for names."""
    return any(tool.operation == "search" for tool in load_tools(agent.tools or ()))


def check_setting(setting: str, *, takes_queries: bool) -> None:
    """Raise ConfigError for an unknown setting, and for queries that a graph does not take."""
    if setting not in ASK_SETTINGS:
        close = did_you_mean(setting, ASK_SETTINGS)
        raise ConfigError(f"there is no setting {setting!r}{close}", hint=f"settings: {', '.join(ASK_SETTINGS)}")
    if setting == QUERIES and not takes_queries:
        what = "queries of a model run on a copy of the graph, never in Neo4j"
        raise ConfigError(
            what, hint="graphwalk export graph copy.json, with the options of the graph; then --graph copy.json"
        )


@dataclass(frozen=True)
class GraphAgent:
    """A model with the tools and the prompt of one graph."""

    episode: Episode
    """The start of every conversation."""
    config: AskConfig
    variables: Variables
    setting: str = WALKING

    @classmethod
    async def open(
        cls,
        model: AnyModel | None,
        store: GraphStore,
        config: AskConfig,
        variables: Variables,
        *,
        setting: str = WALKING,
        instructions: str | None = None,
        watcher: Watcher | None = None,
        note: Callable[[str], object] = lambda text: None,
    ) -> "GraphAgent":
        """Open a model, and read the schema of the graph.

        `setting`: one of `ASK_SETTINGS`. `instructions` replace those of the system prompt, to which the schema is
        added. `watcher` observes the steps; `note` gets messages about long pauses. Raise ConfigError for a wrong
        model, tool or setting, StoreError.
        """
        check_setting(setting, takes_queries=store.takes_queries)
        agent = config.agent
        limits = config.limits
        if setting == QUERIES:
            agent = agent.model_copy(update={"tools": QUERY_TOOLS})
            if model == LOOK:
                raise ConfigError(f"{LOOK} writes no queries", hint="leave --setting out, or name a language model")
        if model == LOOK and agent.tool_format != "native":
            what = f"tool_format: {agent.tool_format}: {LOOK} has native calls only"
            raise ConfigError(what, hint="leave it out")
        variables = variables.serving(config.servers)
        arguments = config.model_arguments.get(model) if isinstance(model, str) else None
        if model == LOOK:
            model = ScriptedChatModel(LOOK, look_in_words)
        provider = open_model(model, variables, arguments)
        stack = ModelStack(
            provider,
            limits,
            budget=Budget(limits.budget_tokens, limits.budget_usd),
            price=published_price(provider.name, variables),
            note=note,
        )
        schema = await store.schema(agent.schema_samples)
        if instructions is not None:
            system = f"{instructions}\n\n{schema_text(schema, agent)}"
        elif setting == QUERIES:
            system = own_graph_query_system(schema, agent)
        else:
            system = own_graph_system(schema, agent, search=has_search(agent))
        prompt = Prompt((Message("system", system),), toolbox_over(store, schema, agent))
        options = CallOptions(**config.options.model_dump(), parallel_tool_calls=agent.parallel_tool_calls)
        start = Conversation(prompt, agent, limits)
        episode = Episode(start, with_tools(stack.shared, agent), options, watcher=watcher)
        return cls(episode, config, variables, setting)

    async def ask(self, question: str, earlier: Sequence[Exchange] = ()) -> Answer:
        """Answer a question after earlier exchanges. Failures of model and store are in the answer."""
        question = question.strip()
        if not question:
            raise ConfigError("the question is empty", hint='graphwalk ask "Which …?"')
        messages: list[Message] = []
        for exchange in earlier:
            messages += [Message("user", exchange.question), Message("assistant", exchange.answer or "(no answer)")]
        messages.append(Message("user", question))
        # Of this question; those before it have had their own time.
        deadline = asyncio.get_running_loop().time() + self.config.limits.episode_seconds
        start = self.episode.start.with_messages(messages)
        try:
            episode = replace(self.episode, start=start, deadline=deadline)
            trajectory = await run_episode(episode, self.variables.callbacks)
        except GraphwalkError:
            raise  # a failure that has a message of its own
        except Exception as error:  # a model object of the caller may raise anything
            _LOGGER.error("unexpected error in an answer", exc_info=error)
            cause = f"unexpected error: {type(error).__name__}: {error}"
            trajectory = Trajectory(start.prompt.messages, (), ExitStatus.MODEL_ERROR, cause)
        if trajectory.error is not None:
            trajectory = replace(trajectory, error=self.variables.secrets.redact_error(trajectory.error))
        return Answer(question, trajectory, self.episode.model.name, tuple(earlier), self.setting)
