"""A call already paid for is never made again, whatever happened to the file."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from graphwalk.config.calls import Limits
from graphwalk.errors import ModelError, RunLogError
from graphwalk.models.base import Model
from graphwalk.models.wrappers import Cached, Guarded, ReplyCache
from graphwalk.types.chat import CallOptions, Message, Reply, ToolCall, Usage
from graphwalk.variables import Variables
from tests.models.player import ASK, LOOK, WALK, Player, in_run, said

FULL = Reply(
    Message(
        "assistant",
        "\ud800\u0000 ✓",
        (ToolCall("1", "look", "{}"),),
        reasoning="hm",
        provider_state={"format": "x", "message": {"signature": "\ud800=", "parts": [1, None, {"a": 0.5}]}},
    ),
    Usage(10, 5, 1, 2, 0.25),
    "tool_calls",
    1.5,
    "m-1",
)


def cached(player: Model, cache: ReplyCache, episode: str) -> Cached:
    return in_run(player, Limits(retries=0), cache=cache, key=episode)


async def replies(path: Path, player: Player, episode: str = "e", calls: int = 3) -> list[Reply]:
    cache = ReplyCache(path)
    model = cached(player, cache, episode)
    try:
        return [await model.complete(ASK, (LOOK,), CallOptions()) for _ in range(calls)]
    finally:
        cache.close()


async def test_a_resumed_episode_pays_nothing(tmp_path: Path) -> None:
    said_first = [FULL, said("b", usage=Usage(1, 1)), said("c", usage=Usage(2, 1))]
    first = await replies(tmp_path / "c", Player(*said_first))
    later = Player(ModelError("must not be called"))
    assert first == said_first == await replies(tmp_path / "c", later)
    assert later.sent == []


async def test_every_part_of_a_request_counts(tmp_path: Path) -> None:
    cache = ReplyCache(tmp_path / "c")
    player = Player()
    other = Player()
    other.name = "test/other"
    for model, episode in ((player, "e"), (player, "f"), (other, "e")):
        for messages in (ASK, (*ASK, Message("assistant", "x")), (Message("system", "hi"),)):
            for tools in ((LOOK,), (LOOK, WALK), ()):
                for options in (CallOptions(), CallOptions(temperature=1.0), CallOptions(extra={"a": 1})):
                    await cached(model, cache, episode).complete(messages, tools, options)
    assert len(player.sent) + len(other.sent) == 81 == len(cache)
    cache.close()


async def test_a_torn_last_line_is_dropped_wherever_it_ends(tmp_path: Path) -> None:
    path = tmp_path / "c"
    await replies(path, Player(said("a"), said("b")), calls=2)
    whole = path.read_bytes()
    first = whole.index(b"\n") + 1
    for cut in (*range(first, len(whole), 5), len(whole) - 1):
        path.write_bytes(whole[:cut])
        player = Player(said("again"))
        assert [r.message.content for r in await replies(path, player, calls=2)] == ["a", "again"]
        assert path.read_bytes().count(b"\n") == 2


async def test_a_damaged_line_is_refused_with_its_number(tmp_path: Path) -> None:
    path = tmp_path / "c"
    await replies(path, Player(said("a"), said("b"), said("c")))
    lines = path.read_bytes().splitlines(keepends=True)
    damaged = lines[0] + lines[1].replace(b'"b"', b'"x"') + lines[2]
    path.write_bytes(damaged)
    with pytest.raises(RunLogError, match=r"c:2: the line is damaged"):
        ReplyCache(path)
    assert path.read_bytes() == damaged


async def test_secrets_are_taken_out_before_use(tmp_path: Path) -> None:
    secret = "sk-planted-987654"
    cache = ReplyCache(tmp_path / "c")
    variables = Variables({"SOME_API_KEY": secret})
    call = ToolCall("1", "look", json.dumps({"key": secret}))
    state = {"format": "x", "message": {"signature": f"signed {secret}"}}
    reply = replace(FULL, message=Message("assistant", f"my key is {secret}", (call,), provider_state=state))
    player = Guarded(Player(reply), variables, "test/player")
    used = await cached(player, cache, "e").complete(ASK, (), CallOptions())
    assert secret not in (tmp_path / "c").read_text()
    assert used.message.content == "my key is ***"
    assert used.message.provider_state == {"format": "x", "message": {"signature": "signed ***"}}
    assert used == await cached(Player(), cache, "e").complete(ASK, (), CallOptions())
    cache.close()
