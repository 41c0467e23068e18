"""The contract of model backends, checked for each of them.

The server plays a model that does what the conformance prompts ask for, in both dialects.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from graphwalk.config.agent import AgentConfig, Limits
from graphwalk.models.chat import CallOptions, Message, Model
from graphwalk.models.conformance import check_model
from graphwalk.models.registry import open_model
from graphwalk.variables import Variables
from tests.models.player import in_run
from tests.models.server import Answer, ModelServer, Request, chat, responses

SPECS = {
    "openai": "openai/gpt-4.1",
    "responses": "openai/o9",
    "compatible": "openai-api/local/m",
    "text protocol": "openai-api/local/m",
}


REACTIONS = {"ZEBU": "ZEBU", "493817": "It is 493,817.", "7391": "7391"}


def clever(request: Request) -> Answer:
    """A model that understands the conformance prompts, and nothing else."""
    body = request.body
    heard = json.dumps(body.get("messages") or body["input"], ensure_ascii=False)
    if "Norway" in heard:
        return _say(request, '{"answer": "blue"}')
    text = next((text for clue, text in REACTIONS.items() if clue in heard), None)
    calls = [("get_population", {"city": "Oslo"})] if text is None and "Oslo" in heard else []
    return _say(request, text if text or calls else "yes", calls)


def _say(request: Request, text: str | None, calls: Sequence[tuple[str, Any]] = ()) -> Answer:
    if "/responses" in request.path:
        return Answer(responses(text, calls))
    if calls and "tools" not in request.body:
        text, calls = "\n".join(json.dumps({"name": name, "arguments": arguments}) for name, arguments in calls), []
    return Answer(chat(text, calls))


@pytest.fixture(params=SPECS, ids=SPECS)
async def backend(request: pytest.FixtureRequest) -> AsyncIterator[tuple[Model, ModelServer]]:
    async with ModelServer(clever) as server:
        variables = Variables({"OPENAI_BASE_URL": server.url, "LOCAL_BASE_URL": server.url})
        protocol = "text" if request.param == "text protocol" else "native"
        agent = AgentConfig(tool_format=protocol)
        provider = open_model(SPECS[request.param], variables)
        model = in_run(provider, Limits(retries=0, call_seconds=60), agent)
        yield model, server
        await provider.close()


async def test_every_capability_is_found(backend: tuple[Model, ModelServer]) -> None:
    model, _ = backend
    capabilities = await check_model(model)
    assert [(one.status, one.name) for one in capabilities] == [
        ("ok", name) for name in ("plain_text", "tool_call", "tool_result", "response_format", "usage")
    ]


async def test_a_dead_server_fails_every_check_and_raises_nothing(backend: tuple[Model, ModelServer]) -> None:
    model, server = backend
    await server.stop()
    assert {capability.status for capability in await check_model(model)} == {"failed"}


async def test_one_object_serves_many_conversations(backend: tuple[Model, ModelServer]) -> None:
    model, _ = backend
    prompts = [(Message("user", word),) for word in ("ZEBU", "7391", "else") * 5]
    replies = await asyncio.gather(*(model.complete(prompt, (), CallOptions()) for prompt in prompts))
    assert [reply.message.content for reply in replies] == ["ZEBU", "7391", "yes"] * 5
