"""The wrappers around a provider, together and against a real server that fails in many ways."""

import asyncio
import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import pytest

from graphwalk.config.agent import AgentConfig
from graphwalk.config.calls import Limits, Price
from graphwalk.errors import ModelError
from graphwalk.models.base import Model
from graphwalk.models.prices import KnownPrice
from graphwalk.models.registry import open_model
from graphwalk.models.wrappers import Budget, Guarded, ReplyCache
from graphwalk.types.chat import CallOptions, Message, Reply, ToolSpec, Usage
from graphwalk.variables import Variables
from tests.models.player import ASK, LOOK, Player, in_run, said
from tests.models.server import Answer, ModelServer, chat, error

LOCAL = "openai-api/local/m"
CALL = '{"name": "look", "arguments": {"key": "a"}}'


async def test_a_storm_of_everything(server: ModelServer, variables: Variables) -> None:
    draw = random.Random(7)
    good = Answer(chat("ok"))
    bad = [
        error(429, "slow", retry_after_ms="20"),
        error(503, "later"),
        error(500, "oops"),
        Answer(b"{", then="reset"),
        Answer(b"<html>"),
        Answer(b"x", then="hang"),
        Answer(b"", 307, {"location": "http://127.0.0.1:9/"}),
    ]
    server.respond = lambda _: draw.choice(bad) if draw.random() < 0.5 else good
    provider = open_model(LOCAL, variables)
    model = in_run(provider, Limits(max_concurrency=8, retries=40, call_seconds=0.3))
    replies = await asyncio.gather(*(model.complete(ASK, (), CallOptions()) for _ in range(15)))
    assert {reply.message.content for reply in replies} == {"ok"}
    assert server.served[200] >= 15
    await provider.close()


async def test_a_cached_reply_is_charged_again(server: ModelServer, variables: Variables, tmp_path: Path) -> None:
    """A resumed run ends where an undisturbed one does."""
    answers = [error(503), Answer(chat(CALL, usage=(1000, 100)))]
    server.respond = lambda _: answers.pop(0)
    usages = []
    for _ in range(2):
        cache, budget, provider = ReplyCache(tmp_path / "cache"), Budget(tokens=1000), open_model(LOCAL, variables)
        agent = AgentConfig(tool_protocol="text")
        price = KnownPrice(price=Price(input=1.0, output=10.0), source="genai-prices")
        model = in_run(provider, Limits(), agent, price=price, budget=budget, cache=cache)
        reply = await model.complete(ASK, (LOOK,), CallOptions())
        assert reply.message.tool_calls[0].name == "look"
        assert reply.usage == Usage(1000, 100, cost=0.002) == budget.used
        with pytest.raises(ModelError, match="budget"):
            await model.complete(ASK, (LOOK,), CallOptions())
        usages.append(budget.used)
        await provider.close()
        cache.close()
    assert usages[0] == usages[1]
    assert len(server.requests) == 2


REFUSALS = {
    "Ollama": "m does not support tools",
    "vLLM": '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
    "DeepSeek": "This response_format type is unavailable now",
    "Groq": "This model does not support response format `json_schema`. See supported models",
    "llama.cpp": "Failed to parse grammar",
}


@pytest.mark.parametrize("message", REFUSALS.values(), ids=REFUSALS)
@pytest.mark.parametrize("protocol", ["native", "json"])
async def test_the_error_of_a_server_without_tools_or_schemas_names_the_text_protocol(
    server: ModelServer, variables: Variables, protocol: Literal["native", "json"], message: str
) -> None:
    server.respond = lambda _: error(400, message)
    provider = open_model(LOCAL, variables)
    agent = AgentConfig(tool_protocol=protocol)
    with pytest.raises(ModelError, match=re.escape(message)) as failure:
        await in_run(provider, agent=agent).complete(ASK, (LOOK,), CallOptions())
    assert "-o agent.tool_protocol=text" in failure.value.hint
    assert len(server.requests) == 1
    await provider.close()


async def test_an_endless_pause_fails(server: ModelServer, variables: Variables) -> None:
    answers = [error(429, "slow down", retry_after="1000000000"), Answer(chat("ok"))]
    server.respond = lambda _: answers.pop(0)
    provider = open_model(LOCAL, variables)
    model = in_run(provider, Limits(pause_seconds=120))
    async with asyncio.timeout(60):
        with pytest.raises(ModelError, match=r"asks to wait 1,000,000,000 s") as failure:
            await model.complete(ASK, (), CallOptions())
        assert not failure.value.retryable
        assert "limits.pause_seconds" in failure.value.hint
        # Other calls do not wait for the end of the pause.
        assert (await model.complete(ASK, (), CallOptions())).message.content == "ok"
    await provider.close()


class Odd:
    """A third party's model that returns or raises anything, and has no `close`."""

    name = "odd"

    def __init__(self, act: object) -> None:
        self.act = act

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        if isinstance(self.act, Exception):
            raise self.act
        return self.act  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("act", "cause"),
    [
        (None, r"^odd returned NoneType instead of a Reply$"),
        ("hello", r"^odd returned str instead of a Reply$"),
        (RuntimeError("no \x1b[31m sk-planted-secret"), r"^odd failed: RuntimeError: no .*\*\*\*$"),
        (ModelError("no sk-planted-secret"), r"^no \*\*\*$"),
    ],
    ids=["nothing", "text", "exception", "ModelError"],
)
async def test_a_guarded_model_raises_nothing_but_model_errors_without_secrets(act: object, cause: str) -> None:
    model = Guarded(Odd(act), Variables({"ODD_API_KEY": "sk-planted-secret"}), "odd")
    with pytest.raises(ModelError, match=cause) as failure:
        await model.complete(ASK, (), CallOptions())
    assert str(failure.value).isprintable()
    await model.close()


async def test_a_cancelled_call_is_cancelled_in_every_wrapper() -> None:
    player, budget = Player(said("late"), seconds=60), Budget(tokens=100)
    model: Model = in_run(player, Limits(max_concurrency=1), budget=budget)
    call = asyncio.create_task(model.complete(ASK, (), CallOptions()))
    while not player.running:  # noqa: ASYNC110
        await asyncio.sleep(0)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    player.seconds = 0
    async with asyncio.timeout(60):
        assert (await model.complete(ASK, (), CallOptions())).message.content == "late"
