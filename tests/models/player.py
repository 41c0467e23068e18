"""Small models for the tests of what is around them."""

import asyncio
from collections.abc import Sequence
from typing import Any

from graphwalk.config.agent import AgentConfig, Limits
from graphwalk.models.chat import CallOptions, Message, Model, Reply, ToolSpec, Usage
from graphwalk.models.stack import ModelStack
from graphwalk.models.wrappers import Budget, ReplyCache

ASK = (Message("user", "hi"),)
LOOK = ToolSpec("look", "Look at a node.", {"type": "object", "properties": {"key": {"type": "string"}}})
WALK = ToolSpec("walk", "Walk on.", {"type": "object", "properties": {}})


def said(text: str | None, **rest: object) -> Reply:
    return Reply(Message("assistant", text), **rest)  # type: ignore[arg-type]


class Player:
    """A model that returns or raises `replies` in turn (the last for ever), and records its messages."""

    name = "test/player"

    def __init__(self, *acts: Reply | Exception, seconds: float = 0.0) -> None:
        self.acts = list(acts) or [said("hello", usage=Usage(10, 5))]
        self.seconds = seconds
        self.sent: list[tuple[list[Message], list[ToolSpec], CallOptions]] = []
        self.times: list[float] = []
        self.running = 0

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        self.sent.append((list(messages), list(tools), options))
        self.times.append(asyncio.get_running_loop().time())
        act = self.acts.pop(0) if len(self.acts) > 1 else self.acts[0]
        self.running += 1
        try:
            await asyncio.sleep(self.seconds)
        finally:
            self.running -= 1
        if isinstance(act, Exception):
            raise act
        return act

    async def close(self) -> None:
        return None


def in_run(
    model: Model,
    limits: Limits | None = None,
    agent: AgentConfig | None = None,
    *,
    cache: ReplyCache | None = None,
    key: str = "task/tools/0",
    budget: Budget | None = None,
    **rest: Any,
) -> Model:
    """A model as one episode of a run calls it."""
    stack = ModelStack(model, limits or Limits(), budget=budget or Budget(), cache=cache, **rest)
    return stack.in_episode(key, agent or AgentConfig())
