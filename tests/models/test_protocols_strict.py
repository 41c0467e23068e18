"""Required calls and strict schemas of native tools, by a real server."""

import json
from typing import Any

from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from pydantic import Field

from graphwalk.config.agent import AgentConfig
from graphwalk.config.calls import Limits
from graphwalk.models.langchain import LangchainModel
from graphwalk.models.openai import OpenAIModel
from graphwalk.models.wrappers import Cached
from graphwalk.types.chat import CallOptions, ToolSpec
from tests.models.player import ASK, LOOK, in_run
from tests.models.protocol_servers import in_turn
from tests.models.server import ModelServer, chat, responses

REQUIRED = CallOptions(tool_choice="required")
FIND = ToolSpec(
    "find",
    "Finds nodes.",
    {
        "type": "object",
        "properties": {
            "label": {"type": "string"},
            "value": {"type": ["string", "number"]},
            "direction": {"type": "string", "enum": ["in", "out"]},
            "rows": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": ["null", "number"]}}}},
        },
        "required": ["label"],
    },
)
CALL = chat(None, [("look", {"key": "a"})])


def calling(model: Any, **agent: Any) -> Cached:
    config = AgentConfig.model_validate({"tool_protocol": "native", "tool_choice": "required", **agent})
    return in_run(model, Limits(retries=0), config)


async def test_a_call_is_required_by_either_api(
    server: ModelServer, model: OpenAIModel, reasoning_model: OpenAIModel
) -> None:
    def check(body: Any) -> None:
        assert body.get("tool_choice") == ("required" if "tools" in body else None)

    for opened, reply in ((model, CALL), (reasoning_model, responses(None, [("look", {"key": "a"})]))):
        server.respond = in_turn([reply], check)
        got = await calling(opened).complete(ASK, (LOOK,), REQUIRED)
        assert [call.name for call in got.message.tool_calls] == ["look"]
        await opened.complete(ASK, (), REQUIRED)  # with tool_choice alone a server refuses it


async def test_strict_schemas_are_sent_and_nulls_are_left_out(
    server: ModelServer, model: OpenAIModel, reasoning_model: OpenAIModel
) -> None:
    arguments = {"label": "Hik", "value": None, "direction": None, "rows": [{"n": None}]}
    calls = [("find", arguments)]
    for opened, reply in ((model, chat(None, calls)), (reasoning_model, responses(None, calls))):
        server.respond = in_turn([reply], lambda body: None)
        got = await calling(opened, strict_tools=True, tool_choice="auto").complete(ASK, (FIND,), CallOptions())
        assert json.loads(got.message.tool_calls[0].arguments) == {"label": "Hik", "rows": [{"n": None}]}
        tool = server.requests[-1].body["tools"][0]
        function = tool.get("function", tool)
        assert function["strict"] is True
        assert function["parameters"]["required"] == ["label", "value", "direction", "rows"]
        assert function["parameters"]["properties"]["direction"]["enum"] == ["in", "out", None]
        assert function["parameters"]["properties"]["value"]["type"] == ["string", "number", "null"]
        assert function["parameters"]["properties"]["rows"]["items"]["required"] == ["n"]
        assert function["parameters"]["properties"]["rows"]["items"]["additionalProperties"] is False


class Bound(GenericFakeChatModel):
    """A chat model that keeps what it is called with."""

    calls: list[Any] = Field(default_factory=list)

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self.bind(tools=tools, **kwargs)

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Any:
        self.calls.append({"stop": stop, **kwargs})
        return super()._generate(messages, stop, run_manager)


async def test_langchain_is_asked_in_its_own_words() -> None:
    chat_model = Bound(messages=iter([AIMessage('{"answer": "a"}')] * 2))
    model = LangchainModel(chat_model)
    await model.complete(ASK, (LOOK,), CallOptions(tool_choice="required", stop=("\nResult",)))
    schema = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
    await model.complete(ASK, (), CallOptions(response_schema=schema))
    required, held = chat_model.calls
    assert (required["tool_choice"], required["stop"]) == ("any", ["\nResult"])
    assert held["response_format"]["json_schema"]["schema"] == schema
