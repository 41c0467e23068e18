"""The requests of the `openai` package's client as we open it: addresses, headers and proxies."""

import gzip
import json
from typing import Any

import pytest
from openai import AsyncAzureOpenAI, AsyncOpenAI

from graphwalk.errors import ConfigError, ModelError
from graphwalk.models import registry
from graphwalk.models.chat import CallOptions
from graphwalk.models.registry import open_model, openai_model
from graphwalk.variables import Variables
from graphwalk.version import __version__
from tests.models.conftest import KEY
from tests.models.player import ASK
from tests.models.server import Answer, ModelServer, chat

BEARER = f"Bearer {KEY}"


async def ask(url: str, spec: str = "openai-api/far/m", variables: dict[str, str] | None = None, **named: Any) -> str:
    prefix = "FAR" if spec == "openai-api/far/m" else "OPENAI"
    own = {f"{prefix}_BASE_URL": url, f"{prefix}_API_KEY": KEY}
    model = open_model(spec, Variables({**own, **(variables or {})}), named)
    try:
        return (await model.complete(ASK, (), CallOptions())).message.content or ""
    finally:
        await model.close()


@pytest.mark.parametrize(
    ("user", "query", "path", "authorization"),
    [
        ("", "/?version=2&tier=a%20b", "?version=2&tier=a+b", BEARER),
        ("me:pass%20word@", "?version=2", "?version=2", "Basic bWU6cGFzcyB3b3Jk"),
    ],
    ids=["query", "user in place of the key"],
)
async def test_a_request(server: ModelServer, user: str, query: str, path: str, authorization: str) -> None:
    assert await ask(server.url.replace("//", f"//{user}") + query) == "hello"
    (request,) = server.requests
    assert request.path.replace("%20", "+") == f"/v1/chat/completions{path}"
    assert request.body == {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
    headers = {"authorization": authorization, "content-type": "application/json"}
    headers["user-agent"] = f"graphwalk/{__version__}"
    assert {name: request.headers[name] for name in headers} == headers


@pytest.mark.parametrize(
    ("status", "kind", "start"),
    [(200, "application/json", b""), (200, "text/event-stream", b"data: "), (500, "text/plain", b"")],
)
async def test_a_reply_is_bounded_after_it_is_decompressed(
    status: int, kind: str, start: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "LONGEST_REPLY", 1 << 20)
    body = gzip.compress(start + json.dumps(chat("a" * (1 << 24))).encode() + b"\n\n")
    headers = {"Content-Encoding": "gzip", "Content-Type": kind}
    async with ModelServer(lambda request: Answer(body, status, headers)) as server:
        with pytest.raises(ModelError, match=r"127\.0\.0\.1 sent a reply of more than 1 MiB") as error:
            await ask(server.url)
    assert not error.value.retryable
    assert not error.value.context_overflow


# The server of these tests is a proxy for plain HTTP too: it gets the whole address as the path of a request.

FAR = "http://models.example:8123/v1"
MEMBER = {"OPENAI_ORG_ID": "org-1", "OPENAI_PROJECT_ID": "proj-1"}


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start without the proxies of this machine."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.mark.parametrize("login", ["", "me:pass%20word@"])
async def test_an_http_proxy_gets_the_request(server: ModelServer, monkeypatch: pytest.MonkeyPatch, login: str) -> None:
    monkeypatch.setenv("HTTP_PROXY", server.url.removesuffix("/v1").replace("//", f"//{login}"))
    await ask(FAR)
    (request,) = server.requests
    assert request.path == "http://models.example:8123/v1/chat/completions"
    assert request.headers["authorization"] == BEARER
    assert request.headers.get("proxy-authorization") == ("Basic bWU6cGFzcyB3b3Jk" if login else None)


async def test_a_server_on_this_machine_is_reached_directly(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    assert await ask(server.url) == await ask(server.url.replace("127.0.0.1", "localhost")) == "hello"


async def test_a_proxy_that_fails_is_an_error_without_its_login(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://me:secret-password@127.0.0.1:9")
    with pytest.raises(ModelError, match=r"no whole reply from models\.example") as failed:
        await ask(FAR)
    assert failed.value.retryable
    assert "secret-password" not in str(failed.value)


async def test_organisation_and_project_are_for_openai_alone_unless_given(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", server.url.removesuffix("/v1"))
    for address in ("http://api.openai.com/v1", "http://models.example/v1"):
        await ask(address, "openai-chat/m", MEMBER)
    await ask(FAR, variables=MEMBER)
    headers = {"X-Team": "graphs", "User-Agent": "mine/1"}
    await ask(server.url, organization="org-2", project="proj-2", default_headers=headers)
    names = ("openai-organization", "openai-project")
    sent = [tuple(request.headers.get(name) for name in names) for request in server.requests]
    assert sent == [("org-1", "proj-1"), (None, None), (None, None), ("org-2", "proj-2")]
    assert (server.requests[-1].headers["x-team"], server.requests[-1].headers["user-agent"]) == ("graphs", "mine/1")


async def test_a_client_of_your_own_is_called_and_not_closed(server: ModelServer) -> None:
    async with AsyncOpenAI(api_key=KEY, base_url=server.url) as client:
        model = openai_model(client, "m")
        assert (await model.complete(ASK, (), CallOptions())).message.content == "hello"
        await model.close()
        assert not client.is_closed()
    with pytest.raises(ConfigError, match="str is not an AsyncOpenAI client"):
        openai_model("m", "m")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("variables", "path", "header"),
    [
        ({}, "/openai/v1/chat/completions", "authorization"),
        ({"OPENAI_API_VERSION": "preview"}, "/openai/v1/chat/completions?api-version=preview", "authorization"),
        (
            {"OPENAI_API_VERSION": "2024-10-21"},
            "/openai/deployments/my-d/chat/completions?api-version=2024-10-21",
            "api-key",
        ),
    ],
)
async def test_the_endpoint_of_azure(server: ModelServer, variables: dict[str, str], path: str, header: str) -> None:
    endpoint = server.url.removesuffix("v1")
    own = {"AZURE_OPENAI_ENDPOINT": endpoint, "AZURE_OPENAI_API_KEY": KEY}
    model = open_model("azure/my-d", Variables({**own, **variables}))
    assert (await model.complete(ASK, (), CallOptions())).message.content == "hello"
    await model.close()
    (request,) = server.requests
    assert request.path == path
    assert request.headers[header] == (KEY if header == "api-key" else BEARER)
    assert request.body["model"] == "my-d"


async def test_a_client_of_azure_with_tokens_of_entra(server: ModelServer) -> None:
    async def token() -> str:
        return "entra-token-1"

    async with AsyncAzureOpenAI(
        azure_ad_token_provider=token, azure_endpoint=server.url.removesuffix("/v1"), api_version="2024-10-21"
    ) as client:
        model = openai_model(client, "my-d")
        assert (await model.complete(ASK, (), CallOptions())).message.content == "hello"
    (request,) = server.requests
    assert request.path == "/openai/deployments/my-d/chat/completions?api-version=2024-10-21"
    assert request.headers["authorization"] == "Bearer entra-token-1"


async def test_a_file_of_certificates_that_cannot_be_read_is_named(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/no/such/file.pem")
    with pytest.raises(ConfigError, match=r"SSL_CERT_FILE \(/no/such/file.pem\) cannot be read"):
        await ask(server.url)
