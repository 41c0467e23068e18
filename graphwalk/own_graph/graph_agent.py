"""The agent over your own graph, and the questions that it answers."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from graphwalk.agent import Episode, Watcher, run_episode
from graphwalk.errors import ConfigError
from graphwalk.models.prices import published_price
from graphwalk.models.protocols import with_tools
from graphwalk.models.wrappers import Budget, wrap
from graphwalk.own_graph.answer import Answer, Exchange
from graphwalk.own_graph.config import AskConfig, ask_config
from graphwalk.own_graph.models import LOOK, AnyModel, as_model
from graphwalk.own_graph.stores import AnyGraph, Store, aopen_store
from graphwalk.own_graph.tools import system_text, toolbox_over
from graphwalk.runs.background import blocking
from graphwalk.stores.base import GraphStore
from graphwalk.suites.task import Prompt
from graphwalk.tools.schema_text import schema_text
from graphwalk.types.chat import CallOptions, Message
from graphwalk.variables import Variables, read_variables


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
                on_text=watcher.wrote if watcher.live else None,
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


async def aask(
    question: str,
    store: AnyGraph,
    *,
    model: AnyModel = None,
    after: Answer | None = None,
    callbacks: Iterable[Any] | None = None,
    **agent: Any,
) -> Answer:
    """Let a model answer a question about a graph by walking it, without writing a run folder.

    `store`: a store of `open_store` or `aopen_store`, or what these open: a graph, a file, `{"neo4j": "movies"}`.
    `model`: "provider/model", "scripted/look" (no language model), or an object with
    `async complete(messages, tools, options)`.
    `after`: the previous answer, for a follow-up question. `callbacks`: handlers of LangChain, to which model calls and
    tool calls are reported. `agent`: fields of an experiment's agent: `turn_limit=10`,
    `result_tokens=2000`, …

    The answer has `answer`, `steps`, `evidence`, `cost` and more, or an `error` if the model or the database
    failed. Raise ConfigError for invalid arguments, StoreError if the store cannot be reached.
    """
    if isinstance(store, Store):
        arguments = {"model": model, "after": after, "callbacks": callbacks, **agent}
        return await store.await_for(aask(question, store.inner, **arguments))
    variables = replace(read_variables(), callbacks=list(callbacks or ()))
    config, earlier = ask_config(agent), () if after is None else after.conversation
    async with aopen_store(store) as opened:
        graph_agent = await GraphAgent.open(model, opened, config, variables)
        try:
            return await graph_agent.ask(question, earlier)
        finally:
            await graph_agent.episode.model.close()


ask = blocking(aask)
