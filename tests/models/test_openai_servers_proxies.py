"""Proxies of the environment, and what every request carries: headers, organisation, project, user agent.

The proxies run on this machine and forward to the local server, whatever host is asked for. So the host's name may be
made up, and nothing is resolved here.
"""

import asyncio
import socket
import struct
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pytest

from graphwalk.errors import ConfigError, ModelError
from graphwalk.models.registry import open_model
from graphwalk.settings import Settings
from graphwalk.types.chat import CallOptions
from graphwalk.version import __version__
from tests.models.player import ASK
from tests.models.server import Answer, ModelServer, Request, chat, error

ADDRESS = "http://models.example/v1"
PROXY_VARIABLES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
KEY = "sk-key-1234567890"


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start without the proxies of this machine."""
    for name in PROXY_VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@dataclass
class Proxy:
    """A proxy on loopback. `asked` are the hosts and ports that it was to reach."""

    url: str = ""
    asked: list[str] = field(default_factory=list)
    logins: list[str] = field(default_factory=list)


Pair = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Greet = Callable[[Proxy, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[bytes]]


async def greet_http(proxy: Proxy, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
    """Read the first request, or answer CONNECT. Return what the target is sent first."""
    head = await reader.readuntil(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    method, target, _ = lines[0].split(" ", 2)
    proxy.logins += [line.partition(": ")[2] for line in lines if line.lower().startswith("proxy-authorization")]
    if method == "CONNECT":
        proxy.asked.append(target)
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        return b""
    url = urlsplit(target)
    proxy.asked.append(f"{url.hostname}:{url.port or 80}")
    return head.replace(target.encode(), f"{url.path}{'?' if url.query else ''}{url.query}".encode(), 1)


async def greet_socks(proxy: Proxy, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
    """Speak SOCKS 5 (RFC 1928), with name and password (RFC 1929) where the client offers them."""
    _, number = await reader.readexactly(2)
    method = 2 if 2 in await reader.readexactly(number) else 0
    writer.write(bytes([5, method]))
    if method == 2:
        login = []
        await reader.readexactly(1)
        for _ in range(2):
            login.append(await reader.readexactly((await reader.readexactly(1))[0]))
        proxy.logins.append(b":".join(login).decode())
        writer.write(b"\x01\x00")
    _, _, _, kind = await reader.readexactly(4)
    length = {1: 4, 4: 16}.get(kind) or (await reader.readexactly(1))[0]
    host = (await reader.readexactly(length)).decode()
    (port,) = struct.unpack("!H", await reader.readexactly(2))
    proxy.asked.append(f"{host}:{port}")
    writer.write(b"\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00")
    return b""


@asynccontextmanager
async def proxy_to(server: ModelServer, greet: Greet, scheme: str, user: str = "") -> AsyncIterator[Proxy]:
    """Run a proxy whose every connection ends at the server."""
    proxy, tasks = Proxy(), set[asyncio.Task[Any]]()

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.current_task())  # type: ignore[arg-type]
        far_writer = None
        try:
            first = await greet(proxy, reader, writer)
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", urlsplit(server.url).port)
            far_writer.write(first)
            ways = {
                asyncio.ensure_future(pass_on(reader, far_writer)),
                asyncio.ensure_future(pass_on(far_reader, writer)),
            }
            tasks.update(ways)
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            for end in (writer, far_writer):
                if end is not None:
                    end.transport.abort()

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    proxy.url = f"{scheme}://{user}127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    try:
        yield proxy
    finally:
        listening.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def elsewhere(address: str = ADDRESS, **more: str) -> Settings:
    return Settings({"FAR_BASE_URL": address, "FAR_API_KEY": KEY, **more})


async def ask(settings: Settings, spec: str = "openai-api/far/m", times: int = 1, **arguments: Any) -> str | None:
    model = open_model(spec, settings, arguments)
    try:
        return [(await model.complete(ASK, (), CallOptions())).message.content for _ in range(times)][-1]
    finally:
        await model.close()


# Proxies.


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"])
async def test_an_http_proxy_is_used(server: ModelServer, monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    async with proxy_to(server, greet_http, "http") as proxy:
        monkeypatch.setenv(variable, proxy.url)
        assert await ask(elsewhere(), times=2) == "hello"
    assert set(proxy.asked) == {"models.example:80"}
    assert {request.headers["host"] for request in server.requests} == {"models.example"}
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


async def test_a_login_of_an_http_proxy_is_sent(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    async with proxy_to(server, greet_http, "http", user="me:pass%20word@") as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        assert await ask(elsewhere()) == "hello"
    assert proxy.logins == ["Basic bWU6cGFzcyB3b3Jk"]


@pytest.mark.parametrize("variable", ["ALL_PROXY", "HTTP_PROXY"])
@pytest.mark.parametrize("scheme", ["socks5", "socks5h"])
async def test_a_socks_proxy_is_used(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch, scheme: str, variable: str
) -> None:
    """The proxy resolves the name."""
    pytest.importorskip("socksio")
    async with proxy_to(server, greet_socks, scheme) as proxy:
        monkeypatch.setenv(variable, proxy.url)
        assert await ask(elsewhere("http://models.example:8123/v1"), times=2) == "hello"
    assert set(proxy.asked) == {"models.example:8123"}
    assert len(server.requests) == 2


async def test_a_login_of_a_socks_proxy_is_sent(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("socksio")
    async with proxy_to(server, greet_socks, "socks5", user="me:secret@") as proxy:
        monkeypatch.setenv("ALL_PROXY", proxy.url)
        assert await ask(elsewhere()) == "hello"
    assert proxy.logins == ["me:secret"]


async def test_replies_are_bounded_behind_a_socks_proxy(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("socksio")
    server.respond = lambda _: Answer(b" " * 17 * 2**20)
    async with proxy_to(server, greet_socks, "socks5") as proxy:
        monkeypatch.setenv("ALL_PROXY", proxy.url)
        with pytest.raises(ModelError, match="cut off"):
            await ask(elsewhere())


@pytest.mark.parametrize("spec", ["openai-api/far/m", "azure/d"])
def test_a_socks_proxy_without_its_package(monkeypatch: pytest.MonkeyPatch, spec: str) -> None:
    monkeypatch.setitem(sys.modules, "socksio", None)
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:9")
    azure = {"AZURE_OPENAI_ENDPOINT": "http://models.example", "OPENAI_API_VERSION": "1", "AZURE_OPENAI_API_KEY": KEY}
    with pytest.raises(ConfigError, match="SOCKS") as refused:
        open_model(spec, elsewhere(**azure))
    assert "graphwalk-agents[socks]" in refused.value.hint


@pytest.mark.parametrize("installed", [True, False])
@pytest.mark.parametrize("variable", ["ALL_PROXY", "HTTP_PROXY"])
@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:9", "http://127.0.0.1:9"])
async def test_a_server_on_this_machine_is_reached_directly(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch, proxy: str, variable: str, installed: bool
) -> None:
    if not installed:
        monkeypatch.setitem(sys.modules, "socksio", None)
    monkeypatch.setenv(variable, proxy)
    assert await ask(elsewhere(server.url)) == "hello"
    assert await ask(elsewhere(server.url.replace("127.0.0.1", "localhost"))) == "hello"


async def test_hosts_in_no_proxy_are_reached_directly(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    loop, port = asyncio.get_running_loop(), urlsplit(server.url).port

    async def look_up(host: str, *arguments: Any, **options: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    async with proxy_to(server, greet_http, "http") as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("NO_PROXY", "models.example")
        monkeypatch.setattr(loop, "getaddrinfo", look_up)
        assert await ask(elsewhere(f"http://models.example:{port}/v1")) == "hello"
    assert proxy.asked == []


async def test_a_proxy_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://me:secret-password@127.0.0.1:9")
    with pytest.raises(ModelError, match=r"no reply from models\.example") as failed:
        await ask(elsewhere())
    assert failed.value.retryable
    assert "secret-password" not in str(failed.value)


async def test_a_proxy_that_refuses(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.respond = lambda _: error(407, "Proxy Authentication Required")
    async with proxy_to(server, greet_http, "http") as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        with pytest.raises(ModelError, match="407"):
            await ask(elsewhere())


# Redirects.


async def test_a_redirect_is_followed_with_its_body(server: ModelServer) -> None:
    def respond(request: Request) -> Answer:
        moved = Answer(b"", 308, {"location": "/v2/chat/completions"})
        return moved if request.path.startswith("/v1") else Answer(chat("moved"))

    server.respond = respond
    assert await ask(elsewhere(server.url)) == "moved"
    first, second = server.requests
    assert first.raw == second.raw
    assert second.headers["authorization"] == f"Bearer {KEY}"


async def test_a_key_does_not_follow_a_redirect_to_another_host(server: ModelServer) -> None:
    async with ModelServer() as other:
        server.respond = lambda _: Answer(b"", 307, {"location": f"{other.url}/chat/completions"})
        assert await ask(elsewhere(server.url)) == "hello"
    assert "authorization" not in other.requests[0].headers


# What every request carries.


async def test_headers_by_argument(server: ModelServer) -> None:
    given = {"X-Team": "graphs", "User-Agent": "mine/1"}
    await ask(elsewhere(server.url), default_headers=given)
    headers = server.requests[0].headers
    assert (headers["x-team"], headers["user-agent"]) == ("graphs", "mine/1")


async def test_headers_by_variable(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The package reads this variable, one header in each line."""
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Team: graphs\nX-Trace: on")
    await ask(elsewhere(server.url), default_headers={"X-Trace": "off"})
    headers = server.requests[0].headers
    assert (headers["x-team"], headers["x-trace"]) == ("graphs", "off")
    assert headers["user-agent"] == f"graphwalk/{__version__}"


