"""Elapsed time and the summed time of tool calls are two figures."""

from graphwalk.types.chat import Message, ToolCall
from graphwalk.types.episode import ExitStatus, ToolResult, Trajectory, Turn

CALLS = tuple(ToolResult(ToolCall(str(n), "look", "{}"), "[]", rows=0, seconds=5.0) for n in range(2))


def episode(elapsed_in_tools: float | None) -> Trajectory:
    turns = (
        Turn(Message("assistant"), seconds=1.0, results=CALLS, elapsed_in_tools=elapsed_in_tools),
        Turn(Message("assistant"), seconds=1.0),
    )
    return Trajectory((), turns, ExitStatus.ANSWERED)


def test_calls_side_by_side_take_the_time_that_passed() -> None:
    assert (episode(6.0).seconds, episode(6.0).tool_seconds) == (8.0, 10.0)
