"""A caller against a real server that is having a bad day."""

import asyncio
import random
from pathlib import Path

import pytest

from graphwalk.config.agent import AgentConfig
from graphwalk.config.calls import Limits, Price
from graphwalk.environment import Environment
from graphwalk.errors import ModelError
from graphwalk.models.calls.budget import Budget
from graphwalk.models.calls.cache import ReplyCache
from graphwalk.models.calls.caller import Caller
from graphwalk.models.registry import open_model
from graphwalk.types.chat import CallOptions, Message, Usage
from tests.models.player import ASK, LOOK
from tests.models.server import Answer, ModelServer, Request, chat, error

LOCAL = "openai-api/local/m"


def calling(environment: Environment, limits: Limits) -> Caller:
    return Caller(open_model(LOCAL, environment), limits, first_wait=0.005)


@pytest.mark.parametrize("share", [0.1, 0.5])
async def test_a_storm_of_everything(server: ModelServer, environment: Environment, share: float) -> None:
    draw = random.Random(7)
    good = Answer(chat("ok"))
    bad = [
        error(429, "slow", retry_after_ms="20"),
        error(503, "later"),
        error(500, "oops"),
        Answer(b"{", then="reset"),
        Answer(b"<html>"),
        Answer(b"x", then="hang"),
    ]
    server.respond = lambda _: draw.choice(bad) if draw.random() < share else good
    limits = Limits(max_concurrency=8, retries=40, call_seconds=0.2)
    model = calling(environment, limits)
    replies = await asyncio.gather(*(model.complete(ASK, (), CallOptions()) for _ in range(40)))
    assert {reply.message.content for reply in replies} == {"ok"}
    assert server.served[200] >= 40
    await model.close()


async def test_a_resumed_episode_ends_where_an_undisturbed_one_does(
    server: ModelServer, environment: Environment, tmp_path: Path
) -> None:
    text = '{"name": "look", "arguments": {"key": "a"}}'
    answers = [error(503), Answer(chat(text, usage=(1000, 100)))]
    server.respond = lambda _: answers.pop(0)
    usages = []
    for _ in range(2):
        cache, budget = ReplyCache(tmp_path / "cache"), Budget(tokens=1000)
        caller = Caller(
            open_model(LOCAL, environment),
            Limits(),
            AgentConfig(tool_protocol="text"),
            price=Price(input=1.0, output=10.0),
            budget=budget,
            cache=cache,
            first_wait=0.005,
        )
        model = caller.for_episode("task/tools/0")
        reply = await model.complete(ASK, (LOOK,), CallOptions())
        assert reply.message.tool_calls[0].name == "look"
        assert reply.usage == Usage(1000, 100, cost=0.002) == budget.used
        with pytest.raises(ModelError, match="budget"):
            await model.complete(ASK, (LOOK,), CallOptions())
        usages.append(budget.used)
        await caller.close()
        cache.close()
    assert usages[0] == usages[1]
    assert len(server.requests) == 2


async def test_places_are_free_while_a_call_waits_to_try_again(server: ModelServer, environment: Environment) -> None:
    def respond(request: Request) -> Answer:
        return error(500) if request.body["messages"][0]["content"] == "bad" else Answer(chat("ok"))

    server.respond = respond
    model = calling(environment, Limits(max_concurrency=1, retries=8))
    bad = asyncio.create_task(model.complete((Message("user", "bad"),), (), CallOptions()))
    replies = await asyncio.gather(*(model.complete(ASK, (), CallOptions()) for _ in range(5)))
    assert len(replies) == 5
    with pytest.raises(ModelError, match="answered 500"):
        await bad
    await model.close()
