"""Compressed replies: read as what they are, and bounded by what they decode to (reliability R11)."""

import gzip
import json
import resource
import zlib
from typing import Any

import pytest

from graphwalk.errors import ModelError
from graphwalk.models.backends.endpoint import LONGEST_BODY
from graphwalk.models.backends.openai_chat import OpenAIChatModel
from graphwalk.types.chat import CallOptions
from tests.models.player import ASK
from tests.models.server import Answer, ModelServer, chat

GOOD = json.dumps(chat("hello")).encode()
MIB = 2**20


def raw_deflate(data: bytes) -> bytes:
    engine = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    return engine.compress(data) + engine.flush()


PACKERS: dict[str, tuple[str, Any]] = {
    "gzip": ("gzip", gzip.compress),
    "x-gzip": ("x-gzip", gzip.compress),
    "deflate": ("deflate", zlib.compress),
    "deflate without header": ("Deflate", raw_deflate),
    "none": ("identity", bytes),
}


@pytest.mark.parametrize(("name", "pack"), PACKERS.values(), ids=PACKERS)
@pytest.mark.parametrize("status", [200, 400])
async def test_what_was_asked_for_is_read(
    model: OpenAIChatModel, server: ModelServer, name: str, pack: Any, status: int
) -> None:
    body = GOOD if status == 200 else b'{"error": {"message": "no such model"}}'
    server.respond = lambda _: Answer(pack(body), status, {"content-encoding": name})
    if status == 400:
        with pytest.raises(ModelError, match="no such model"):
            await model.complete(ASK, (), CallOptions())
    else:
        assert (await model.complete(ASK, (), CallOptions())).message.content == "hello"
    assert server.requests[0].headers["accept-encoding"] == "gzip, deflate"


def bomb(mib: int) -> bytes:
    """So many MiB of spaces in a gzip of a thousandth of that; made in pieces, so that this process stays small."""
    engine = zlib.compressobj(9, wbits=16 + zlib.MAX_WBITS)
    return b"".join([*(engine.compress(b" " * MIB) for _ in range(mib)), engine.flush()])


@pytest.mark.parametrize("status", [200, 500])
async def test_a_bomb_is_cut_off_at_the_bound(model: OpenAIChatModel, server: ModelServer, status: int) -> None:
    packed = bomb(300)
    server.respond = lambda _: Answer(packed, status, {"content-encoding": "gzip"})
    assert len(packed) < MIB
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ModelError, match=f"{LONGEST_BODY:,} bytes") as failure:
        await model.complete(ASK, (), CallOptions())
    assert failure.value.retryable
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 * 1024


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("zstd", b"\x28\xb5\x2f\xfd" + b"\x00" * 50),
        ("br", b"\x8b\x03\x80hello\x03"),
        ("gzip, gzip", gzip.compress(gzip.compress(b" " * MIB))),
        ("gzip", b"this is no gzip at all"),
        ("gzip", gzip.compress(GOOD)[:30]),
        ("deflate", gzip.compress(GOOD)[:-20] + b"\xff" * 20),
        ("nonsense\x01", GOOD),
    ],
    ids=["zstd", "brotli", "packed twice", "not packed", "cut off", "damaged", "unknown"],
)
async def test_what_was_not_asked_for_or_is_broken_is_an_error(
    model: OpenAIChatModel, server: ModelServer, encoding: str, body: bytes
) -> None:
    server.respond = lambda _: Answer(body, headers={"content-encoding": encoding})
    with pytest.raises(ModelError) as failure:
        await model.complete(ASK, (), CallOptions())
    assert failure.value.retryable
