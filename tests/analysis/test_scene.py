"""The turns, calls and answer of a scene, from the record of an episode."""

import pytest

from graphwalk.analysis.scene import call_of
from graphwalk.models.chat import ToolCall
from graphwalk.models.trajectory import ToolResult

CALL = '{"name": "get_node_by_property", "arguments": {"property_value": "Sea Holly"}}'


@pytest.mark.parametrize(
    ("beside", "thought"),
    [
        (None, None),
        ("I look for the ship.", "I look for the ship."),
        (f"```json\n{CALL}\n```", None),
        (f"I look for the ship.\n<tool_call>{CALL}</tool_call>", "I look for the ship."),
    ],
)
def test_a_call_that_is_written_as_text_is_no_thought(beside: str | None, thought: str | None) -> None:
    result = ToolResult(ToolCall("1", "get_node_by_property", '{"property_value": "Sea Holly"}'), "[]", rows=0)
    assert call_of(result, beside).thought == thought
