"""Faults of a server, each an error that names its cause, is retryable or not, and contains no secret."""

from typing import Any

import pytest

from graphwalk.errors import ModelError
from graphwalk.models.openai import OpenAIModel
from graphwalk.models.openai_servers import openai_chat
from graphwalk.models.registry import open_model
from graphwalk.types.chat import CallOptions
from graphwalk.variables import Variables
from tests.models.conftest import KEY
from tests.models.player import ASK
from tests.models.server import Answer, ModelServer, error, stream, take_text

PLANTED = "planted-path-key"
PAGE = Answer(b"<!doctype html><p>Welcome", headers={"content-type": "text/html; charset=utf-8"})
HALF = stream({"choices": [{"delta": {"content": "half of"}}]}, done=False)


BODIES = (
    *(b"", b"<html>", b"[" * 100_000, b"null"),
    *({"choices": [{}]}, {"error": {"message": "x"}, "choices": None}),
)
"""Bodies of a good status that are no reply."""
RETRYABLE: dict[str, tuple[Answer, str]] = {
    **{repr(body)[:20]: (Answer(body), "") for body in BODIES},
    "empty with an error": (Answer(b"", 500), "answered 500: no reason given"),
    "reset": (Answer(b"{", then="reset"), "no reply from 127.0.0.1"),
    "stream cut off": (HALF, "before the reply was whole"),
    "stream with an error": (stream({"error": {"message": "overloaded", "code": 503}}), "overloaded"),
    "broken stream": (Answer(b'data: {"choices": [\n\n', headers=HALF.headers), "broken stream"),
    "stream reset": (Answer(HALF.body, headers=HALF.headers, then="reset"), "no reply from 127.0.0.1"),
}
LASTING: dict[str, tuple[Answer, str]] = {
    "unknown model": (error(404, "no model m"), "answered 404: no model m"),
    "web page": (PAGE, "answered 200"),
    "streams refused": (error(400, "streams are not for you"), "not for you"),
}
FAULTS = [
    *(pytest.param(answer, cause, True, id=name) for name, (answer, cause) in RETRYABLE.items()),
    *(pytest.param(answer, cause, False, id=name) for name, (answer, cause) in LASTING.items()),
]


async def failure(model: OpenAIModel, server: ModelServer, answer: Answer, **options: Any) -> ModelError:
    server.respond = lambda _: answer
    with pytest.raises(ModelError) as failed:
        await model.complete(ASK, (), CallOptions(**options))
    return failed.value


@pytest.mark.parametrize(("answer", "cause", "retryable"), FAULTS)
async def test_a_fault_names_the_server_and_its_cause(
    model: OpenAIModel, server: ModelServer, answer: Answer, cause: str, retryable: bool
) -> None:
    for options in ({"on_text": take_text},) if "event-stream" in str(answer.headers) else ({}, {"on_text": take_text}):
        failed = await failure(model, server, answer, **options)
        assert cause in str(failed)
        assert failed.retryable == retryable


HIDING = [
    error(401, "no"),
    PAGE,
    Answer(b"{"),
    Answer(b"{", then="reset"),
    error(307, location="http://127.0.0.1:9/"),
    None,
]


@pytest.mark.parametrize("answer", HIDING, ids=["refused", "page", "broken", "reset", "redirect", "no server"])
async def test_an_error_names_the_host_and_neither_path_nor_key(server: ModelServer, answer: Answer | None) -> None:
    address = server.url.removesuffix("/v1").replace("//", "//me:pass-word@") + f"/{PLANTED}/v1?key={PLANTED}"
    model = openai_chat("m", Variables({"OPENAI_BASE_URL": address, "OPENAI_API_KEY": KEY}))
    if answer is None:
        await server.stop()
    failed = await failure(model, server, answer or Answer())
    await model.close()
    host = server.url.split("/")[2]
    assert host in str(failed)
    assert not any(secret in f"{failed} {failed.hint}" for secret in (PLANTED, KEY, "pass-word"))
    if answer is None:
        assert (failed.retryable, failed.hint) == (True, f"is a server running at {host}?")


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        (error(401, f"bad key {KEY}"), "bad key ***"),
        (Answer(f"{KEY} is no JSON".encode()), "*** is no JSON"),
        (error(400, "x" * 570 + KEY * 3), "xxx"),
    ],
    ids=["refused", "broken", "cut"],
)
async def test_no_secret_is_repeated(server: ModelServer, variables: Variables, answer: Answer, cause: str) -> None:
    model: Any = open_model("openai-chat/m", variables)
    failed = await failure(model, server, answer)
    assert cause in str(failed)
    assert KEY[:4] not in str(failed)
    await model.close()
