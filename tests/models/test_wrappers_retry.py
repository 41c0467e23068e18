"""When a call is tried again, how often, and never earlier than the server allows."""

import itertools
from typing import Any

import pytest

from graphwalk.config.calls import Limits
from graphwalk.errors import ModelError
from graphwalk.models.openai import OpenAIModel
from graphwalk.models.wrappers import Cached
from graphwalk.types.chat import CallOptions
from tests.models.player import ASK, Player, in_run, said
from tests.models.server import Answer, ModelServer, chat, error

AGAIN = ModelError("busy", retryable=True)


def retrying(player: Player, retries: int = 3) -> Cached:
    return in_run(player, Limits(retries=retries), seed=1)


@pytest.mark.parametrize(
    ("outcomes", "cause", "calls"),
    [
        ([AGAIN, AGAIN, said("ok")], None, 3),
        ([AGAIN], "busy", 4),
        ([ModelError("wrong key")], "wrong key", 1),
    ],
    ids=["success in the end", "the last error", "permanent"],
)
async def test_retryable_errors_are_retried(outcomes: list[Any], cause: str | None, calls: int) -> None:
    player = Player(*outcomes)
    if cause is None:
        assert (await retrying(player).complete(ASK, (), CallOptions())).message.content == "ok"
    else:
        with pytest.raises(ModelError, match=cause):
            await retrying(player).complete(ASK, (), CallOptions())
    assert len(player.sent) == calls


@pytest.mark.parametrize("header", [{"retry_after": "0.3"}, {"retry_after_ms": "300"}])
async def test_never_earlier_than_the_server_allows(
    model: OpenAIModel, server: ModelServer, header: dict[str, str]
) -> None:
    answers = [error(429, "slow down", **header), error(503, "not yet", **header), Answer(chat("ok"))]
    server.respond = lambda _: answers.pop(0)
    await in_run(model, Limits(retries=5)).complete(ASK, (), CallOptions())
    times = [request.time for request in server.requests]
    assert all(later - earlier >= 0.3 - 0.001 for earlier, later in itertools.pairwise(times))
