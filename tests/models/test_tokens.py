"""Estimates of tokens, by a rule whose error is known."""

import json

import pytest

from graphwalk.models.tokens import RULE_ERROR, count_tokens

ROWS = json.dumps(
    [
        {"center_key": f"{a}{n}{b}{n + 1}", "direction": "incoming", "type": "UHESERO", "neighbor_label": "Uzuhitu"}
        for n, (a, b) in enumerate(["cd", "jr", "ks", "xp", "rz", "mq"])
    ]
)
PROSE = "Which nodes can be reached from the node with this key in one or two steps? A step follows one relationship."
CYPHER = "MATCH (a:Opufaso {key: 'n9k3'})-[r:UHESERO]->(b:Uzuhitu) RETURN DISTINCT b.key AS node_key ORDER BY node_key"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # bpe_openai opens its tables in an older way
def test_estimates_are_within_their_error() -> None:
    import bpe_openai

    encoding = bpe_openai.get_encoding("o200k_base")
    for text in (ROWS, PROSE, CYPHER):
        assert count_tokens(text) == pytest.approx(len(encoding.encode_ordinary(text)), rel=RULE_ERROR)


@pytest.mark.parametrize("text", ["\ud800", "\x00", "日本語のテキスト", "é" * 1000, "\n" * 50])
def test_any_text_can_be_counted(text: str) -> None:
    assert count_tokens(text) > 0
