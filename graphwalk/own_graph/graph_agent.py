"""The agent over your own graph, and the questions that it answers."""

import asyncio
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from graphwalk.agent.levers import tools_with_levers
from graphwalk.agent.loop import Episode, Watcher, run_episode
from graphwalk.config.agent import AgentConfig
from graphwalk.errors import ConfigError
from graphwalk.graphs.schema import Schema
from graphwalk.models.chat import CallOptions, Message
from graphwalk.models.prices import published_price
from graphwalk.models.protocols import with_tools
from graphwalk.models.wrappers import Budget, wrap
from graphwalk.own_graph.answer import Answer, Exchange
from graphwalk.own_graph.config import AskConfig
from graphwalk.own_graph.models import LOOK, AnyModel, as_model
from graphwalk.stores.base import GraphStore
from graphwalk.suites.graph_prompts import own_graph_system
from graphwalk.suites.mazes.toolbox import MAZE_TOOLS, MazeToolbox
from graphwalk.suites.task import Prompt
from graphwalk.tools.graph_toolbox import GraphToolbox
from graphwalk.tools.schema_text import schema_text
from graphwalk.tools.tool import load_tools
from graphwalk.tools.toolbox import Toolbox
from graphwalk.variables import Variables


async def toolbox_over(store: GraphStore, agent: AgentConfig) -> Toolbox:
    """Return the tools of an agent over a graph. Raise ConfigError for a wrong tool, StoreError."""
    schema, tools = await store.schema(agent.schema_samples), load_tools(agent.tools or ())
    if not {tool.name for tool in tools} & set(MAZE_TOOLS):
        return tools_with_levers(GraphToolbox(store, schema, tools, agent), agent)
    from graphwalk.suites.mazes.generate import CELL  # brings networkx

    if schema.node(CELL) is None:
        raise ConfigError("MAZE_TOOLS require a maze", hint="pass graphwalk.maze_graph(graphwalk.generate_maze(…))")
    cypher = store.render("MATCH (cell:{{ label | label }}) RETURN count(cell) AS cells", {"label": CELL})
    size = math.isqrt((await store.run(cypher))[0]["cells"])
    return MazeToolbox(store, size, agent=agent, tools=tools, schema=schema)


def system_text(schema: Schema, agent: AgentConfig) -> str:
    """Return the system prompt of an agent over a graph."""
    search = any(tool.operation == "search" for tool in load_tools(agent.tools or ()))
    return own_graph_system(schema, agent, search=search).content or ""


@dataclass(frozen=True)
class GraphAgent:
    """A model with the tools and the prompt of one graph."""

    episode: Episode
    """The start of every conversation."""
    config: AskConfig
    variables: Variables

    @classmethod
    async def open(
        cls,
        model: AnyModel,
        store: GraphStore,
        config: AskConfig,
        variables: Variables,
        *,
        instructions: str | None = None,
        watcher: Watcher | None = None,
        note: Callable[[str], object] = lambda text: None,
    ) -> "GraphAgent":
        """Open a model, and read the schema of the graph.

        `instructions` replace those of the system prompt, to which the schema is added. `watcher` observes the steps;
        `note` gets messages about long pauses. Raise ConfigError for a wrong model or tool, StoreError.
        """
        agent, limits, watcher = config.agent, config.limits, watcher or Watcher()
        if model == LOOK and agent.tool_protocol != "native":
            raise ConfigError(
                f"tool_protocol: {agent.tool_protocol}: {LOOK} has native calls only", hint="leave it out"
            )
        variables = variables.serving(config.servers)
        provider = as_model(model, variables, config.model_arguments.get(model) if isinstance(model, str) else None)
        shared = wrap(
            provider,
            limits,
            budget=Budget(limits.budget_tokens, limits.budget_usd),
            price=published_price(provider.name, variables),
            note=note,
        )
        schema = await store.schema(agent.schema_samples)
        system = (
            system_text(schema, agent) if instructions is None else f"{instructions}\n\n{schema_text(schema, agent)}"
        )
        episode = Episode(
            prompt=Prompt((Message("system", system),), await toolbox_over(store, agent)),
            model=with_tools(shared, agent),
            config=agent,
            options=CallOptions(
                **config.options.model_dump(),
                parallel_tool_calls=agent.parallel_tool_calls,
                on_text=watcher.on_text if watcher.live else None,
            ),
            tokens=limits.episode_tokens,
            usd=limits.episode_usd,
            watcher=watcher,
        )
        return cls(episode, config, variables)

    async def ask(self, question: str, earlier: Sequence[Exchange] = ()) -> Answer:
        """Answer a question after earlier exchanges. Failures of model and store are in the answer."""
        question = question.strip()
        if not question:
            raise ConfigError("the question is empty", hint='graphwalk ask "Which …?"')
        prompt = self.episode.prompt
        messages = list(prompt.messages)
        for exchange in earlier:
            messages += [Message("user", exchange.question), Message("assistant", exchange.answer or "(no answer)")]
        messages.append(Message("user", question))
        deadline = asyncio.get_running_loop().time() + self.config.limits.episode_seconds
        start = replace(self.episode, prompt=replace(prompt, messages=tuple(messages)), deadline=deadline)
        trajectory = await run_episode(start, self.variables.callbacks)
        if trajectory.error is not None:
            trajectory = replace(trajectory, error=self.variables.secrets.redact_error(trajectory.error))
        return Answer(question, trajectory, self.episode.model.name, tuple(earlier))
