"""What every request carries, and the ways it takes: keys, users in addresses, proxies, connections that are kept."""

import asyncio

import openai
import pytest

from graphwalk.environment import Environment
from graphwalk.models.backends.endpoint import Endpoint
from graphwalk.models.registry import open_model
from graphwalk.types.chat import CallOptions
from tests.models.player import ASK
from tests.models.server import Answer, ModelServer, Request, chat, error

MEMBER = {"OPENAI_API_KEY": "sk-key-1234567890", "OPENAI_ORG_ID": "org-1", "OPENAI_PROJECT_ID": "proj-1"}


@pytest.fixture
def proxied(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> ModelServer:
    """The server as the proxy for all but this machine."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv("http_proxy", server.url.removesuffix("/v1"))
    monkeypatch.setenv("no_proxy", "127.0.0.1,localhost")
    return server


async def sent(url: str, server: ModelServer) -> Request:
    endpoint = Endpoint(url, "a-key")
    await endpoint.post("/chat/completions", {"n": 1})
    await endpoint.close()
    return server.requests[-1]


async def test_what_is_sent(server: ModelServer) -> None:
    request = await sent(server.url, server)
    assert request.path == "/v1/chat/completions"
    assert request.raw == b'{"n":1}'
    assert request.headers["authorization"] == "Bearer a-key"
    assert request.headers["content-type"] == "application/json"


async def test_who_asks_is_said_as_the_client_of_openai_says_it(server: ModelServer) -> None:
    """Of the version that is installed; `make openai` asks the oldest one."""
    model = open_model("openai-api/near/m", Environment({"NEAR_BASE_URL": server.url, "NEAR_API_KEY": "a-key"}))
    await model.complete(ASK, (), CallOptions())
    await model.close()
    headers = server.requests[-1].headers
    assert headers["authorization"] == "Bearer a-key"
    assert headers["user-agent"] == f"OpenAI/Python {openai.__version__}"
    assert headers["accept-encoding"] == "gzip, deflate"


async def test_a_user_and_a_query_in_the_address_are_sent(server: ModelServer) -> None:
    request = await sent(server.url.replace("//", "//me:pass%20word@") + "/?version=2", server)
    assert request.path == "/v1/chat/completions?version=2"
    assert request.headers["authorization"] == "Basic bWU6cGFzcyB3b3Jk"


async def test_proxies_of_the_environment_are_used(proxied: ModelServer) -> None:
    assert (await sent("http://models.test/v1", proxied)).path == "http://models.test/v1/chat/completions"
    assert (await sent(proxied.url, proxied)).path == "/v1/chat/completions"


async def test_whom_to_bill_is_told_to_openai_and_to_nobody_else(proxied: ModelServer) -> None:
    for address, told in (("http://api.openai.com/v1", ("org-1", "proj-1")), (proxied.url, (None, None))):
        model = open_model("openai-chat/m", Environment({**MEMBER, "OPENAI_BASE_URL": address}))
        await model.complete(ASK, (), CallOptions())
        await model.close()
        headers = proxied.requests[-1].headers
        assert (headers.get("openai-organization"), headers.get("openai-project")) == told


async def test_connections_are_kept_and_as_many_as_calls_under_way(server: ModelServer) -> None:
    server.respond = lambda _: Answer(chat("x"), delay=0.05)
    endpoint = Endpoint(server.url, "key")
    for _ in range(3):
        await asyncio.gather(*(endpoint.post("/chat/completions", {}) for _ in range(200)))
        assert server.connections == 200
    await endpoint.close()


async def test_a_failure_without_json_says_its_text(server: ModelServer) -> None:
    endpoint = Endpoint(server.url, "key")
    for answer, said in (
        (Answer(b"<p>gone</p>", 500), "answered 500: <p>gone</p>"),
        (Answer(b'{"error": null}', 500), 'answered 500: {"error": null}'),
        (Answer(b"[" * 5000, 500), r"answered 500: \[\["),
        (error(404, "no model m"), "answered 404: no model m"),
    ):
        server.respond = lambda _, answer=answer: answer  # type: ignore[misc]
        with pytest.raises(Exception, match=said.replace("{", r"\{")):
            await endpoint.post("/chat/completions", {})
    await endpoint.close()
