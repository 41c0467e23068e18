"""Elapsed time and the summed time of tool calls are two figures."""

from graphwalk.models.chat import Message, ToolCall
from graphwalk.models.trajectory import ExitStatus, ToolResult, Trajectory, Turn


def test_calls_side_by_side_take_the_time_that_passed() -> None:
    calls = tuple(ToolResult(ToolCall(str(n), "look", "{}"), "[]", rows=0, seconds=5.0) for n in range(2))
    turns = (
        Turn(Message("assistant"), seconds=1.0, results=calls, elapsed_in_tools=6.0),
        Turn(Message("assistant"), seconds=1.0),
    )
    trajectory = Trajectory((), turns, ExitStatus.ANSWERED)
    assert (trajectory.seconds, trajectory.tool_seconds) == (8.0, 10.0)
