"""One HTTP server with an OpenAI-compatible API: JSON in, JSON out, every failure a ModelError."""

import json
import re
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from graphwalk.errors import ModelError
from graphwalk.models.backends.bounded import ACCEPTED, bound
from graphwalk.models.backends.event_stream import is_event_stream, read_events
from graphwalk.models.backends.failure import status_error

if TYPE_CHECKING:
    import ssl

    import httpx2
    from openai import AsyncOpenAI

LONGEST_BODY = 16 * 2**20
"""Bytes of one reply, decompressed: several times what the longest context holds. Read as JSON they become up to
twenty times as many in memory."""
_SILENCE = 900.0
"""Seconds without a byte after which a connection is given up; deadlines of calls are kept elsewhere and shorter."""
_SHOWN = 500
"""Bytes of a reply that is no JSON."""
_SURROGATE = re.compile("[\ud800-\udfff]")


class Endpoint:
    """A base URL and its key; connections are opened when they are needed, and kept for later calls.

    Every call under way has a client with one connection of its own: the pool of a shared client probes all of its idle
    connections with every request, which at 64 calls at a time costs more than the calls. The client library is
    imported here, before a run starts, and not in the middle of the first call.
    """

    def __init__(self, base_url: str, api_key: str, *, longest_body: int = LONGEST_BODY) -> None:
        self.base_url = base_url
        self._api_key = api_key
        self._longest_body = longest_body
        self._certificates = _trusted_certificates()
        self._idle = [self._connect()]

    @property
    def source(self) -> str:
        """The server as error messages name it: host and port, without user, path and query."""
        return urlsplit(self.base_url).netloc.rpartition("@")[2]

    async def post(self, path: str, body: dict[str, Any]) -> tuple[Any, float]:
        """The decoded reply, and the seconds it took; of a stream the list of its events.

        ModelError for everything that is not JSON, or events of JSON, of status 200.
        """
        import httpx2
        import openai

        started = time.perf_counter()
        client = self._idle.pop() if self._idle else self._connect()
        try:
            response = await client.post(
                path, cast_to=httpx2.Response, content=_encode(body), options={"follow_redirects": False}
            )
        except openai.APIStatusError as error:
            text = error.body if error.body is not None else error.response.text
            raise status_error(error.status_code, error.response.headers, text, self.source) from None
        except (openai.OpenAIError, httpx2.HTTPError, httpx2.StreamError, OSError, ValueError) as error:
            raise self._unreachable(error) from None
        finally:
            self._idle.append(client)
        streamed = is_event_stream(response.headers.get("content-type", ""), response.content)
        return self._decode(response.content, read_events if streamed else json.loads), time.perf_counter() - started

    async def close(self) -> None:
        for client in self._idle:
            await client.close()

    def _connect(self) -> "AsyncOpenAI":
        import httpx2
        import openai

        client = openai.AsyncOpenAI(
            api_key=self._api_key,
            base_url=self.base_url,
            max_retries=0,
            default_headers={"Accept-Encoding": ACCEPTED},
            timeout=httpx2.Timeout(_SILENCE, connect=30.0),
            http_client=openai.DefaultAsyncHttpxClient(
                verify=self._certificates, event_hooks={"response": [self._bound]}
            ),
        )
        if self.source != "api.openai.com":
            # The client takes these from the environment; they are meant for OpenAI and for nobody else.
            client.organization = client.project = None
        return client

    async def _bound(self, response: "httpx2.Response") -> None:
        bound(response, self._longest_body)

    def _decode(self, content: bytes, read: Callable[[bytes], Any]) -> Any:
        try:
            return read(content)
        except (ValueError, RecursionError) as error:
            start = content[:_SHOWN].decode("utf-8", "replace")
            message = f"{self.source} sent a broken reply ({type(error).__name__}) that begins with {start!r}"
            raise ModelError(message, retryable=True) from None

    def _unreachable(self, error: Exception) -> ModelError:
        cause = error.__cause__ or error
        message = f"no reply from {self.source}: {type(cause).__name__} {cause}".rstrip()
        hint = f"is a server running at {urlsplit(self.base_url).scheme}://{self.source}?"
        return ModelError(message, hint=hint, retryable=True)


def _trusted_certificates() -> "ssl.SSLContext":
    """Read once for all clients, since that takes longer than a call."""
    import httpx2

    return httpx2.create_ssl_context()


def _encode(body: dict[str, Any]) -> bytes:
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:
        # A model may have written half a surrogate pair, which no UTF-8 body can carry back to it.
        return _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text).encode()
