import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphwalk.scoring.brackets import balanced_spans
from graphwalk.scoring.extraction import extract_json, extract_with_model, strip_thinking
from graphwalk.scoring.rows import row_shapes
from graphwalk.types.chat import CallOptions, Message, Reply, Usage

KEY = row_shapes(("node_key",))
PAIR = row_shapes(("source_key", "target_key"))
A, B = {"node_key": "a"}, {"node_key": "b"}


@pytest.mark.parametrize(
    ("reply", "rows", "stage"),
    [
        ('[{"node_key": "a"}]', [A], "strict"),
        ('  \n[{"node_key": "a"}]\n', [A], "strict"),
        ('```json\n[{"node_key": "a"}]\n```', [A], "fenced"),
        ('So:\n```\n[{"node_key": "a"}]\n```\nDone.', [A], "fenced"),
        ('It is\n```json\n[{"node_key": "a"}]', [A], "fenced"),
        ('The answer is [{"node_key": "a"}, {"node_key": "b"}].', [A, B], "embedded"),
        ('As shown before [1], see {x}: [{"node_key": "a"}]', [A], "embedded"),
        ('[unclosed remark ... [{"node_key": "a"}]', [A], "embedded"),
        ('The node\'s key [a 5" pipe] is [{"node_key": "a"}]', [A], "embedded"),
        ('[{"node_key": "]} {["}]!', [{"node_key": "]} {["}], "embedded"),
        ("[{'node_key': 'a'}]", [A], "literal"),
        ("Answer: [{'node_key': 'a'}, {'node_key': \"b\"},]", [A, B], "literal"),
        ("({'node_key': 'a'},)", [A], "literal"),
        ('{"answer": [{"node_key": "a"}]}', [A], "wrapped"),
        ('{"why": "because", "rows": [{"node_key": "a"}]}', [A], "wrapped"),
        ('Here: {"result": [{"node_key": "a"}]}', [A], "wrapped"),
        ('"[{\\"node_key\\": \\"a\\"}]"', [A], "wrapped"),
        ('{"node_key": "a"}', [A], "bare"),
        ('["a", "b"]', [A, B], "bare"),
        ('{"node_key": ["a", "b"]}', [A, B], "bare"),
        ('"a"', [A], "bare"),
        ("[]", [], "strict"),
        ('The tool gave [] at first, then [{"node_key": "a"}]', [A], "embedded"),
        ('<think>maybe [{"node_key": "b"}]</think>[{"node_key": "a"}]', [A], "strict"),
        ('maybe [{"node_key": "b"}]</think>\n[{"node_key": "a"}]', [A], "strict"),
        ('<think>never ends [{"node_key": "b"}]', None, None),
        ("I do not know.", None, None),
        ("", None, None),
        ("null", None, None),
        ('[{"key": "a"}]', None, None),
        ('[{"node_key": "a"', None, None),
    ],
)
def test_answers_are_found(reply, rows, stage):
    assert extract_json(reply, *KEY) == (rows, stage)


def test_the_first_answer_of_the_expected_shape_counts():
    assert extract_json('[{"node_key": "a"}] or [{"node_key": "b"}]', *KEY)[0] == [A]


def test_plain_values_are_no_rows_where_there_are_several_fields():
    assert extract_json('["a", "b"]', *PAIR) == (None, None)


def test_without_a_shape_the_first_value_counts():
    assert extract_json('Path: ["1", "2"]') == (["1", "2"], "embedded")


def test_an_object_with_two_fitting_lists_is_ambiguous():
    assert extract_json('{"x": [{"node_key": "a"}], "y": [{"node_key": "b"}]}', *KEY) == (None, None)


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "1e999", "1" * 5000])
def test_numbers_that_json_cannot_hold_stay_text(text):
    rows, _ = extract_json(f'[{{"node_key": {text}}}]', *KEY)
    assert rows == [{"node_key": text}]
    json.dumps(rows, allow_nan=False)


