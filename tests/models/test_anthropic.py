"""LangChain's own ChatAnthropic against a server that wants its thinking blocks and their signatures back."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from graphwalk.errors import ConfigError, ModelError
from graphwalk.models.registry import open_model
from graphwalk.settings import Settings
from graphwalk.types.chat import CallOptions, Message, Reply
from graphwalk.types.wire import from_dict, to_dict
from tests.models.player import LOOK
from tests.models.server import Answer, ModelServer, Request

pytest.importorskip("langchain_anthropic")

NAME = "langchain/langchain_anthropic.ChatAnthropic/claude-opus-4-5"
BLOCKS: list[dict[str, Any]] = [
    {"type": "thinking", "thinking": "First I look.", "signature": "c2lnbmF0dXJl"},
    {"type": "redacted_thinking", "data": "cmVkYWN0ZWQ="},
    {"type": "text", "text": "I look."},
    {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"key": "a"}},
]


def respond(request: Request) -> Answer:
    """Call a tool; answer only where the blocks come back as they were."""
    messages = request.body["messages"]
    if len(messages) == 1:
        content: Any = BLOCKS
    elif messages[1]["content"] == BLOCKS:
        content = [{"type": "text", "text": "done"}]
    else:
        said = "messages.1.content.0: `thinking` blocks in the latest assistant message cannot be modified"
        return Answer({"type": "error", "error": {"type": "invalid_request_error", "message": said}}, 400)
    usage = {"input_tokens": 10, "output_tokens": 5}
    body = {"id": "m1", "type": "message", "role": "assistant", "model": "claude-opus-4-5", "content": content}
    return Answer({**body, "stop_reason": "end_turn", "stop_sequence": None, "usage": usage})


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ModelServer]:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-planted-1234567890")
    async with ModelServer(respond) as running:
        yield running


async def second_turn(server: ModelServer, change: Any = None) -> tuple[Message, Reply]:
    arguments = {"base_url": server.url.removesuffix("/v1"), "max_retries": 0}
    model: Any = open_model(NAME, Settings(), arguments)
    asked = Message("user", "Look at a.")
    first = (await model.complete([asked], (LOOK,), CallOptions())).message
    logged = from_dict(Message, to_dict(first))
    if change is not None:
        change(logged.provider_state)
    found = Message("tool", "nothing", tool_call_id="toolu_1")
    try:
        return logged, await model.complete([asked, logged, found], (LOOK,), CallOptions())
    finally:
        await model.inner._chat_model._async_client.close()


async def test_thinking_blocks_come_back_after_they_were_logged(server: ModelServer) -> None:
    first, reply = await second_turn(server)
    assert (first.content, first.reasoning) == ("I look.", "First I look.")
    assert [(call.id, call.name, call.arguments) for call in first.tool_calls] == [("toolu_1", "look", '{"key": "a"}')]
    assert reply.message.content == "done"
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (10, 5)


async def test_a_changed_signature_is_refused(server: ModelServer) -> None:
    def change(state: Any) -> None:
        state["message"]["content"][0]["signature"] = "b3RoZXI="

    with pytest.raises(ModelError, match="cannot be modified"):
        await second_turn(server, change)


def test_a_class_that_cannot_be_imported_names_the_package() -> None:
    with pytest.raises(ConfigError) as caught:
        open_model("langchain/langchain_nowhere.ChatNowhere/m", Settings())
    assert caught.value.hint == "pip install langchain-nowhere"


def test_a_missing_key_names_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("langchain_openai")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ConfigError) as caught:
        open_model("langchain/langchain_openai.ChatOpenAI/gpt-4.1-mini", Settings())
    assert caught.value.hint == "export OPENAI_API_KEY=…"
