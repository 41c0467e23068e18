import pytest

from graphwalk.evaluation.evidence import count_cycles, waste_of
from graphwalk.types.chat import Message, ToolCall
from graphwalk.types.episode import ExitStatus, Trajectory, Turn
from tests.evaluation.episodes import call, episode, seen, tool_turn


def test_an_economical_walk_wastes_nothing():
    walk = episode(
        tool_turn(seen(call(1, value="start"), [{"key": "f1"}])),
        tool_turn(seen(call(2, value="f1"), [{"key": "f2"}])),
        answer='[{"node_key": "f2"}]',
    )
    waste = waste_of(walk)
    assert (waste.repeated_calls, waste.cycles, waste.unused_results, waste.tool_errors) == (0, 0, 0, 0)
    assert (waste.think_calls, waste.parallel_calls) == (0, 0)


def test_everything_that_is_counted():
    again = ToolCall("x", "get_node_by_property", '{ "b":2,"a":1 }')
    walk = episode(
        tool_turn(seen(call(1, a=1, b=2), [{"key": "f1"}]), seen(call(2, a=3), [{"key": "f2"}])),
        tool_turn(seen(again, [{"key": "f1"}])),
        tool_turn(seen(call(4, "think", thought="hm"), "hm"), seen(call(5, a=9), "no", error="bad_arguments")),
        answer='[{"node_key": "f2"}]',
    )
    waste = waste_of(walk)
    assert waste.repeated_calls == 1
    assert waste.unused_results == 1
    assert waste.tool_errors == 1
    assert waste.think_calls == 1
    assert waste.parallel_calls == 4


@pytest.mark.parametrize(
    ("calls", "cycles"),
    [
        ("", 0),
        ("A", 0),
        ("AAAA", 0),
        ("ABAB", 1),
        ("ABABAB", 2),
        ("ABCABC", 1),
        ("ABCAB", 0),
        ("XABABY", 1),
        ("AAAB" * 2, 1),
        ("ABCDEFGHIJKLMNOP" * 2, 1),
        ("ABCDEFGHIJKLMNOPQ" * 2, 0),
        ("ABABXCDCD", 2),
    ],
)
def test_cycles(calls, cycles):
    assert count_cycles(calls) == cycles


def test_calls_are_the_same_by_name_and_arguments():
    asked = [
        ("look", '{"a": 1}'),
        ("find", '{"a": 1}'),
        ("look", "{a"),
        ("look", '{ "a":1 }'),
        ("look", "{a"),
        ("look", "a"),
    ]
    results = [seen(ToolCall(str(number), *one), []) for number, one in enumerate(asked)]
    assert waste_of(episode(tool_turn(*results))).repeated_calls == 2


@pytest.mark.parametrize(
    ("said", "unused"),
    [
        (Message("assistant", "Then f1."), 0),
        (Message("assistant", None, reasoning="Then f1."), 0),
        (Message("assistant", None, (call(2, value="f1"),)), 0),
        (Message("assistant", "Then what?"), 1),
        (Message("assistant"), 1),
    ],
)
def test_a_result_is_used_where_the_model_names_something_new_of_it(said, unused):
    first = tool_turn(seen(call(1), [{"key": "f1"}]))
    assert waste_of(episode(first, Turn(said), answer="That is it.")).unused_results == unused


def test_a_result_that_shows_nothing_new_is_no_unused_one():
    walk = episode(
        tool_turn(seen(call(1, value="f1"), [{"key": "f1"}]), seen(call(2), [{"key": "Film"}])),
        tool_turn(seen(call(3), [{"key": "f2"}]), seen(call(4), [{"key": "f2"}])),
        tool_turn(seen(call(5), [{"key": "f2"}]), seen(call(6), "Note: f9\n[]", found=0)),
        answer="I do not know.",
    )
    assert waste_of(walk).unused_results == 1


def test_nothing_happened():
    assert waste_of(Trajectory((Message("user", "?"),), (), ExitStatus.MODEL_ERROR)).repeated_calls == 0


def test_many_calls_are_counted_quickly():
    assert count_cycles(list(range(7000))) == 0
