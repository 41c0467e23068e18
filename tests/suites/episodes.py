"""Short trajectories, written by hand."""

import json

from graphwalk.models.chat import Message, ToolCall
from graphwalk.models.trajectory import ExitStatus, ToolResult, Trajectory, Turn


def call(number, tool="get_node_by_property", **arguments):
    return ToolCall(f"call_{number}", tool, json.dumps(arguments))


def seen(asked, rows, error=None, found=None):
    """`found`: number of the rows in a text; a text without any is a note or a mistake."""
    content = rows if isinstance(rows, str) else json.dumps(rows)
    return ToolResult(asked, content, error=error, rows=found if isinstance(rows, str) else len(rows))


def tool_turn(*results):
    return Turn(Message("assistant", None, tuple(result.call for result in results)), results=tuple(results))


def episode(*turns, answer="", forced=False, status=ExitStatus.ANSWERED, prompt="The schema: (:Film) key"):
    return Trajectory(
        (Message("system", prompt), Message("user", "Which?")),
        (*turns, Turn(Message("assistant", answer), forced=forced)),
        status,
    )
