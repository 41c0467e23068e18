import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphwalk.config.agent import AgentConfig
from graphwalk.models.chat import CallOptions, Message, Reply, Usage
from graphwalk.suites.extraction import (
    Extraction,
    extract,
    extract_with_model,
    find_values,
    strip_thinking,
    visible_text,
)
from graphwalk.suites.magma.answers import read_states
from graphwalk.suites.mazes.suite import extract_path
from graphwalk.suites.rows import row_form
from tests.suites.reply_corpus import counts, readings

KEY = ("node_key",)
A, B = {"node_key": "a"}, {"node_key": "b"}
ONE = '[{"node_key": "a"}]'


def read(reply: str, fields: tuple[str, ...] = KEY) -> Extraction:
    return extract(reply, row_form(fields))


@pytest.mark.parametrize(
    ("reply", "rows", "stage"),
    [
        (ONE, [A], "strict"),
        (f"```json\n{ONE}\n```", [A], "fenced"),
        (f"It is\n```json\n{ONE}", [A], "fenced"),
        ('The answer is [{"node_key": "a"}, {"node_key": "b"}].', [A, B], "embedded"),
        (f"As shown before [1], see {{x}}: {ONE}", [A], "embedded"),
        ('so: [{"node_key": "]} {["}]!', [{"node_key": "]} {["}], "embedded"),
        ('{"node_key": "a"}\n{"node_key": "b"}', [A, B], "lines"),
        ("[{'node_key': 'a'}]", [A], "literal"),
        (f'{{"answer": {ONE}}}', [A], "wrapped"),
        (f'{{"response": {{"data": {ONE}}}}}', [A], "wrapped"),
        ('{"node_key": ["a", "b"]}', [A, B], "wrapped"),
        ('{"node_key": "a"}', [A], "bare"),
        ('["a", "b"]', [A, B], "bare"),
        ('"a"', [A], "bare"),
        ("[]", [], "strict"),
        (f'<think>maybe [{{"node_key": "b"}}]</think>{ONE}', [A], "strict"),
        (f'maybe [{{"node_key": "b"}}]</think>\n{ONE}', [A], "strict"),
    ],
)
def test_the_usual_styles_are_read_whole(reply: str, rows: Any, stage: str) -> None:
    assert read(reply) == Extraction(rows, stage)


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "I do not know.",
        "The node is a.",
        "| node_key |\n|---|\n| a |",
        '[{"node_key": "a", "year": null},]',
        '[{"node_key": "a"}, {node_key: "b"}]',
        '[{"key": "a", "name": "b"}]',
        '[{"node_key": "a"',
        '"[{\\"node_key\\": \\"a\\"}]"',
        '<think>never ends [{"node_key": "b"}]',
        '{"name": "look", "arguments": {"node_key": "a"}}',
        '{"node_key": ' + "[" * 60 + "]" * 60 + "}",
    ],
)
def test_other_styles_are_left_to_the_model(reply: str) -> None:
    assert read(reply) == Extraction()


@pytest.mark.parametrize(
    ("reply", "rows"),
    [
        ('[{"node_key": "b"}]\n[{"node_key": "a"}]', [A]),
        ("Either ['b'] or ['a']", [A]),
        (f'{ONE}\nbut rather {{"node_key": "b"}}', [B]),
        ('Answer: []\nVisited: ["a", "b"]', [A, B]),
        (f"{ONE} and nothing else: []", []),
        (f"{ONE}\n\nPoprawka: b", [A]),
        (f"{ONE}\nWait, this is not right.", [A]),
        (f"The answer is not {ONE}", [A]),
        ('{"visited": ["a"], "answer": null}', [A]),
        ('{"visited": ["b"], "answer": "a"}', [A]),
        (f'{{"answer": {ONE}, "candidates": ["b"]}}', [A]),
        (f'{{"excluded": {ONE}}}', [A]),
        ('[{"node_key": "b", "node_key": "a"}]', [A]),
        ('[{"node_key": "a"}, "b"]', [A]),
    ],
)
def test_a_reply_that_may_mean_another_answer_is_lossy_and_its_last_value_counts(reply: str, rows: Any) -> None:
    extraction = read(reply)
    assert (extraction.answer, extraction.lossy, extraction.sure) == (rows, True, False)


@pytest.mark.parametrize(
    "reply",
    [
        f"{ONE}: ['a']",
        f"<answer>{ONE}</answer>",
        f"**Answer:** a\n\n{ONE}",
        f"| step | node |\n|---|---|\n| 1 | b |\n\n{ONE}",
        f"The nodes that do not have a b [2] are:\n\n{ONE}",
    ],
)
def test_the_same_answer_again_and_explanations_are_not_lossy(reply: str) -> None:
    assert read(reply).sure


@pytest.mark.parametrize(
    ("rest", "lossy"),
    [("", False), ("\nCorrection: [0]", True), ("\n\\boxed{[0]}", True), ("\nReachable Nodes: none", True)],
)
def test_states_of_algorithms_are_read_by_the_same_rules(rest: str, lossy: bool) -> None:
    assert read_states("bfs", f"Queue: [1]\nReachable Nodes: [0, 1]{rest}") == Extraction([0, 1], "embedded", lossy)


HOSTILE = {
    "brackets": "[" * 50_000,
    "quotes": '["' * 20_000,
    "literals": "['a', 'b'] or " * 2_000,
    "long string": '[{"node_key": "' + "a" * 200_000 + '"}]',
    "signs": "[" + "-" * 30_000 + "1]",
    "surrogates": '[{"node_key": "\\ud800"}] \ud800',
    "NaN": '[{"node_key": NaN}]',
    "huge integer": '[{"node_key": ' + "9" * 200_000 + "}]",
    "rules": ONE + "| a |\n|" + "-|" * 40_000 + "x",
    "prefixes": "Reachable Nodes: [0] " * 4_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_replies_do_not_raise(name: str) -> None:
    for extraction in (read(HOSTILE[name]), extract_path(HOSTILE[name]), read_states("bfs", HOSTILE[name])):
        json.dumps(extraction.answer, allow_nan=False)


@given(st.text(alphabet=st.sampled_from("[]{}\"'\\,: ab1\n`<>/think|-"), max_size=60))
def test_any_text_is_read_without_an_exception(reply: str) -> None:
    extraction = read(reply)
    assert (extraction.answer is None) == (extraction.stage is None)


def test_thinking_is_removed() -> None:
    assert strip_thinking("a<think>b</think>c<THINKING>d</THINKING>e") == "ace"
    assert visible_text("<|channel|>analysis<|message|>hm") == ""
    assert visible_text("it is a<|im_end|>\n<|im_start|>user\nand b?") == "it is a"


class Scribe:
    """A model that records its prompt and answers in the requested form."""

    name = "test/scribe"
    prompt = ""

    async def complete(self, messages: Any, tools: Any, options: CallOptions) -> Reply:
        assert ([message.role for message in messages], tools, options) == (["user"], (), CallOptions())
        self.prompt = "\n".join(message.content or "" for message in messages)
        return Reply(Message("assistant", ONE), Usage(1, 1))

    async def close(self) -> None:
        return None


async def test_a_model_reads_question_form_and_reply() -> None:
    scribe = Scribe()
    answer = await extract_with_model(
        scribe, "Which node?", "<think>x7</think>It is a, I say.", "a list", AgentConfig()
    )
    assert answer.message.content == ONE
    assert all(part in scribe.prompt for part in ("Which node?", "It is a, I say.", "a list"))
    assert "x7" not in scribe.prompt


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
