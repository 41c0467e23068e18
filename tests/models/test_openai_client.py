"""The requests of the `openai` package's client as we open it: headers, addresses, proxies, redirects, connections."""

import asyncio
from collections.abc import AsyncIterator

import openai
import pytest

from graphwalk.errors import ModelError
from graphwalk.models.openai import OpenAIModel
from graphwalk.models.openai_servers import openai_chat, openai_model
from graphwalk.models.registry import open_model
from graphwalk.settings import Settings
from graphwalk.types.chat import CallOptions
from graphwalk.version import __version__
from tests.models.conftest import KEY
from tests.models.player import ASK
from tests.models.server import Answer, ModelServer, Request, chat, error

PLANTED = "planted-path-key"


async def request_to(url: str, server: ModelServer) -> Request:
    """Return the request of one call to `url`."""
    model = open_model("openai-api/near/m", Settings({"NEAR_BASE_URL": url, "NEAR_API_KEY": KEY}))
    try:
        await model.complete(ASK, (), CallOptions())
    finally:
        await model.close()
    return server.requests[-1]


async def failure(model: OpenAIModel, server: ModelServer, answer: Answer) -> ModelError:
    server.respond = lambda _: answer
    with pytest.raises(ModelError) as failed:
        await model.complete(ASK, (), CallOptions())
    return failed.value


async def test_a_request(server: ModelServer) -> None:
    request = await request_to(server.url, server)
    assert request.path == "/v1/chat/completions"
    assert request.body == {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.headers["content-type"] == "application/json"
    assert request.headers["user-agent"] == f"graphwalk/{__version__}"
    assert request.headers["accept-encoding"] == "gzip, deflate"


async def test_a_query_in_the_address_is_sent(server: ModelServer) -> None:
    request = await request_to(f"{server.url}/?version=2&tier=a%20b", server)
    assert request.path in (f"/v1/chat/completions?version=2&tier={space}" for space in ("a%20b", "a+b"))
    assert request.headers["authorization"] == f"Bearer {KEY}"


async def test_a_user_in_the_address_is_sent_in_place_of_the_key(server: ModelServer) -> None:
    request = await request_to(server.url.replace("//", "//me:pass%20word@") + "?version=2", server)
    assert request.path == "/v1/chat/completions?version=2"
    assert request.headers["authorization"] == "Basic bWU6cGFzcyB3b3Jk"


@pytest.mark.parametrize(
    "location",
    ["http://127.0.0.1:9/", "/v1/chat/completions", "http://[::1", "ftp://127.0.0.1/", "", "\x00", "http://a b:c/"],
    ids=["closed port", "circle", "no address", "no HTTP", "empty", "control character", "no port"],
)
async def test_a_redirect_to_nowhere_fails(model: OpenAIModel, server: ModelServer, location: str) -> None:
    failed = await failure(model, server, Answer(b"", 307, {"location": location}))
    assert server.url.split("/")[2] in str(failed)


async def test_connections_are_kept_and_as_many_as_calls_in_flight(model: OpenAIModel, server: ModelServer) -> None:
    server.respond = lambda _: Answer(chat("x"), delay=0.5)
    await asyncio.gather(*(model.complete(ASK, (), CallOptions()) for _ in range(200)))
    opened = server.connections
    # The first calls may be answered before the last ones are sent, where the machine is busy.
    assert opened >= max_in_flight(server.requests, 0.5)
    server.respond = lambda _: Answer(chat("x"))
    for _ in range(50):
        await model.complete(ASK, (), CallOptions())
    assert server.connections == opened


def max_in_flight(requests: list[Request], delay: float) -> int:
    """Return the most requests that waited for an answer at a time."""
    return max(sum(0 <= request.time - other.time < delay for other in requests) for request in requests)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Answer(b"<p>gone</p>", 500), "answered 500: <p>gone</p>"),
        (Answer(b'{"error": null}', 500), 'answered 500: {"error": null}'),
        (Answer(b"[" * 5000, 500), "answered 500: [["),
        (Answer(b"\xff gone", 500), "answered 500: \N{REPLACEMENT CHARACTER} gone"),
        (Answer(b"", 500), "answered 500: no reason given"),
        (error(404, "no model m"), "answered 404: no model m"),
    ],
    ids=["page", "null", "deep", "bytes", "empty", "JSON"],
)
async def test_failure_quotes_the_server(model: OpenAIModel, server: ModelServer, answer: Answer, said: str) -> None:
    assert said in str(await failure(model, server, answer))


async def test_a_web_page_is_not_asked_for_again(model: OpenAIModel, server: ModelServer) -> None:
    page = Answer(b"<!doctype html><p>Welcome", headers={"content-type": "text/html; charset=utf-8"})
    failed = await failure(model, server, page)
    assert not failed.retryable
    assert "check the base URL" in failed.hint
    assert "answered 200" in str(failed)
    assert "<!doctype html><p>Welcome" in str(failed)
    assert len(server.requests) == 1


FAILURES: dict[str, Answer] = {
    "refused": error(401, "no"),
    "page": Answer(b"<p>", headers={"content-type": "text/html"}),
    "broken": Answer(b"{"),
    "reset": Answer(b"{", then="reset"),
    "redirect to nowhere": Answer(b"", 307, {"location": "http://127.0.0.1:9/"}),
}


@pytest.fixture
async def hidden(server: ModelServer) -> AsyncIterator[OpenAIModel]:
    """A model whose address and key are secrets."""
    address = server.url.removesuffix("/v1") + f"/{PLANTED}/v1?key={PLANTED}"
    opened = openai_chat("m", Settings({"OPENAI_BASE_URL": address, "OPENAI_API_KEY": KEY}))
    yield opened
    await opened.close()


@pytest.mark.parametrize("answer", [*FAILURES.values(), None], ids=[*FAILURES, "no server"])
async def test_an_error_names_the_host_and_neither_path_nor_key(
    hidden: OpenAIModel, server: ModelServer, answer: Answer | None
) -> None:
    if answer is None:
        await server.stop()
    failed = await failure(hidden, server, answer or Answer())
    assert server.url.split("/")[2] in str(failed)
    assert not any(secret in f"{failed} {failed.hint}" for secret in (PLANTED, KEY))


async def test_malformed_http_is_retryable(model: OpenAIModel, server: ModelServer) -> None:
    """The body of an answer that has none by its status is read as the start of the next answer."""
    failures = [await failure(model, server, Answer(b"nonsense" * 100, 204)) for _ in range(3)]
    assert [failed.retryable for failed in failures] == [True] * 3


async def test_a_key_given_in_code_is_not_repeated(server: ModelServer) -> None:
    key = "sk-proj-given-in-code-123"
    server.respond = lambda request: error(401, f"Invalid key {request.headers['authorization']}")
    async with openai.AsyncOpenAI(api_key=key, base_url=server.url) as client:
        with pytest.raises(ModelError, match="Invalid key") as caught:
            await openai_model(client, "m").complete(ASK, (), CallOptions())
    assert key not in str(caught.value)
