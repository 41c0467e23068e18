"""LangChain chat models behind our protocol; no type of LangChain's comes out."""

from typing import Any

import pytest

pytest.importorskip("langchain_core")

from langchain_core.language_models import FakeListChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import Field

from graphwalk.errors import ConfigError, ModelError
from graphwalk.models.chat import CallOptions, Message, Reply, ToolCall, Usage
from graphwalk.models.langchain import LangchainModel, from_langchain, to_state
from graphwalk.models.registry import open_model
from graphwalk.variables import Variables
from tests.models.player import ASK, LOOK


class ToolChat(GenericFakeChatModel):
    """A GenericFakeChatModel that records its messages and accepts tools."""

    seen: list[Any] = Field(default_factory=list)

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self.bind(tools=tools, **kwargs)

    def _generate(self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Any:
        self.seen.append((messages, kwargs))
        return ChatResult(generations=[ChatGeneration(message=next(self.messages))])  # type: ignore[arg-type]


def calling() -> AIMessage:
    return AIMessage(
        [{"type": "thinking", "thinking": "hm", "signature": "s1"}, {"type": "text", "text": "let me see"}],
        tool_calls=[{"id": "1", "name": "look", "args": {"key": "a"}}],
        invalid_tool_calls=[{"id": "2", "name": "look", "args": "{", "error": "x", "type": "invalid_tool_call"}],
        usage_metadata={"input_tokens": 7, "output_tokens": 3, "total_tokens": 10},
        response_metadata={"finish_reason": "tool_calls", "model_name": "m-1"},
    )


async def test_a_conversation_with_tools() -> None:
    chat = ToolChat(messages=iter([calling(), AIMessage("done")]))
    model = LangchainModel(chat)
    reply = await model.complete(ASK, (LOOK,), CallOptions(temperature=0.5, parallel_tool_calls=False))
    calls = (ToolCall("1", "look", '{"key": "a"}'), ToolCall("2", "look", "{"))
    message = Message("assistant", "let me see", calls, reasoning="hm", provider_state=reply.message.provider_state)
    assert reply == Reply(message, Usage(7, 3), "tool_calls", reply.seconds, "m-1")
    assert from_langchain(to_state(reply)) == message, "the tools see the arguments as the model wrote them"
    kwargs = chat.seen[0][1]
    assert (kwargs["temperature"], kwargs["parallel_tool_calls"], len(kwargs["tools"])) == (0.5, False, 1)
    history = [Message("system", "s"), *ASK, reply.message, Message("tool", "seen", tool_call_id="1")]
    assert (await model.complete(history, (), CallOptions())).message.content == "done"
    assert [message.type for message in chat.seen[1][0]] == ["system", "human", "ai", "tool"]
    assert chat.seen[1][0][2].content == calling().content, "content blocks are state, and sent back as they came"
    await model.close()


async def test_long_arguments_are_sent_back_shortened() -> None:
    call = {"id": "1", "name": "look", "args": {"key": "x" * 2_000_000}}
    chat = ToolChat(messages=iter([AIMessage("", tool_calls=[call]), AIMessage("done")]))
    model = LangchainModel(chat)
    reply = await model.complete(ASK, (LOOK,), CallOptions())
    history = [*ASK, reply.message, Message("tool", "seen", tool_call_id="1")]
    await model.complete(history, (LOOK,), CallOptions())
    assert len(str(chat.seen[1][0])) < 10_000


async def test_failures() -> None:
    class RefusedError(RuntimeError):
        status_code = 429
        response = type("Response", (), {"headers": {"retry-after": "2"}})

    for raised, retryable, after in (
        (RefusedError("x"), True, 2.0),
        (ValueError("x"), False, None),
        (OSError(), True, None),
    ):

        class Failing(FakeListChatModel):
            def _call(self, *args: Any, **kwargs: Any) -> str:
                raise raised  # noqa: B023

        with pytest.raises(ModelError) as failure:
            await LangchainModel(Failing(responses=["x"])).complete(ASK, (), CallOptions())
        assert (failure.value.retryable, failure.value.retry_after) == (retryable, after)


async def test_model_without_tools_is_an_error() -> None:
    with pytest.raises(ModelError, match="cannot call tools") as failure:
        await LangchainModel(FakeListChatModel(responses=["x"])).complete(ASK, (LOOK,), CallOptions())
    assert "tool_format" in failure.value.hint


async def test_the_arguments_of_its_class_are_given_by_name() -> None:
    name = "langchain/langchain_core.language_models.FakeListChatModel/any"
    model = open_model(name, Variables(), {"responses": ["said so"], "sleep": None})
    assert (await model.complete(ASK, (), CallOptions())).message.content == "said so"
    with pytest.raises(ConfigError, match="responses"):
        open_model(name, Variables(), {"sleep": None})


async def test_options_have_the_names_of_langchain() -> None:
    chat = ToolChat(messages=iter([AIMessage("a"), AIMessage("b")]))
    model = LangchainModel(chat)
    await model.complete(ASK, (LOOK,), CallOptions(tool_choice="required"))
    schema = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
    await model.complete(ASK, (), CallOptions(response_schema=schema))
    assert chat.seen[0][1]["tool_choice"] == "any"
    assert chat.seen[1][1]["response_format"]["json_schema"]["schema"] == schema
