"""Scripted agents of suites, for tests."""

from typing import Any

from graphwalk.models.scripted import Policy
from graphwalk.seeds import stdlib_random
from graphwalk.suites.suite import Suite
from graphwalk.types.schema import Schema


def policy_of(
    suite: Suite[Any, Any], name: str, task: Any, setting: str = "tools", schema: Schema | None = None, seed: int = 0
) -> Policy:
    """Return the agent of this name for one episode."""
    player = suite.players[name]
    return player.policy(task, setting, schema, stdlib_random(seed, *player.purpose, task.task_id))
