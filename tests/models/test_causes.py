"""Handlers of LangChain and logs record no secret of an error or of its causes (P9)."""

import logging
import sys
import traceback
from typing import Any

import pytest

from graphwalk.errors import ModelError
from graphwalk.models.chat import CallOptions, Message
from graphwalk.models.registry import Guarded
from graphwalk.sanitise import Secrets
from graphwalk.terminal import RedactedFormatter
from graphwalk.variables import Variables

KEY = "sk-debugKEY123456789"


class Leaking:
    """A model whose error has a cause that quotes the key."""

    def __init__(self, kind: type[Exception]) -> None:
        self.kind = kind

    async def complete(self, *call: Any) -> Any:
        try:
            raise KeyError(f"header {KEY}")
        except KeyError as cause:
            raise self.kind("refused") from cause


@pytest.mark.parametrize("kind", [ModelError, ValueError])
async def test_the_causes_of_an_error_of_a_model_are_text_without_secrets(kind: type[Exception]) -> None:
    model = Guarded(Leaking(kind), Variables({"X_API_KEY": KEY}), "m", lent=True)
    with pytest.raises(ModelError, match="refused") as failed:
        await model.complete([Message("user", "hi")], (), CallOptions())
    recorded = "".join(traceback.format_exception(failed.value))
    assert KEY not in recorded
    assert "KeyError: 'header ***'" in recorded


def test_an_error_is_recorded_as_it_is_unless_a_secret_is_in_its_causes() -> None:
    secrets = Secrets({"X_API_KEY": KEY})
    plain = ValueError("no such node")
    assert secrets.without_secrets(plain) is plain
    plain.__cause__ = KeyError(KEY)
    recorded = secrets.without_secrets(plain)
    assert "".join(traceback.format_exception(recorded)) == "RuntimeError: ValueError: no such node\n"


def test_a_traceback_in_a_log_has_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("X_API_KEY", KEY)
    try:
        raise ValueError("refused") from KeyError(KEY)
    except ValueError:
        record = logging.LogRecord("x", logging.ERROR, "", 1, "key %s", (KEY,), sys.exc_info())
    text = RedactedFormatter().format(record)
    assert "KeyError: '***'" in text
    assert KEY not in text
