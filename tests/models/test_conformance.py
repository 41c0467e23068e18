"""The conformance check itself: it finds what is wrong with a backend, and survives all of it."""

import json

import pytest

from graphwalk.errors import ModelError
from graphwalk.models.conformance import check_model
from graphwalk.models.openai import OpenAIModel
from graphwalk.models.registry import open_model
from tests.models.player import Player, said
from tests.models.server import Answer, ModelServer, Request, chat
from tests.models.stateful_servers import SERVERS


async def statuses(player: Player, seconds: float = 5.0) -> dict[str, str]:
    return {c.name: c.status for c in await check_model(player, seconds=seconds)}


async def test_a_model_that_only_chats() -> None:
    found = await statuses(Player(said("hello")))
    assert found["plain_text"] == "ok"
    assert found["tool_result"] == "failed"
    assert found["tool_call"] == found["parallel_tool_calls"] == found["usage"] == "absent"


async def test_exceptions_are_findings() -> None:
    first, *checks = await check_model(Player(said("hello"), RuntimeError("boom")))
    assert first.status == "ok"
    assert {c.status for c in checks} == {"failed"}
    assert all("raised RuntimeError instead of ModelError" in c.detail for c in checks)


async def test_silent_backend_fails_one_check() -> None:
    for player, detail in (
        (Player(seconds=60), "no reply within 0.01 s"),
        (Player(ModelError("connection refused", retryable=True)), "connection refused"),
    ):
        (check,) = await check_model(player, seconds=0.01)
        assert (check.name, check.status, check.detail) == ("plain_text", "failed", detail)


@pytest.mark.parametrize("provider", ["DeepSeek", "Responses"])
async def test_state_of_a_provider_is_sent_back(provider: str) -> None:
    server = SERVERS[provider]()
    async with server.serving() as settings:
        model = open_model(server.spec, settings, server.arguments)
        found = {one.name: one for one in await check_model(model)}["reasoning_state"]
        await model.close()
    assert found.status == "ok", found


LEVERS = ("tool_choice", "strict_tools", "response_format")


async def test_a_server_that_honours_or_ignores_the_levers(server: ModelServer, model: OpenAIModel) -> None:
    def honours(request: Request) -> Answer:
        body = request.body
        city = (json.dumps(body.get("tools", "")).count("Hanoi") and "Hanoi") or "Oslo"
        if "response_format" in body:
            return Answer(chat('{"answer": "red"}'))
        return Answer(chat(None, [("get_population", {"city": city})]) if "tools" in body else chat("yes"))

    def ignores(request: Request) -> Answer:
        offered = "tools" in request.body and "tool_choice" not in request.body
        return Answer(chat(None, [("get_population", {"city": "Oslo"})]) if offered else chat("one, two"))

    for respond, status in ((honours, "ok"), (ignores, "absent")):
        server.respond = respond
        found = {one.name: one.status for one in await check_model(model)}
        assert [found[name] for name in LEVERS] == [status] * 3
