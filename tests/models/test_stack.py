"""The whole stack against a real server that is having a bad day."""

import asyncio
import random
from pathlib import Path

import pytest

from graphwalk.config.agent import AgentConfig
from graphwalk.config.calls import Limits, ModelOptions, Price
from graphwalk.environment import Environment
from graphwalk.errors import ModelError
from graphwalk.models.calls.budget import Budget
from graphwalk.models.calls.cache import ReplyCache
from graphwalk.models.calls.retry import RetryingModel
from graphwalk.models.calls.stack import build_model, call_options, episode_model
from graphwalk.types.chat import CallOptions, Message, Usage
from tests.models.players import ASK, LOOK
from tests.models.server import Answer, ModelServer, Request, chat, error

LOCAL = "openai-api/local/m"


@pytest.fixture(autouse=True)
def quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RetryingModel.__init__.__kwdefaults__, "first", 0.005)


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
    model = build_model(LOCAL, environment, limits)
    replies = await asyncio.gather(*(model.complete(ASK, (), CallOptions()) for _ in range(40)))
    assert {reply.message.content for reply in replies} == {"ok"}
    assert server.served[200] >= 40
    await model.close()


async def test_the_order_of_the_stack(server: ModelServer, environment: Environment, tmp_path: Path) -> None:
    text = '{"name": "look", "arguments": {"key": "a"}}'
    answers = [error(503), Answer(chat(text, usage=(1000, 100)))]
    server.respond = lambda _: answers.pop(0)
    shared = build_model(
        LOCAL, environment, Limits(), AgentConfig(tool_protocol="text"), price=Price(input=1.0, output=10.0)
    )
    usages = []
    for _ in range(2):
        cache, budget = ReplyCache(tmp_path / "cache"), Budget(tokens=1000)
        model = episode_model(shared, cache=cache, episode_key="task/tools/0", budget=budget)
        reply = await model.complete(ASK, (LOOK,), CallOptions())
        assert reply.message.tool_calls[0].name == "look"
        assert reply.usage == Usage(1000, 100, cost=0.002) == budget.used
        with pytest.raises(ModelError, match="budget"):
            await model.complete(ASK, (LOOK,), CallOptions())
        usages.append(budget.used)
        cache.close()
    assert usages[0] == usages[1]
    assert len(server.requests) == 2
    await shared.close()


async def test_places_are_free_while_a_call_waits_to_try_again(server: ModelServer, environment: Environment) -> None:
    def respond(request: Request) -> Answer:
        return error(500) if request.body["messages"][0]["content"] == "bad" else Answer(chat("ok"))

    server.respond = respond
    model = build_model(LOCAL, environment, Limits(max_concurrency=1, retries=8))
    bad = asyncio.create_task(model.complete((Message("user", "bad"),), (), CallOptions()))
    replies = await asyncio.gather(*(model.complete(ASK, (), CallOptions()) for _ in range(5)))
    assert len(replies) == 5
    with pytest.raises(ModelError, match="answered 500"):
        await bad
    await model.close()


def test_options() -> None:
    options = ModelOptions(temperature=0.0, seed=3, extra={"top_k": 1})
    assert call_options(options, AgentConfig(parallel_tool_calls=False)) == CallOptions(
        temperature=0.0, seed=3, parallel_tool_calls=False, extra={"top_k": 1}
    )
