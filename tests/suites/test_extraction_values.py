import pytest

from graphwalk.suites.extraction import find_values
from tests.suites.reply_corpus import counts, readings


def test_few_wrong_answers_of_the_corpus_are_read_as_right_without_being_lossy() -> None:
    read = list(readings())
    corpus = counts([reading for reading in read if reading.part != "later"])
    assert corpus["replies"] == 300
    assert corpus["wrong, read right, not lossy"] <= 4
    assert corpus["right, read right"] >= 144
    assert corpus["right, read right, lossy"] <= 22
    assert counts(read)["wrong, read right, not lossy"] <= 6


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
