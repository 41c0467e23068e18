from collections.abc import AsyncIterator

import pytest

from graphwalk.environment import Environment
from graphwalk.models.backends.endpoint import Endpoint
from graphwalk.models.backends.openai_chat import OpenAIChatModel
from graphwalk.models.backends.openai_responses import OpenAIResponsesModel
from tests.models.server import ModelServer

KEY = "sk-planted-secret-123456"


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as running:
        yield running


@pytest.fixture
def environment(server: ModelServer) -> Environment:
    return Environment({"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": server.url, "LOCAL_BASE_URL": server.url})


@pytest.fixture
async def model(server: ModelServer, environment: Environment) -> AsyncIterator[OpenAIChatModel]:
    opened = OpenAIChatModel("openai-api/local/m", Endpoint(server.url, KEY), "m")
    yield opened
    await opened.close()


@pytest.fixture
async def reasoning_model(server: ModelServer, environment: Environment) -> AsyncIterator[OpenAIResponsesModel]:
    opened = OpenAIResponsesModel("openai/o9", Endpoint(server.url, KEY), "o9")
    yield opened
    await opened.close()
