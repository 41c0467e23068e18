"""Ask a question about your own graph from Python."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from graphwalk.background import blocking
from graphwalk.models.registry import AnyModel
from graphwalk.own_graph.answer import Answer
from graphwalk.own_graph.graph_agent import GraphAgent, ask_config
from graphwalk.stores.open import AnyGraph, Store, aopen_store
from graphwalk.variables import read_variables


async def aask(
    question: str,
    store: AnyGraph,
    *,
    model: AnyModel | None = None,
    setting: str = "tools",
    after: Answer | None = None,
    callbacks: Iterable[Any] | None = None,
    **agent: Any,
) -> Answer:
    """Let a model answer a question about a graph by walking it, without writing a run folder.

    `store`: a store of `open_store` or `aopen_store`, or what these open: a graph, a file, `{"neo4j": "movies"}`.
    `model`: "provider/model", "scripted/look" (no language model), or an object with
    `async complete(messages, tools, options)`.
    `setting`: "tools", or "write_cypher": the model writes Cypher, for a graph in memory or in a file.
    `after`: the previous answer, for a follow-up question. `callbacks`: handlers of LangChain, to which model calls and
    tool calls are reported. `agent`: fields of an experiment's agent: `turn_limit=10`,
    `result_tokens=2000`, …

    The answer has `answer`, `steps`, `evidence`, `cost` and more, or an `error` if the model or the database
    failed. Raise ConfigError for invalid arguments, StoreError if the store cannot be reached.
    """
    if isinstance(store, Store):
        arguments = {"model": model, "setting": setting, "after": after, "callbacks": callbacks, **agent}
        return await store.await_for(aask(question, store.inner, **arguments))
    variables = replace(read_variables(), callbacks=list(callbacks or ()))
    config = ask_config(agent)
    earlier = () if after is None else after.conversation
    async with aopen_store(store) as opened:
        graph_agent = await GraphAgent.open(model, opened, config, variables, setting=setting)
        try:
            return await graph_agent.ask(question, earlier)
        finally:
            await graph_agent.episode.model.close()


ask = blocking(aask)
