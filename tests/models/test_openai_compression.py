"""Compressed replies are read, and bounded by what they decode to (reliability R11)."""

import gzip
import json
import resource
import zlib
from typing import Any

import pytest

from graphwalk.errors import ModelError
from graphwalk.models import openai
from graphwalk.models.openai import LONGEST_BODY, OpenAIModel
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
async def test_accepted_encodings_are_read(
    model: OpenAIModel, server: ModelServer, name: str, pack: Any, status: int
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


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zlib.compress, raw_deflate])
@pytest.mark.parametrize("size", [1000, 1001])
async def test_the_bound_is_exact(
    model: OpenAIModel, server: ModelServer, monkeypatch: pytest.MonkeyPatch, pack: Any, size: int
) -> None:
    monkeypatch.setattr(openai, "LONGEST_BODY", 1000)
    encoding = {bytes: "identity", gzip.compress: "gzip"}.get(pack, "deflate")
    server.respond = lambda _: Answer(pack(GOOD.ljust(size)), headers={"content-encoding": encoding})
    if size == 1000:
        assert (await model.complete(ASK, (), CallOptions())).message.content == "hello"
    else:
        with pytest.raises(ModelError, match="more than 1,000 bytes was cut off") as failure:
            await model.complete(ASK, (), CallOptions())
        assert failure.value.retryable


async def test_a_connection_serves_the_next_call_after_a_compressed_reply(
    model: OpenAIModel, server: ModelServer
) -> None:
    server.respond = lambda _: Answer(gzip.compress(GOOD), headers={"content-encoding": "gzip"})
    for _ in range(3):
        await model.complete(ASK, (), CallOptions())
    assert server.connections == 1


@pytest.mark.parametrize("status", [200, 500])
async def test_a_bomb_is_cut_off_at_the_bound(model: OpenAIModel, server: ModelServer, status: int) -> None:
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
async def test_other_and_broken_encodings_are_errors(
    model: OpenAIModel, server: ModelServer, encoding: str, body: bytes
) -> None:
    server.respond = lambda _: Answer(body, headers={"content-encoding": encoding})
    with pytest.raises(ModelError) as failure:
        await model.complete(ASK, (), CallOptions())
    assert failure.value.retryable