MEMBER = {"OPENAI_API_KEY": KEY, "OPENAI_ORG_ID": "org-1", "OPENAI_PROJECT_ID": "proj-1"}


def billed(request: Request) -> tuple[str | None, str | None]:
    return request.headers.get("openai-organization"), request.headers.get("openai-project")


@pytest.mark.parametrize("exported", [False, True])
async def test_organisation_and_project_are_for_openai_alone(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch, exported: bool
) -> None:
    if exported:
        for name, value in MEMBER.items():
            monkeypatch.setenv(name, value)
    async with proxy_to(server, greet_http, "http") as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        at_openai = Settings({**MEMBER, "OPENAI_BASE_URL": "http://api.openai.com/v1"})
        await ask(at_openai, "openai-chat/m")
        await ask(Settings({**MEMBER, "OPENAI_BASE_URL": ADDRESS}), "openai-chat/m")
        await ask(elsewhere(**MEMBER))
    assert [billed(request) for request in server.requests] == [("org-1", "proj-1"), (None, None), (None, None)]
    assert proxy.asked == ["api.openai.com:80", "models.example:80", "models.example:80"]


async def test_organisation_and_project_by_argument(server: ModelServer) -> None:
    await ask(elsewhere(server.url), organization="org-2", project="proj-2")
    assert billed(server.requests[0]) == ("org-2", "proj-2")
