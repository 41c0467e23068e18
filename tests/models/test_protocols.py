"""Required calls and strict schemas of native tools, by both APIs."""

import pytest

from graphwalk.config.agent import AgentConfig, Limits
from graphwalk.models.chat import CallOptions, ToolSpec
from graphwalk.models.openai import OpenAIModel
from tests.models.player import ASK, LOOK, in_run
from tests.models.server import ModelServer

FIND = ToolSpec(
    "find",
    "Finds nodes.",
    {
        "type": "object",
        "properties": {
            "label": {"type": "string"},
            "direction": {"type": "string", "enum": ["in", "out"]},
            "rows": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": ["null", "number"]}}}},
        },
        "required": ["label", "rows"],
    },
)


@pytest.fixture(params=["chat", "responses"])
def either(request: pytest.FixtureRequest, model: OpenAIModel, reasoning_model: OpenAIModel) -> OpenAIModel:
    return model if request.param == "chat" else reasoning_model


async def test_a_call_is_required_where_tools_are_offered(server: ModelServer, either: OpenAIModel) -> None:
    for tools in ((LOOK,), ()):  # with tool_choice alone a server refuses it
        await either.complete(ASK, tools, CallOptions(tool_choice="required"))
    assert [request.body.get("tool_choice") for request in server.requests] == ["required", None]


async def test_strict_schemas_are_sent(server: ModelServer, either: OpenAIModel) -> None:
    config = AgentConfig(tool_protocol="native", strict_tools=True)
    await in_run(either, Limits(retries=0), config).complete(ASK, (FIND,), CallOptions())
    tool = server.requests[0].body["tools"][0]
    function = tool.get("function", tool)
    parameters, item = function["parameters"], function["parameters"]["properties"]["rows"]["items"]
    assert function["strict"] is True
    for strict in (parameters, item):
        assert strict["required"] == [*strict["properties"]]
        assert strict["additionalProperties"] is False
    direction = {"type": "string", "enum": ["in", "out"]}
    assert parameters["properties"]["direction"] == {"anyOf": [direction, {"type": "null"}]}
