"""The conformance check itself: it finds what is wrong with a backend, and survives all of it."""

from graphwalk.errors import ModelError
from graphwalk.models.conformance import check_model
from tests.models.player import Player, said


async def statuses(player: Player, seconds: float = 5.0) -> dict[str, str]:
    return {c.name: c.status for c in await check_model(player, seconds=seconds)}


async def test_a_model_that_only_chats() -> None:
    found = await statuses(Player(said("hello")))
    assert found["plain_text"] == "ok"
    assert found["tool_result"] == "failed"
    assert found["tool_call"] == found["response_format"] == found["usage"] == "absent"


async def test_exceptions_are_findings() -> None:
    first, *checks = await check_model(Player(said("hello"), RuntimeError("boom")))
    assert first.status == "ok"
    assert {c.status for c in checks} == {"failed"}
    assert all("raised RuntimeError instead of ModelError" in c.detail for c in checks)


async def test_silent_backend_fails_one_check() -> None:
    for player, detail in (
        (Player(seconds=60), "no reply within 0.01 s"),
        (Player(ModelError("connection refused", retryable=True)), "connection refused"),
    ):
        (check,) = await check_model(player, seconds=0.01)
        assert (check.name, check.status, check.detail) == ("plain_text", "failed", detail)
