"""Tokens: exact where the tokenizer is there, else by a rule whose error is known."""

import json
import sys

import pytest

from graphwalk.models import tokens
from graphwalk.models.tokens import RULE_ERROR, count_tokens, tokenizer_of

ROWS = json.dumps(
    [
        {"center_key": f"{a}{n}{b}{n + 1}", "direction": "incoming", "type": "UHESERO", "neighbor_label": "Uzuhitu"}
        for n, (a, b) in enumerate(["cd", "jr", "ks", "xp", "rz", "mq"])
    ]
)
PROSE = "Which nodes can be reached from the node with this key in one or two steps? A step follows one relationship."
CYPHER = "MATCH (a:Opufaso {key: 'n9k3'})-[r:UHESERO]->(b:Uzuhitu) RETURN DISTINCT b.key AS node_key ORDER BY node_key"


def test_the_tokenizer_of_a_known_model_is_exact() -> None:
    assert count_tokens("hello world", "openai/gpt-4.1-mini") == (2, True)
    assert count_tokens("<|endoftext|>", "openai/gpt-4.1")[0] > 1
    assert count_tokens("", "openai/gpt-4.1") == (0, True)


def test_a_text_longer_than_the_tokenizer_takes_is_counted_in_parts() -> None:
    once, often = (count_tokens(CYPHER * times, "openai/gpt-4.1")[0] for times in (1_000, 10_000))
    assert often == pytest.approx(10 * once, rel=0.001)


@pytest.mark.parametrize(
    ("model", "tokenizer"),
    [
        ("openai/gpt-4.1", "o200k_base"),
        ("gpt-5.4", "o200k_base"),
        ("openai-responses/o4-mini", "o200k_base"),
        ("openai-api/openrouter/openai/gpt-4o", "o200k_base"),
        ("openai/gpt-4-turbo", "cl100k_base"),
        ("openai-api/local/qwen", None),
        ("openai-api/local/olmo", None),
        (None, None),
    ],
)
def test_which_tokenizer_a_model_has(model: str | None, tokenizer: str | None) -> None:
    assert tokenizer_of(model) == tokenizer


@pytest.mark.parametrize("text", [ROWS, PROSE, CYPHER], ids=["rows", "prose", "cypher"])
def test_estimate_is_within_its_error(text: str) -> None:
    estimate, exact = count_tokens(text)
    assert not exact
    assert estimate == pytest.approx(count_tokens(text, "gpt-4.1")[0], rel=RULE_ERROR)


def test_count_without_the_tokenizer_is_an_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bpe_openai", None)
    tokens._encoder.cache_clear()
    try:
        assert count_tokens(PROSE, "openai/gpt-4.1") == count_tokens(PROSE)
    finally:
        tokens._encoder.cache_clear()


@pytest.mark.parametrize("model", [None, "gpt-4.1"])
def test_any_text_can_be_counted(model: str | None) -> None:
    for text in ("\ud800", "\x00", "日本語のテキスト", "é" * 1000, "\n" * 50):
        assert count_tokens(text, model)[0] > 0
