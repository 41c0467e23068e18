"""Bodies of replies with a bound on what they decode to: a small compressed reply can hold gigabytes.

Replies are decoded here and not by the HTTP library, which decodes without a bound. What is asked for is what the
standard library can decode piece by piece: gzip and deflate.
"""

import zlib
from collections.abc import AsyncIterator, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from graphwalk.errors import ModelError

if TYPE_CHECKING:
    import httpx2

ACCEPTED = "gzip, deflate"
"""What requests ask for, as the header `Accept-Encoding` has it."""
_EITHER_HEADER = 32 + zlib.MAX_WBITS
"""zlib finds out by itself whether gzip or zlib stands around the data."""


def bound(response: "httpx2.Response", longest: int) -> None:
    """Let the body of a response end with a ModelError after `longest` bytes, counted as they are decoded.

    ModelError for an encoding that was not asked for.
    """
    encodings = [part.strip().lower() for part in response.headers.get("content-encoding", "").split(",")]
    encodings = [encoding for encoding in encodings if encoding not in ("", "identity")]
    if encodings and encodings not in (["gzip"], ["x-gzip"], ["deflate"]):
        raise ModelError(
            f"a reply came compressed as {', '.join(encodings)!r:.60}, and not as {ACCEPTED}", retryable=True
        )
    response.headers.pop("content-encoding", None)
    response.stream = _bounded_stream()(response.stream, longest, bool(encodings))


class _Unpacked:
    """What the pieces of a body decode to, in pieces; the end of a body that was cut off is for its reader to find."""

    def __init__(self, longest: int) -> None:
        self._left = longest
        self._longest = longest
        self._engine: Any = None

    def plain(self, piece: bytes) -> bytes:
        self._left -= len(piece)
        if self._left < 0:
            raise ModelError(f"a reply of more than {self._longest:,} bytes was cut off", retryable=True)
        return piece

    def unpacked(self, piece: bytes) -> Iterator[bytes]:
        try:
            while piece:
                if self._engine is None:
                    self._engine = _engine_for(piece)
                # One byte more than there is room for tells that there is more.
                yield self.plain(self._engine.decompress(piece, self._left + 1))
                piece = self._engine.unconsumed_tail
        except zlib.error as error:
            raise ModelError(f"a reply cannot be decompressed ({error})", retryable=True) from None


def _engine_for(piece: bytes) -> Any:
    """Some servers send deflate without the header that belongs around it."""
    try:
        zlib.decompressobj(_EITHER_HEADER).decompress(piece, 1)
    except zlib.error:
        return zlib.decompressobj(-zlib.MAX_WBITS)
    return zlib.decompressobj(_EITHER_HEADER)


@cache
def _bounded_stream() -> Any:
    """The class of such a stream; made once, as its parent is imported when it is first needed."""
    import httpx2

    class Bounded(httpx2.AsyncByteStream):
        def __init__(self, source: httpx2.AsyncByteStream, longest: int, packed: bool) -> None:
            self._source, self._packed = source, packed
            self._unpacked = _Unpacked(longest)

        async def __aiter__(self) -> AsyncIterator[bytes]:
            async for piece in self._source:
                if not self._packed:
                    yield self._unpacked.plain(piece)
                    continue
                for part in self._unpacked.unpacked(piece):
                    yield part

        async def aclose(self) -> None:
            await self._source.aclose()

    return Bounded
