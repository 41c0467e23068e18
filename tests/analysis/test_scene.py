"""The turns, calls and answer of a scene, from the record of an episode."""

import pytest

from graphwalk.analysis.scene import call_of
from graphwalk.analysis.suite_analysis import scene_maker
from graphwalk.models.chat import ToolCall
from graphwalk.models.trajectory import ToolResult
from graphwalk.runs.folder import RunFolder
from tests.analysis.page.conftest import RUNS

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


def test_evidence_is_claimed_only_where_a_node_of_the_answer_is_highlighted() -> None:
    folder = RunFolder.open(RUNS / "questions")
    captions: dict[str, set[str]] = {}
    for record in folder.records():
        scene = scene_maker(folder)(record)
        is_highlighted = any(node.fate in ("right", "wrong", "missed") for node in scene.nodes)
        assert scene.steps[-1].caption == ("evidence of the answer" if is_highlighted else "the answer")
        captions.setdefault(record["task"]["template"], set()).add(scene.steps[-1].caption)
    assert captions["node_count"] == {"the answer"}
    assert "evidence of the answer" in captions["path_finding"]
