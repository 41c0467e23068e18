"""Fields of scores, and the times of an episode."""

import pytest
from pydantic import create_model

from graphwalk.analysis.suite_analysis import Explanation
from graphwalk.errors import ConfigError
from graphwalk.models.chat import Message, ToolCall
from graphwalk.models.trajectory import ExitStatus, ToolResult, Trajectory, Turn
from graphwalk.suites.suite import EXPLAINED, Score


def test_calls_side_by_side_take_the_time_that_passed() -> None:
    calls = tuple(ToolResult(ToolCall(str(n), "look", "{}"), "[]", rows=0, seconds=5.0) for n in range(2))
    turns = (
        Turn(Message("assistant"), seconds=1.0, results=calls, elapsed_in_tools=6.0),
        Turn(Message("assistant"), seconds=1.0),
    )
    trajectory = Trajectory((), turns, ExitStatus.ANSWERED)
    assert (trajectory.seconds, trajectory.tool_seconds) == (8.0, 10.0)


@pytest.mark.parametrize("field", ["correct", "lossy", *Explanation.model_fields])
def test_a_field_with_the_name_of_one_of_ours_is_refused_where_a_score_is_defined(field: str) -> None:
    assert set(EXPLAINED) == set(Explanation.model_fields)
    with pytest.raises(ConfigError, match=f"Own has fields with names of ours: {field}"):
        create_model("Own", __base__=Score, **{field: (int, 0)})