HOSTILE = {
    "brackets": "[" * 10_000_000,
    "pairs": "[]" * 300_000,
    "bad pairs": "[x]" * 200_000,
    "deep": "[" * 200_000 + "]" * 200_000,
    "deep objects": '{"a":' * 100_000 + "1" + "}" * 100_000,
    "quotes": '["' * 300_000,
    "apostrophes": "[ '" * 300_000,
    "escapes": '["\\' * 300_000,
    "mismatched": "[{" * 200_000 + "]" * 200_000,
    "closers": "{" * 200_000 + "]" * 200_000,
    "fences": "```" * 300_000,
    "think": "<think>" * 200_000,
    "long text": "a" * 10_000_000,
    "long string": '[{"node_key": "' + "a" * 5_000_000 + '"}]',
    "signs": "-" * 150_000 + "1",
    "nots": "[" + "not " * 40_000 + "1]",
    "sum": "[" + "1+" * 40_000 + "1]",
    "attributes": "(a" + ".a" * 60_000 + ")",
    "calls": "[" + "a(" * 60_000 + ")" * 60_000 + "]",
    "powers": "[9**9**9**9]",
    "nuls": "\0" * 1000 + '[{"node_key": "\\u0000"}]',
    "surrogates": '[{"node_key": "\\ud800"}] \ud800',
    "bytes": "[{'node_key': b'a'}]",
    "complex": "[{'node_key': 1+2j}]",
    "bad escape": "[{'node_key': '\\d'}]",
    "huge literal": "[{'node_key': 0x" + "f" * 100_000 + "}]",
    "dotted i": "İ" * 1000 + "<THINK>x</THINK>[]",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_replies_neither_raise_nor_take_long(name):
    started = time.perf_counter()
    rows, _ = extract_json(HOSTILE[name], *KEY)
    assert time.perf_counter() - started < 5
    json.dumps(rows)


def test_deep_values_are_refused_so_that_they_can_be_logged():
    assert extract_json('[{"node_key": ' + "[" * 60 + "]" * 60 + "}]", *KEY) == (None, None)


def test_sets_are_read_in_one_order():
    assert extract_json("{'c', 'a', 'b'}", *KEY)[0] == [A, B, {"node_key": "c"}]


@settings(max_examples=300)
@given(st.text(alphabet=st.sampled_from("[]{}\"'\\,: ab1\n`<>/think"), max_size=60))
def test_any_text_is_read_without_an_exception(reply):
    rows, stage = extract_json(reply, *KEY)
    assert (rows is None) == (stage is None)


_CELLS = st.one_of(st.text(st.characters(exclude_characters="`<", exclude_categories=["Cs"])), st.integers(-99, 99))


@given(
    st.lists(st.fixed_dictionaries({"node_key": _CELLS}), min_size=1),
    st.sampled_from(["{}", "Well: {}.", "```json\n{}\n```"]),
)
def test_json_comes_back_from_every_surrounding(rows, surrounding):
    text = json.dumps(rows)
    assert extract_json(surrounding.replace("{}", text), *KEY)[0] == rows


@given(st.lists(st.fixed_dictionaries({"node_key": _CELLS}), min_size=1))
def test_python_literals_come_back(rows):
    assert extract_json(repr(rows), *KEY)[0] == rows


def test_spans_come_outermost_first():
    assert balanced_spans("x [a {b} (c)] {") == [(2, 13), (5, 8)]
    assert balanced_spans('["]"]') == [(0, 5)]
    assert balanced_spans("{]}") == [(0, 3)]


def test_thinking_is_cut_out_wherever_it_stands():
    assert strip_thinking("a<think>b</think>c<THINKING>d</THINKING>e") == "ace"


class Scribe:
    """Keeps what it is asked; answers in the asked form."""

    name = "test/scribe"

    def __init__(self):
        self.asked = ""

    async def complete(self, messages, tools, options: CallOptions) -> Reply:
        self.asked = "\n".join(message.content or "" for message in messages)
        return Reply(Message("assistant", '[{"node_key": "a"}]'), Usage(1, 1))

    async def close(self) -> None:
        return None


async def test_a_model_reads_question_form_and_reply():
    scribe = Scribe()
    answer = await extract_with_model(scribe, "Which node?", "<think>x7</think>It is a, I say.", "a list")
    assert answer.message.content == '[{"node_key": "a"}]'
    assert all(part in scribe.asked for part in ("Which node?", "It is a, I say.", "a list"))
    assert "x7" not in scribe.asked


def test_a_tool_call_written_as_text_is_no_answer():
    call = 'I will call\n```json\n{"name": "get_node_by_property", "arguments": {"label": "A"}}\n```\nand see.'
    assert extract_json(call, *row_shapes(["node_key"])) == (None, None)
    assert extract_json('{"answer": "a"}', *row_shapes(["node_key"])) == ([{"node_key": "a"}], "bare")
