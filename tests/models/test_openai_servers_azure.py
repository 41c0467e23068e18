"""Azure: paths, keys and Entra tokens, at a local server."""

import pytest

from graphwalk.errors import ConfigError
from graphwalk.models.registry import open_model
from graphwalk.types.chat import CallOptions, Message
from graphwalk.variables import Variables
from tests.models.player import ASK, LOOK
from tests.models.server import ModelServer

KEY = "azure-key-0123456789"
VERSION = "2025-04-01-preview"


def azure(server: ModelServer, **variables: str) -> Variables:
    address = server.url.removesuffix("/v1")
    return Variables({"AZURE_OPENAI_ENDPOINT": address, "OPENAI_API_VERSION": VERSION, **variables})


async def asked(variables: Variables) -> Message:
    model = open_model("azure/my-deployment", variables)
    try:
        return (await model.complete(ASK, (LOOK,), CallOptions(max_output_tokens=9))).message
    finally:
        await model.close()


async def test_path_version_and_key(server: ModelServer) -> None:
    assert (await asked(azure(server, AZURE_OPENAI_API_KEY=KEY))).content == "hello"
    (request,) = server.requests
    assert request.path == f"/openai/deployments/my-deployment/chat/completions?api-version={VERSION}"
    assert request.headers["api-key"] == KEY
    assert "authorization" not in request.headers
    assert request.headers["user-agent"].startswith("graphwalk/")
    assert request.body["messages"] == [{"role": "user", "content": "hi"}]
    assert request.body["max_completion_tokens"] == 9
    assert "max_tokens" not in request.body


async def test_a_token_of_the_environment_comes_before_a_key(server: ModelServer) -> None:
    await asked(azure(server, AZURE_OPENAI_AD_TOKEN="entra-token-1", AZURE_OPENAI_API_KEY=KEY))
    headers = server.requests[0].headers
    assert headers["authorization"] == "Bearer entra-token-1"
    assert KEY not in str(headers)


@pytest.mark.parametrize("missing", ["OPENAI_API_VERSION", "AZURE_OPENAI_API_KEY"])
async def test_a_missing_variable_is_named(server: ModelServer, missing: str) -> None:
    variables = dict(azure(server, AZURE_OPENAI_API_KEY=KEY).values)
    del variables[missing]
    with pytest.raises(ConfigError, match=f"^{missing} is not set") as refused:
        open_model("azure/d", Variables(variables))
    assert missing in refused.value.hint
    assert KEY not in str(refused.value)


def test_key_is_not_sent_to_an_endpoint_of_the_folder(server: ModelServer) -> None:
    """`.env` of a foreign repository names the endpoint, the user's own environment the key."""
    variables = azure(server, AZURE_OPENAI_API_KEY=KEY).values
    with pytest.raises(ConfigError, match=r"AZURE_OPENAI_ENDPOINT, which is set by the \.env file"):
        open_model("azure/d", Variables(variables, frozenset({"AZURE_OPENAI_ENDPOINT"})))
