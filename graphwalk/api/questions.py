"""A question about a graph of one's own, in words."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from graphwalk.api.models import AnyModel, named_models
from graphwalk.api.stores import AnyGraph, Store, aopen_store
from graphwalk.asynchronous import run_in_background
from graphwalk.environment import read_environment
from graphwalk.runner.answer import Answer
from graphwalk.runner.asking import asking, conversation
from graphwalk.stores.store import GraphStore
from graphwalk.suites.suite import World
from graphwalk.types.check_type import GRAPH, check_type
from graphwalk.types.graph import PropertyGraph

AnyStore = Store | GraphStore | AnyGraph
"""What `open_store` or `aopen_store` gives, or anything that they take."""


async def aask(
    question: str, store: AnyStore, *, model: AnyModel = None, after: Answer | None = None, **agent: Any
) -> Answer:
    """`ask`, to be awaited; a store of `aopen_store` and a model that is an object are used in this event loop."""
    check_type("question", question, str)
    if not hasattr(store, "schema"):
        check_type("store", store, Store, *GRAPH)
    check_type("after", after, Answer, optional=True)
    if isinstance(store, Store):
        return await asyncio.to_thread(ask, question, store, model=model, after=after, **agent)
    if isinstance(store, PropertyGraph | Path | str | Mapping):
        async with aopen_store(store) as opened:
            return await aask(question, opened, model=model, after=after, **agent)
    environment = read_environment()
    (name,), given = named_models([model], environment)
    experiment = asking(None, name, environment, agent=agent, given=given)
    earlier = () if after is None else after.conversation
    async with conversation(experiment, store, World("", None), earlier=earlier) as talk:
        return Answer.of(await talk.ask(question), store)


def ask(question: str, store: AnyStore, *, model: AnyModel = None, after: Answer | None = None, **agent: Any) -> Answer:
    """Let a model answer a question about a graph by walking it. Nothing is written.

    `store` is what `open_store` gives, or anything that it takes: a graph, a file, `{"neo4j": "movies"}`. `model` is
    "provider/model", "scripted/look" (no language model: it only looks words up), or an object with `async complete(
    messages, tools, options)`. `after`: the answer that this question follows up. `agent` are fields of an
    experiment's agent: `turn_limit=10`, `result_budget=20`, …

    The answer has `answer`, `steps`, `evidence`, `cypher`, `cost` and more; where a model or a database failed it has
    an `error` in place of an answer. ConfigError for what is not there; StoreError where the store cannot be reached.
    """
    opened = store.inner if isinstance(store, Store) else store
    return run_in_background(aask(question, opened, model=model, after=after, **agent))
