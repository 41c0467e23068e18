import pytest

from graphwalk.scoring.waste import count_cycles, waste_of
from graphwalk.types.chat import Message, ToolCall
from graphwalk.types.episode import ExitStatus, Trajectory
from tests.scoring.episodes import call, episode, seen, tool_turn


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
    ],
)
def test_cycles(calls, cycles):
    assert count_cycles(calls) == cycles


def test_nothing_happened():
    assert waste_of(Trajectory((Message("user", "?"),), (), ExitStatus.MODEL_ERROR)).repeated_calls == 0


def test_many_calls_are_counted_quickly():
    assert count_cycles(list(range(7000))) == 0
