"""Which texts are calls, and which are answers."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphwalk.models.text_calls import find_calls

KNOWN = ("look", "think")
LOOK_A = ("look", '{"key": "a"}')

CALLS = {
    "names with escapes": r'{"n\u0061me": "look", "\u0061rguments": {"key": "a"}}',
    "fenced": '```json\n{"name": "look", "arguments": {"key": "a"}}\n```',
    "tool_call tag": '<tool_call>\n{"name": "look", "arguments": {"key": "a"}}\n</tool_call>',
    "unclosed tag": '<tool_call>{"name": "look", "arguments": {"key": "a"}}',
    "bare": '{"name": "look", "arguments": {"key": "a"}}',
    "llama": '{"type": "function", "name": "look", "parameters": {"key": "a"}}',
    "arguments as text": '{"name": "look", "arguments": "{\\"key\\": \\"a\\"}"}',
    "list": '[{"name": "look", "arguments": {"key": "a"}}]',
    "function tag": '<function=look>{"key": "a"}</function>',
    "open function tag": '<function=look{"key": "a"}</function>',
    "function call": '<function=look({"key": "a"})</function>',
    "in prose": 'I will look {now}.\n{"name": "look", "arguments": {"key": "a"}}\nThen I know.',
    "after thinking": '<think>{"name": "look", "arguments": {}}</think>{"name": "look", "arguments": {"key": "a"}}',
}

XML_CALLS = {
    "Qwen3-Coder": "<tool_call>\n<function=look>\n<parameter=key>\na\n</parameter>\n</function>\n</tool_call>",
    "GLM": "<tool_call>look\n<arg_key>key</arg_key>\n<arg_value>a</arg_value>\n</tool_call>",
    "invoke": '<invoke name="look"><parameter name="key">a</parameter></invoke>',
    "unclosed": "<function=look>\n<parameter=key>\na",
    "with a namespace": "<function=functions.look><parameter=key>a</parameter></function>",
}


@pytest.mark.parametrize("text", XML_CALLS.values(), ids=XML_CALLS)
def test_calls_in_xml(text: str) -> None:
    assert find_calls(f"I look.\n{text}", KNOWN).calls == (LOOK_A,)


def test_an_argument_in_xml_has_the_type_of_its_schema() -> None:
    text = "<function=look><parameter=key>12</parameter><parameter=page>2</parameter></function>"
    schema = {"properties": {"key": {"type": "string"}, "page": {"type": "integer"}}}
    ((_, arguments),) = find_calls(text, KNOWN, {"look": schema}).calls
    assert arguments == '{"key": "12", "page": 2}'


ANSWERS = {
    "rows": '[{"name": "Zorep", "count": 3}]',
    "rows named as a tool": '[{"name": "look", "count": 3}]',
    "call inside an answer": '{"answer": {"name": "look", "arguments": {"key": "a"}}}',
    "list with one row that is none": '[{"name": "look", "arguments": {}}, {"node_key": "a"}]',
    "only a thought": '<think>{"name": "look", "arguments": {"key": "a"}}</think>{"count": 3}',
    "prose": "There are {3} nodes.",
    "empty": "",
}


@pytest.mark.parametrize("text", CALLS.values(), ids=CALLS.keys())
def test_calls(text: str) -> None:
    calls, before = find_calls(text, KNOWN)
    assert calls == (LOOK_A,)
    assert before in ("", "I will look {now}.", '<think>{"name": "look", "arguments": {}}</think>')


@pytest.mark.parametrize("text", ANSWERS.values(), ids=ANSWERS.keys())
def test_answers(text: str) -> None:
    reply = find_calls(text, KNOWN)
    assert reply.calls == ()
    assert reply.before == text


def test_several_calls_in_order_and_the_text_before_them() -> None:
    text = f"First this.\n{CALLS['fenced']}\nThen that.\n{CALLS['tool_call tag']}\n{CALLS['bare']}"
    reply = find_calls(text, KNOWN)
    assert reply.calls == (LOOK_A,) * 3
    assert reply.before == "First this."


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ('{"name": "look", "arguments": {"key": "a"', '{"key": "a"'),
        ('```json\n{"name": "look", "arguments": {"key": a}}\n```', '{"key": a}}'),
        ('<tool_call>{"name": "look", "arguments": {\'key\': 1}}</tool_call>', "{'key': 1}}"),
    ],
)
def test_a_broken_call_is_returned(text: str, arguments: str) -> None:
    assert find_calls(text, KNOWN).calls == (("look", arguments),)


@settings(deadline=None)
@given(st.text(st.sampled_from('{}[]":,\\`<>/ abcnamelookarguments\n'), max_size=200))
def test_any_text_is_parsed(text: str) -> None:
    find_calls(text, KNOWN)


@pytest.mark.parametrize(
    "piece",
    ["[{", '{"name": "look", "arguments": ', "```", "<tool_call>", "<arg_key>", "<parameter=a>", "<function=a>"],
)
def test_hostile_text_takes_no_time(piece: str) -> None:
    find_calls(piece * (1_000_000 // len(piece)), KNOWN)
