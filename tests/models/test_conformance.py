"""The conformance check itself: it finds what is wrong with a backend, and survives all of it."""

import json
from typing import Any

import pytest

from graphwalk.errors import ModelError
from graphwalk.models.conformance import check_model
from graphwalk.models.openai import OpenAIModel
from graphwalk.models.registry import open_model
from graphwalk.types.chat import Message, Reply, ToolCall, Usage
from tests.models.player import Player, said
from tests.models.server import Answer, ModelServer, Request, chat, error
from tests.models.stateful_servers import SERVERS, AnthropicServer, GroqServer


async def statuses(player: Player, seconds: float = 5.0) -> dict[str, str]:
    return {c.name: c.status for c in await check_model(player, seconds=seconds)}


async def test_a_model_that_only_chats() -> None:
    found = await statuses(Player(said("hello")))
    assert found["plain_text"] == "ok"
    assert found["system_prompt"] == found["tool_result"] == "failed"
    assert found["tool_call"] == found["parallel_tool_calls"] == found["usage"] == found["reasoning"] == "absent"


async def test_a_backend_with_bad_manners() -> None:
    same = ToolCall("1", "get_population", '{"city": ')
    found = await statuses(Player(Reply(Message("assistant", None, (same, same)), Usage(1, 99))))
    assert found["tool_call"] == found["parallel_tool_calls"] == found["output_limit"] == "failed"
    assert found["one_call_at_a_time"] == "absent"


async def test_exceptions_are_findings() -> None:
    first, *checks = await check_model(Player(said("hello"), RuntimeError("boom")))
    assert first.status == "ok"
    assert {c.status for c in checks} == {"failed"}
    assert all("raised RuntimeError instead of ModelError" in c.detail for c in checks)


async def test_retryable_errors_fail_the_check() -> None:
    assert (await statuses(Player(said("hello"), ModelError("x", retryable=True))))["errors"] == "failed"
    assert (await statuses(Player(said("hello"), ModelError("x"))))["errors"] == "ok"
    overflow = await statuses(Player(said("hello"), ModelError("x", context_overflow=True)))
    assert overflow["long_context"] == "absent"


async def test_silent_backend_fails_one_check() -> None:
    for player, detail in (
        (Player(seconds=60), "no reply within 0.01 s"),
        (Player(ModelError("connection refused", retryable=True)), "connection refused"),
    ):
        (check,) = await check_model(player, seconds=0.01)
        assert (check.name, check.status, check.detail) == ("plain_text", "failed", detail)


@pytest.mark.parametrize(
    ("provider", "status", "detail"),
    [
        ("DeepSeek", "ok", "accepted: reasoning_content"),
        ("Gemini", "ok", "accepted: extra_content"),
        ("Responses", "ok", "accepted: reasoning, message, function_call"),
        ("Groq", "absent", "refuses its own state, which it gets no longer: reasoning"),
        ("Anthropic", "ok", "accepted: thinking, redacted_thinking"),
        ("LangChain without blocks", "absent", "LangChain without blocks"),
    ],
)
async def test_state_is_ok_only_where_its_provider_took_it(
    provider: str, status: str, detail: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    server = {**SERVERS, "Groq": GroqServer, "LangChain without blocks": PlainServer}[provider]()
    async with server.serving() as settings:
        model = open_model(server.spec, settings, server.arguments)
        found = {one.name: one for one in await check_model(model)}["reasoning_state"]
        await model.close()
    assert (found.status, detail in found.detail) == (status, True), found


class PlainServer(AnthropicServer):
    """An integration of LangChain's that shows nothing of its provider beside text and calls."""

    def thoughts(self, topic: str, step: int) -> list[dict[str, Any]]:
        return []


LEVERS = ("tool_choice", "strict_tools", "response_format", "stop")


async def test_a_server_that_honours_the_levers(server: ModelServer, model: OpenAIModel) -> None:
    def respond(request: Request) -> Answer:
        body = request.body
        city = (json.dumps(body.get("tools", "")).count("Hanoi") and "Hanoi") or "Oslo"
        if "response_format" in body:
            return Answer(chat('{"answer": "red"}'))
        if "tools" in body:
            return Answer(chat(None, [("get_population", {"city": city})]))
        return Answer(chat("one, two, " if "stop" in body else "one, two, three, four"))

    server.respond = respond
    found = {one.name: one.status for one in await check_model(model)}
    assert [found[name] for name in LEVERS] == ["ok"] * 4


async def test_a_server_that_ignores_or_refuses_the_levers(server: ModelServer, model: OpenAIModel) -> None:
    def ignores(request: Request) -> Answer:
        offered = "tools" in request.body and "tool_choice" not in request.body
        return Answer(chat(None, [("get_population", {"city": "Oslo"})]) if offered else chat("one, two, three, four"))

    def refuses(request: Request) -> Answer:
        for field in {"response_format", "tool_choice", "stop"} & request.body.keys():
            return error(400, f"Unsupported parameter: {field}")
        return ignores(request)

    for respond in (ignores, refuses):
        server.respond = respond
        found = {one.name: one for one in await check_model(model)}
        assert [found[name].status for name in LEVERS] == ["absent"] * 4
    assert "tool_protocol json becomes text" in found["response_format"].detail
