import json
import time

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from graphwalk.evaluation.extraction import extract, extract_with_model, strip_thinking
from graphwalk.evaluation.replies import match_brackets
from graphwalk.evaluation.rows import row_shapes
from graphwalk.types.chat import CallOptions, Message, Reply, Usage

KEY = ("node_key",)
PAIR = ("source_key", "target_key")
A, B = {"node_key": "a"}, {"node_key": "b"}


def read(reply, fields=KEY):
    """With no fields: whatever value there is."""
    extraction = extract(reply, *(row_shapes(fields) if fields else ()))
    return extraction.answer, extraction.stage


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
    assert read(reply) == (rows, stage)


def test_the_last_answer_of_the_expected_shape_counts():
    assert read('[{"node_key": "a"}] or [{"node_key": "b"}]')[0] == [B]


def test_plain_values_are_no_rows_where_there_are_several_fields():
    assert read('["a", "b"]', PAIR) == (None, None)


def test_without_a_shape_the_last_value_counts():
    assert read('Path: ["1"], no: ["1", "2"]', ()) == (["1", "2"], "embedded")


def test_an_object_with_two_fitting_lists_is_ambiguous():
    assert read('{"x": [{"node_key": "a"}], "y": [{"node_key": "b"}]}') == (None, None)


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "1e999", "1" * 5000])
def test_numbers_that_json_cannot_hold_stay_text(text):
    rows, _ = read(f'[{{"node_key": {text}}}]')
    assert rows == [{"node_key": text}]
    json.dumps(rows, allow_nan=False)


HOSTILE = {
    "brackets": "[" * 10_000_000,
    "pairs": "[]" * 80_000,
    "bad pairs": "[x]" * 50_000,
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
    "escaped quotes": "[" + '\\"' * 90_000 + "]",
    "comments": "[/*" * 60_000,
    "labels": "node_key: a\n" * 25_000,
    "label stars": "node_key:" + "*" * 200_000 + "x!",
    "quoted lines": "> " * 100_000 + "x",
    "tables": "| node_key |\n|---|\n| a |\n" * 8_000,
    "rules": "| a |\n|" + "-|" * 200_000 + "x",
    "boxes": "\\boxed{" * 100_000,
    "objects in prose": '{"node_key": "a"} x ' * 5_000,
    "lists": '[{"node_key": "a"}] x\n' * 5_000,
    "stars": "*" * 200_000 + "x",
    "ticks": "`" * 200_001 + "a",
    "commas": "[" + ", " * 90_000 + "]",
    "channels": "<|channel|>analysis" * 50_000,
    "tool calls": "<tool_call>" * 100_000,
    "pairs within": "[[]" * 80_000,
    "footnotes": "[1]" * 80_000,
    "denials": "not " * 200_000 + '[{"node_key": "a"}]',
    "denied labels": "not " * 50_000 + "\nnode_key: a",
    "spaces in a value": '[{"node_key": "' + " " * 200_000 + 'x"}]',
    "ticks in a value": '[{"node_key": "' + "`" * 200_000 + 'x"}]',
    "two long tables": ("| node_key |\n|---|\n" + "| a |\n" * 12_000 + "\n") * 2,
    "dotted i": "İ" * 1000 + "<THINK>x</THINK>[]",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_replies_neither_raise_nor_take_long(name):
    started = time.process_time()
    rows, _ = read(HOSTILE[name])
    assert time.process_time() - started < 5
    json.dumps(rows)


@pytest.mark.parametrize("piece", ["[", "{", '["', "[{", '{"a":', "[ ", "```"])
def test_a_million_characters_are_read_in_a_second(piece):
    reply = (piece * 1_000_000)[:1_000_000]
    started = time.process_time()
    read(reply)
    assert time.process_time() - started < 1


def test_deep_values_are_refused_so_that_they_can_be_logged():
    assert read('[{"node_key": ' + "[" * 60 + "]" * 60 + "}]") == (None, None)


def test_sets_are_read_in_one_order():
    assert read("{'c', 'a', 'b'}")[0] == [A, B, {"node_key": "c"}]


@settings(max_examples=300)
@given(st.text(alphabet=st.sampled_from("[]{}\"'\\,: ab1\n`<>/think"), max_size=60))
def test_any_text_is_read_without_an_exception(reply):
    rows, stage = read(reply)
    assert (rows is None) == (stage is None)


_TEXTS = st.text(st.characters(exclude_characters="`<", exclude_categories=["Cs"]))
_CELLS = st.one_of(_TEXTS.filter(lambda text: text.strip() not in {"...", "…"}), st.integers(-99, 99))
"""No cell is what stands for rows left out."""


@given(
    st.lists(st.fixed_dictionaries({"node_key": _CELLS}), min_size=1),
    st.sampled_from(["{}", "Well: {}.", "```json\n{}\n```"]),
)
def test_json_comes_back_from_every_surrounding(rows, surrounding):
    text = json.dumps(rows)
    assert read(surrounding.replace("{}", text))[0] == rows


@given(st.lists(st.fixed_dictionaries({"node_key": _CELLS}), min_size=1))
def test_python_literals_come_back(rows):
    assume("&quot;" not in repr(rows) and "&#34;" not in repr(rows))  # replies with these are taken for escaped ones
    assert read(repr(rows))[0] == rows


def test_spans_come_outermost_first():
    assert match_brackets("x [a {b} (c)] {") == ([(2, 13), (5, 8)], [14])
    assert match_brackets('["]"]') == ([(0, 5)], [])
    assert match_brackets("{]}") == ([(0, 3)], [])
    assert match_brackets("[{]") == ([(0, 3)], [1])
    assert match_brackets('[1] said: "[2]"') == ([(0, 3), (11, 14)], [])


def test_thinking_is_cut_out_wherever_it_stands():
    assert strip_thinking("a<think>b</think>c<THINKING>d</THINKING>e") == "ace"


class Scribe:
    """Keeps what it is asked; answers in the asked form."""

    name = "test/scribe"

    def __init__(self):
        self.asked = ""

    async def complete(self, messages, tools, options: CallOptions) -> Reply:
        assert ([message.role for message in messages], tools, options) == (["user"], (), CallOptions())
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


def test_placeholders_in_a_plain_list_are_no_keys():
    assert read('["<key of the node>", "a"]') == ([A], "bare")


def test_quoted_json_is_no_plain_value():
    assert read('{"answer": " [1, 2"}') == (None, None)
    assert read('{"answer": "{1: 2"}') == (None, None)


@pytest.mark.parametrize("answer", ['"a"', '["a"]'])
def test_a_plain_value_stands_alone_in_its_object(answer):
    assert read(f'{{"answer": {answer}}}') == ([A], "bare")
    assert read(f'{{"answer": {answer}, "unit": {{}}}}') == (None, None)


def test_corrections_that_have_something_in_common_take_back_what_they_lack():
    three = '[{"node_key": "a"}, {"node_key": "b"}, {"node_key": "c"}]'
    overlapping = ['[{"node_key": "a"}]', '[{"node_key": "b"}]', '[{"node_key": "a"}]']
    assert read("\n".join([three, *overlapping]))[0] == [A]
    assert read("\n".join([three, *overlapping[:2]]))[0] == [A, B, {"node_key": "c"}]


def test_a_tool_call_written_as_text_is_no_answer():
    call = 'I will call\n```json\n{"name": "get_node_by_property", "arguments": {"label": "A"}}\n```\nand see.'
    assert read(call) == (None, None)
    assert read('{"answer": "a"}') == ([{"node_key": "a"}], "bare")
