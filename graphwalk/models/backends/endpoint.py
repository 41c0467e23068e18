"""One HTTP server with an OpenAI-compatible API: JSON in, JSON out, every failure a ModelError."""

import base64
import json
import re
import ssl
import sys
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from graphwalk.errors import ModelError
from graphwalk.models.backends.bounded import ACCEPTED, read_bounded
from graphwalk.models.backends.event_stream import is_event_stream, read_events
from graphwalk.models.backends.failure import status_error

if TYPE_CHECKING:
    import aiohttp

LONGEST_BODY = 16 * 2**20
"""Bytes of one reply, decompressed: several times what the longest context holds. Read as JSON they become up to
twenty times as many in memory."""
_CONNECTING, _SILENCE = 30.0, 900.0
"""Seconds: without a connection, and without a byte after which it is given up; deadlines of calls are kept elsewhere
and shorter."""
_LONGEST_HEADER = 2**16
"""Bytes of one line of a reply's head."""
_SHOWN = 500
"""Bytes of a reply that is no JSON."""
_SURROGATE = re.compile("[\ud800-\udfff]")


class Endpoint:
    """A base URL and its key; connections are opened when they are needed, and kept for later calls.

    The client library is imported here, before a run starts, and not in the middle of the first call. `headers` are
    sent beside the key. An endpoint belongs to the event loop of its first call.
    """

    def __init__(
        self, base_url: str, api_key: str, *, headers: Mapping[str, str] | None = None, longest_body: int = LONGEST_BODY
    ) -> None:
        import aiohttp

        self.base_url = base_url
        self._parts = urlsplit(base_url)
        self._headers = {
            **(headers or {}),
            "Authorization": _authorization(self._parts, api_key),
            "Content-Type": "application/json",
            "Accept-Encoding": ACCEPTED,
        }
        self._longest_body = longest_body
        self._proxy = _proxy_for(self._parts)
        self._session: aiohttp.ClientSession | None = None

    @property
    def source(self) -> str:
        """The server as error messages name it: host and port, without user, path and query."""
        return self._parts.netloc.rpartition("@")[2]

    async def post(self, path: str, body: dict[str, Any]) -> tuple[Any, float]:
        """The decoded reply, and the seconds it took; of a stream the list of its events.

        ModelError for everything that is not JSON, or events of JSON, of status 200.
        """
        import aiohttp

        started = time.perf_counter()
        session = self._session = self._session or self._connect()
        try:
            async with session.post(
                self._address(path), data=_encode(body), allow_redirects=False, proxy=self._proxy
            ) as response:
                content = await read_bounded(response, self._longest_body)
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise self._unreachable(error) from None
        if not 200 <= response.status < 300:
            raise status_error(response.status, response.headers, _failure(content), self.source)
        streamed = is_event_stream(response.headers.get("content-type", ""), content)
        return self._decode(content, read_events if streamed else json.loads), time.perf_counter() - started

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _connect(self) -> "aiohttp.ClientSession":
        import aiohttp

        secure = self._parts.scheme == "https"
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ssl=_trusted_certificates() if secure else False),
            headers=self._headers,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=_CONNECTING, sock_read=_SILENCE),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            max_line_size=_LONGEST_HEADER,
            max_field_size=_LONGEST_HEADER,
        )

    def _address(self, path: str) -> str:
        """Without the user, who stands in a header."""
        return self._parts._replace(netloc=self.source, path=self._parts.path.rstrip("/") + path, fragment="").geturl()

    def _decode(self, content: bytes, read: Callable[[bytes], Any]) -> Any:
        try:
            return read(content)
        except (ValueError, RecursionError) as error:
            start = content[:_SHOWN].decode("utf-8", "replace")
            message = f"{self.source} sent a broken reply ({type(error).__name__}) that begins with {start!r}"
            raise ModelError(message, retryable=True) from None

    def _unreachable(self, error: Exception) -> ModelError:
        cause = error.__cause__ or error
        said = f"{getattr(cause, 'message', None) or cause}"
        # Some name the whole address, which may hold a key.
        message = f"no reply from {self.source}: {type(cause).__name__} {'' if '://' in said else said}".rstrip()
        hint = f"is a server running at {self._parts.scheme}://{self.source}?"
        return ModelError(message, hint=hint, retryable=True)


def _authorization(parts: SplitResult, api_key: str) -> str:
    """The key, or the user and password that stand in the address."""
    if parts.username is None:
        return f"Bearer {api_key}"
    said = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return f"Basic {base64.b64encode(said.encode()).decode()}"


def _proxy_for(parts: SplitResult) -> str | None:
    """What HTTPS_PROXY, NO_PROXY and the like, or the settings of the system, say of this host."""
    if parts.hostname is None or proxy_bypass(parts.hostname):
        return None
    proxies = getproxies()
    return proxies.get(parts.scheme) or proxies.get("all")


def _trusted_certificates() -> ssl.SSLContext:
    """Those of the system, or that SSL_CERT_FILE or SSL_CERT_DIR name; where Python finds none, by truststore."""
    paths = ssl.get_default_verify_paths()
    if sys.platform == "linux" and (paths.cafile or paths.capath):
        return ssl.create_default_context()
    import truststore

    return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _failure(content: bytes) -> Any:
    """What a server says of a failure: its `error` where it speaks JSON, else its text."""
    text = content.decode("utf-8", "replace").strip()
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return text
    said = body.get("error", body) if isinstance(body, dict) else body
    return text if said is None else said


def _encode(body: dict[str, Any]) -> bytes:
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:
        # A model may have written half a surrogate pair, which no UTF-8 body can carry back to it.
        return _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text).encode()
