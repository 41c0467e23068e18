import pytest

from graphwalk.evaluation.replies import Claim, Value, find_claims, find_values
from tests.evaluation.reply_corpus import counts, readings


def test_few_wrong_answers_of_the_corpus_are_read_as_right_without_being_lossy() -> None:
    read = list(readings())
    corpus = counts([reading for reading in read if reading.part != "later"])
    assert corpus["replies"] == 300
    assert corpus["wrong, read right, not lossy"] <= 5
    assert corpus["right, read right"] >= 140
    assert corpus["right, read right, lossy"] <= 15
    assert counts(read)["wrong, read right, not lossy"] <= 10


def test_a_reply_that_is_a_value() -> None:
    assert find_values("[1, 2]") == ([Value([1, 2], "strict", 0, 6)], False)
    assert find_values("(1, 2)") == ([Value([1, 2], "literal", 0, 6)], False)


def test_values_within_values_are_not_returned() -> None:
    text = 'x [1, {"a": [2]}] and ```\n{"b": 3}\n```'
    values, unreadable = find_values(text)
    assert [(value.value, value.stage) for value in values] == [([1, {"a": [2]}], "embedded"), ({"b": 3}, "fenced")]
    assert [text[value.start : value.end] for value in values] == ['[1, {"a": [2]}]', '{"b": 3}']
    assert not unreadable


def test_footnotes_are_no_values() -> None:
    values, _ = find_values("as said [1] and [2], so [3, 4] and ['x']: [5]")
    assert [value.value for value in values] == [[3, 4], ["x"], [5]]


@pytest.mark.parametrize("text", ["[1, x]: [2]", '["a": [2]', '{"a": [2]', "[1,, 2]: [2]", '{"tool_calls": []}: [2]'])
def test_brackets_that_hold_no_value_make_a_text_unreadable(text: str) -> None:
    values, unreadable = find_values(text)
    assert [value.value for value in values] == [[2]]
    assert unreadable


def test_objects_in_a_row_are_one_list() -> None:
    (lines, last), _ = find_values('{"a": 1}\n- {"a": 2},\n2. {"a": 3}\nand {"a": 4, "a": 5}')
    assert (lines.value, lines.stage, lines.repeats) == ([{"a": 1}, {"a": 2}, {"a": 3}], "lines", False)
    assert (last.value, last.repeats) == ({"a": 5}, True)


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        (r"so \boxed{\text{k7}} it is", [({"k7"}, 0, False)]),
        ("**Final answer:** `k7`.", [({"k7"}, 0, False), ({"k7"}, 0, True)]),
        ("The answer is k7, k8 and k9. Good", [({"k7", "k8", "k9"}, 0, False)]),
        ("node key: k7", [({"k7"}, 0, False), ({"k7"}, 0, True)]),
        ("k7 is the correct answer", [({"k7"}, 0, False)]),
        ("Korrektur: 14", [({"14"}, 0, True)]),
        ("- k7\n- **k8**", [({"k7", "k8"}, 2, True)]),
        ("| a | b |\n|---|---|\n| k7 | 1 |\n| k8 | 2 |", [({"k7", "k8", "1", "2"}, 2, True)]),
        ("Answer: \0\nAnswer:\nThe answer is as follows:\n\\boxed{\0}", []),
        ("Step 1: we look at k7", []),
    ],
)
def test_words_in_the_place_of_an_answer(text: str, claims: list[tuple[set[str], int, bool]]) -> None:
    found = {claim._replace(start=0) for claim in find_claims(text, ["node_key"])}
    assert found == {Claim(frozenset(words), 0, rows, after) for words, rows, after in claims}
