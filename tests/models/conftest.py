from collections.abc import AsyncIterator

import pytest

from graphwalk.models import wrappers
from graphwalk.models.openai import OpenAIModel
from graphwalk.models.registry import open_server
from graphwalk.variables import Variables
from tests.models.server import ModelServer

KEY = "sk-planted-secret-123456"


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between two tries of a call."""
    monkeypatch.setattr(wrappers, "FIRST_WAIT", 0.005)


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as running:
        yield running


@pytest.fixture
def variables(server: ModelServer) -> Variables:
    urls = {"OPENAI_BASE_URL": server.url, "LOCAL_BASE_URL": server.url}
    return Variables({"OPENAI_API_KEY": KEY, "LOCAL_API_KEY": KEY, **urls})


@pytest.fixture
async def model(variables: Variables) -> AsyncIterator[OpenAIModel]:
    opened = open_server("openai-api/local/m", variables)
    yield opened
    await opened.close()


@pytest.fixture
async def reasoning_model(variables: Variables) -> AsyncIterator[OpenAIModel]:
    opened = open_server("openai-responses/o9", variables)
    yield opened
    await opened.close()
