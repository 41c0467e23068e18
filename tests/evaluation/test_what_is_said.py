"""What of a reply is said, what is left over beside the answer, and what is no answer at all."""

import json

import pytest

from graphwalk.evaluation.extraction import Extraction, extract, visible_text
from graphwalk.evaluation.rows import row_shapes
from tests.evaluation.test_extraction import KEY, A, B, read


@pytest.mark.parametrize(
    ("rest", "lossy"),
    [
        ("", False),
        ('\nof which {"node_key": "a"} is one', False),
        ('\nthat is {"node_key": "a"} and {"node_key": "b"}', False),
        ('\nor {"node_key": "c"} perhaps', True),
        ('{"node_key": "c"}', True),
        ("\nand nothing more: []", True),
    ],
)
def test_a_reading_is_lossy_where_something_like_an_answer_is_left_over(rest, lossy):
    both = '[{"node_key": "a"}, {"node_key": "b"}]'
    assert extract(both + rest, *row_shapes(KEY)) == Extraction([A, B], "embedded" if rest else "strict", lossy)


def test_the_same_answer_again_is_nothing_left_over():
    assert not extract('[{"node_key": "a"}]\nso {"node_key": "a"} it is', *row_shapes(KEY)).lossy
    assert not extract("[]\nwhich is empty: []", *row_shapes(KEY)).lossy


def test_without_a_shape_an_object_stays_one():
    assert read('so {"a": 1} it is', ()) == ({"a": 1}, "embedded")


@pytest.mark.parametrize("quote", ["&quot;", "&#34;"])
def test_an_escaped_reply_is_read(quote):
    assert read(f"[{{{quote}node_key{quote}: {quote}a{quote}}}]") == ([A], "strict")
    assert read('["a &lt; b"]') == ([{"node_key": "a &lt; b"}], "bare")


@pytest.mark.parametrize(
    "call",
    [
        '{"name": "look", "arguments": {}}',
        '{"tool": "look", "parameters": {}}',
        '{"function": "look", "tool_input": {}}',
        '{"tool_calls": []}',
        '{"function_call": {}}',
        '[{"name": "look", "arguments": {}}, {"tool_calls": []}]',
    ],
)
def test_every_way_to_write_a_tool_call_is_none_of_an_answer(call):
    assert extract(call) == Extraction()


@pytest.mark.parametrize(
    "value",
    ['{"name": "a"}', '{"arguments": {}}', '{"tool": 1, "x": 2}', "[]", '[{"name": "a", "arguments": {}}, {"x": 1}]'],
)
def test_what_is_no_tool_call_is_read(value):
    assert read(value, ()) == (json.loads(value), "strict")


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("<|channel|>analysis<|message|>hm", ""),
        ("\ufeffX marks it", "X marks it"),
        ("a &lt; b", "a &lt; b"),
        ("it is a<|im_end|>\n<|im_start|>user\nand b?", "it is a"),
        ("<|im_end|> it is a", "it is a"),
    ],
)
def test_what_a_reply_says(reply, said):
    assert visible_text(reply) == said


def test_an_empty_list_beside_a_table_is_left_over():
    table = "| node_key |\n|---|\n| a |"
    assert extract(f"[]\n{table}", *row_shapes(KEY)) == Extraction([A], "table", True)
    assert extract(f"So:\n{table}", *row_shapes(KEY)) == Extraction([A], "table")


@pytest.mark.parametrize(
    ("before", "after", "lossy"),
    [
        ("It is not the case that the answer is: ", "", True),
        ("the answer isn't\n```json\n", "\n```", True),
        ("The answer isn’t: ", "", True),
        ("It is not ", "", True),
        ("It can never be: ", "", True),
        ("I do not believe that the answer is ", ".", True),
        ("Rather than ", " it is another one", True),
        ("", " was ruled out", True),
        ("", " is not the right one", True),
        ("Neither ", " nor another", True),
        ("The first guess was wrong! The answer: ", "", False),
        ("This is not easy.\n", "\nI would not exclude that there is more.", False),
        ("Nodes without a WORKS and not in Rome: ", " have this value. No other does not.", False),
        ("not " * 60, "", True),
        ("not" + " " * 210, "", False),
    ],
)
def test_an_answer_that_its_sentence_denies_is_lossy(before, after, lossy):
    assert extract(f'{before}[{{"node_key": "a"}}]{after}', *row_shapes(KEY)).lossy is lossy


def test_a_denial_anywhere_makes_an_answer_without_a_place_lossy():
    assert extract("It is not true that\nnode_key: a", *row_shapes(KEY)) == Extraction([A], "marked", True)
    assert extract("It is true that\nnode_key: a", *row_shapes(KEY)) == Extraction([A], "marked", False)
