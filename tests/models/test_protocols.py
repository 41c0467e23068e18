"""Required calls of native tools, by both APIs."""

import pytest

from graphwalk.models.chat import CallOptions
from graphwalk.models.openai import OpenAIModel
from tests.models.player import ASK, LOOK
from tests.models.server import ModelServer


@pytest.fixture(params=["chat", "responses"])
def either(request: pytest.FixtureRequest, model: OpenAIModel, reasoning_model: OpenAIModel) -> OpenAIModel:
    return model if request.param == "chat" else reasoning_model


async def test_a_call_is_required_where_tools_are_offered(server: ModelServer, either: OpenAIModel) -> None:
    for tools in ((LOOK,), ()):  # with tool_choice alone a server refuses it
        await either.complete(ASK, tools, CallOptions(tool_choice="required"))
    assert [request.body.get("tool_choice") for request in server.requests] == ["required", None]
