"""One episode with any model."""

from dataclasses import replace
from typing import Any

from graphwalk.api.models import AnyModel, named_models
from graphwalk.asynchronous import run_in_background
from graphwalk.environment import read_environment
from graphwalk.experiments.loading import load_experiment
from graphwalk.runlog.result import Result
from graphwalk.runner.one_episode import play_task
from graphwalk.runner.resolve import resolve
from graphwalk.types.check_type import check_type
from graphwalk.types.episode import Task
from graphwalk.types.graph import PropertyGraph


async def aplay(
    task: Task,
    graph: PropertyGraph,
    *,
    model: AnyModel = None,
    setting: str = "tools",
    store: str = "embedded",
    seed: int = 0,
    neo4j_auth: Any = None,
    **agent: Any,
) -> Result:
    """`play`, to be awaited; a model that is an object is called in this event loop."""
    check_type("task", task, Task)
    check_type("graph", graph, PropertyGraph)
    environment = replace(read_environment(), neo4j_auth=neo4j_auth)
    names, given = named_models([model], environment)
    data = {"name": "play", "suite": {"name": task.suite}, "models": names, "settings": [setting], "seed": seed}
    config = load_experiment({**data, "store": store, "agent": agent})
    return await play_task(resolve(config, environment, given=given), task, graph)


def play(
    task: Task,
    graph: PropertyGraph,
    *,
    model: AnyModel = None,
    setting: str = "tools",
    store: str = "embedded",
    seed: int = 0,
    neo4j_auth: Any = None,
    **agent: Any,
) -> Result:
    """Let a model try one task about `graph`, and score its answer. Nothing is written.

    `model` is "provider/model", "scripted/expert", or an object with `async complete(messages, tools, options)`.
    `setting`: "tools", "no_tools" (the whole graph as text) or "write_cypher" (queries of its own). `seed` is that
    of scripted players, `neo4j_auth` as for `open_store`. `agent` are fields of an experiment's
    agent: `turn_limit=10`, `encoding="csv"`, …

    The result has `answer`, `score` (None where the episode failed for reasons of its own, which `trajectory.error`
    tells) and `trajectory.turns`, each with the `message` of the model and the `results` of its tool calls.
    ConfigError for what is not there or does not go together; StoreError where the store cannot be reached.
    """
    return run_in_background(
        aplay(task, graph, model=model, setting=setting, store=store, seed=seed, neo4j_auth=neo4j_auth, **agent)
    )
