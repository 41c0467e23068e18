"""An error in a comment on a result: the result is logged, and the comment is named as missing."""

from typing import Any

import pytest

from graphwalk.evaluation.suppressed import suppressed


@pytest.fixture(autouse=True)
def as_for_users(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GRAPHWALK_STRICT")


def fail(*arguments: Any, **named: Any) -> Any:
    raise TypeError("Object of type Temporal is not JSON serializable")


def test_an_error_is_raised_in_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    notes: list[str] = []
    with suppressed("plot", notes.append):
        fail()
    assert notes == ["plot missing: TypeError"]
    monkeypatch.setenv("GRAPHWALK_STRICT", "1")
    with pytest.raises(TypeError), suppressed("plot", notes.append):
        fail()
