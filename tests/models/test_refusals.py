"""The meaning of the refusals of servers, over the sentences of tests/data/refusals.yaml."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from graphwalk.models.provider_replies import status_error

SENTENCES: dict[str, list[dict[str, Any]]] = yaml.safe_load(
    (Path(__file__).parents[1] / "data" / "refusals.yaml").read_text(encoding="utf-8")
)
CASES = [(meaning, sentence) for meaning, sentences in SENTENCES.items() for sentence in sentences]
HINTS = {
    "output_limit": "options.max_output_tokens",
    "body_size": "client_max_body_size",
    "tools": "agent.tool_format=text",
    "field": "options.extra.",
}


@pytest.mark.parametrize(
    ("meaning", "sentence"), CASES, ids=lambda it: it if isinstance(it, str) else it["message"][:60]
)
def test_a_refusal_means_an_overflow_only_if_the_input_alone_is_too_long(
    meaning: str, sentence: dict[str, Any]
) -> None:
    error = status_error(
        sentence.get("status", 400),
        {},
        {"error": {"message": sentence["message"], "code": sentence.get("code")}},
        "host",
    )
    assert error.context_overflow == (meaning == "context_overflow")
    assert not error.retryable
    for other, words in HINTS.items():
        assert (words in error.hint) == (other == meaning)


def test_the_hint_for_a_field_names_the_field() -> None:
    error = status_error(400, {}, {"error": {"message": "Unrecognized request argument supplied: seed"}}, "host")
    assert error.hint == "leave the field out: -o options.extra.seed=null"


def test_words_do_not_make_an_overflow_of_a_server_that_fails() -> None:
    assert not status_error(500, {}, {"message": "prompt is too long: 9 tokens > 8 maximum"}, "host").context_overflow
