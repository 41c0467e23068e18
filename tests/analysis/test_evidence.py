import csv
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphwalk.analysis.evidence import Evidence, tool_evidence, wasted_calls
from graphwalk.models.chat import Message, ToolCall
from graphwalk.models.trajectory import INTERNAL, ExitStatus, Trajectory
from tests.suites.episodes import call, episode, seen, tool_turn


def test_whole_values_only():
    evidence = Evidence(['[{"key": "abcd", "size": 12.50, "name": "two words, \\"quoted\\""}]'])
    assert all(map(evidence.holds, ["abcd", 12.5, "12.50", 'two words, "quoted"']))
    assert not any(map(evidence.holds, ["abc", "bcd", "12.5", 12, 5, "wo words", "", None, "missing"]))


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_a_value_written_as_json_or_csv_is_held(value):
    assert Evidence([json.dumps([{"key": value}])]).holds(value)
    assert Evidence(["x", json.dumps([{"key": value}], ensure_ascii=False)]).holds(value)
    if value.strip() == value and set(value) <= set("abc 1.-_é,"):
        stream = io.StringIO()
        csv.writer(stream).writerow([value])
        assert Evidence([stream.getvalue()]).holds(value)


@pytest.mark.parametrize(
    ("text", "value", "held"),
    [
        ("a,b\nf7,3\n", "f7", True),
        ('[["key","n"],["f7",3]]', 3, True),
        ('{"key": "f7", "n": 3.0}', 3, True),
        ("key=f7 n=3.", 3, True),
        ("key=f7 n=3.", "f", False),
        ("New York, New Yorker", "New York", True),
        ("a.b.c", "b", False),
        ("New Yorker", "New York", False),
        ("f(x) y", "(x) y", True),
        ("It is **f7**.", "f7", True),
        ("pre-war time", "war time", False),
    ],
)
def test_where_a_value_ends(text, value, held):
    assert Evidence([text]).holds(value) is held


def test_the_models_own_words_are_no_evidence():
    trajectory = episode(
        tool_turn(
            seen(call(1, "think", thought="maybe f1"), "maybe f1"),
            seen(call(2, property_value="f2"), "There is no f2", error="unknown_name"),
            seen(call(3, property_value="f3"), []),
            seen(call(4, property_value="f4"), 'Note: nothing equals "f4"\nNote: f7\nkey,n\nf5,1\nf6,2', found=2),
        )
    )
    evidence = tool_evidence(trajectory)
    assert [key for key in ("f1", "f2", "f3", "f4", "f5", "f6", "f7") if evidence.holds(key)] == ["f5", "f6"]


def test_wasted_calls():
    again = ToolCall("x", "get_node_by_property", '{ "b":2,"a":1 }')
    walk = episode(
        tool_turn(seen(call(1, a=1, b=2), [{"key": "f1"}]), seen(call(2, a=3), [{"key": "f2"}])),
        tool_turn(seen(again, [{"key": "f1"}])),
        tool_turn(seen(call(4, "think", thought="hm"), "hm"), seen(call(5, a=9), "no", error="bad_arguments")),
        tool_turn(seen(call(6, a=8), "no", error=INTERNAL)),
        answer='[{"node_key": "f2"}]',
    )
    assert wasted_calls(walk) == (1, 1)
    assert wasted_calls(Trajectory((Message("user", "?"),), (), ExitStatus.MODEL_ERROR)) == (0, 0)
