from collections.abc import AsyncIterator

import pytest

from graphwalk.models.backends.endpoint import Endpoint
from graphwalk.models.backends.openai_chat import OpenAIChatModel
from graphwalk.models.backends.openai_responses import OpenAIResponsesModel
from graphwalk.settings import Settings
from tests.models.server import ModelServer

KEY = "sk-planted-secret-123456"


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as running:
        yield running


@pytest.fixture
def settings(server: ModelServer) -> Settings:
    return Settings({"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": server.url, "LOCAL_BASE_URL": server.url})


@pytest.fixture
async def model(server: ModelServer, settings: Settings) -> AsyncIterator[OpenAIChatModel]:
    opened = OpenAIChatModel("openai-api/local/m", Endpoint(server.url, KEY, settings), "m")
    yield opened
    await opened.close()


@pytest.fixture
async def reasoning_model(server: ModelServer, settings: Settings) -> AsyncIterator[OpenAIResponsesModel]:
    opened = OpenAIResponsesModel("openai/o9", Endpoint(server.url, KEY, settings), "o9")
    yield opened
    await opened.close()
