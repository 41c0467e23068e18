"""The conformance check itself: it finds what is wrong with a backend, and survives all of it."""

from graphwalk.models.conformance import check_model
from tests.models.player import Player, said


async def test_a_model_that_only_chats() -> None:
    status_of = {check.name: check.status for check in await check_model(Player(said("hello")))}
    assert status_of["plain_text"] == "ok"
    assert status_of["tool_result"] == "failed"
    assert status_of["tool_call"] == status_of["response_format"] == status_of["usage"] == "absent"


async def test_exceptions_are_findings() -> None:
    first, *checks = await check_model(Player(said("hello"), RuntimeError("boom")))
    assert first.status == "ok"
    assert {c.status for c in checks} == {"failed"}
    assert all("raised RuntimeError instead of ModelError" in c.detail for c in checks)


async def test_a_silent_backend_fails_the_first_check_only() -> None:
    (check,) = await check_model(Player(seconds=60), seconds=0.01)
    assert (check.name, check.status, check.detail) == ("plain_text", "failed", "no reply within 0.01 s")
