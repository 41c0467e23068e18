"""Bodies of replies with a bound on what they decode to: a small compressed reply can hold gigabytes.

Replies are decoded here and not by the HTTP library, which decodes without a bound. What is asked for is what the
standard library can decode piece by piece: gzip and deflate.
"""

import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from graphwalk.errors import ModelError

if TYPE_CHECKING:
    import aiohttp

ACCEPTED = "gzip, deflate"
"""What requests ask for, as the header `Accept-Encoding` has it."""
_EITHER_HEADER = 32 + zlib.MAX_WBITS
"""zlib finds out by itself whether gzip or zlib stands around the data."""


async def read_bounded(response: "aiohttp.ClientResponse", longest: int) -> bytes:
    """The body of a response, decoded; ModelError after `longest` bytes, counted as they are decoded.

    ModelError for an encoding that was not asked for.
    """
    said = ",".join(response.headers.getall("content-encoding", ()))
    encodings = [encoding for part in said.split(",") if (encoding := part.strip().lower()) not in ("", "identity")]
    if encodings and encodings not in (["gzip"], ["x-gzip"], ["deflate"]):
        raise ModelError(
            f"a reply came compressed as {', '.join(encodings)!r:.60}, and not as {ACCEPTED}", retryable=True
        )
    read = _Unpacked(longest)
    parts: list[bytes] = []
    async for piece in response.content.iter_any():
        parts.extend(read.unpacked(piece) if encodings else (read.plain(piece),))
    return b"".join(parts)


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
