"""Whatever a model says is written and read back without loss."""

import json
import math
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from graphwalk.types import wire
from graphwalk.types.chat import Message, Reply, ToolCall, Usage
from graphwalk.types.episode import ExitStatus, ToolResult, Trajectory, Turn

TEXT = st.text(st.characters(), max_size=20)
"""All code points: lone surrogates, NUL and bidirectional marks among them."""
SECONDS = st.floats(allow_nan=False)
COUNT = st.none() | st.integers(0)

CALLS = st.builds(ToolCall, TEXT, TEXT, TEXT)
MESSAGES = st.builds(
    Message,
    st.sampled_from(["system", "user", "assistant", "tool"]),
    st.none() | TEXT,
    st.lists(CALLS, max_size=3).map(tuple),
    st.none() | TEXT,
    st.none() | TEXT,
)
USAGES = st.builds(Usage, COUNT, COUNT, COUNT, COUNT, st.none() | SECONDS)
RESULTS = st.builds(ToolResult, CALLS, TEXT, st.none() | TEXT, st.none() | st.integers(0), SECONDS)
TURNS = st.builds(
    Turn,
    message=MESSAGES,
    usage=USAGES,
    finish_reason=TEXT,
    seconds=SECONDS,
    results=st.lists(RESULTS, max_size=2).map(tuple),
    next_user=st.none() | TEXT,
    summary=st.none() | TEXT,
    forced=st.booleans(),
)
TRAJECTORIES = st.builds(
    Trajectory,
    st.lists(MESSAGES, max_size=3).map(tuple),
    st.lists(TURNS, max_size=3).map(tuple),
    st.sampled_from(ExitStatus),
    st.none() | TEXT,
)


def through_json(value: dict[str, Any]) -> Any:
    return json.loads(json.dumps(value, allow_nan=False))


@given(TRAJECTORIES)
def test_trajectories_survive(trajectory: Trajectory) -> None:
    assert wire.trajectory_from_dict(through_json(wire.trajectory_to_dict(trajectory))) == trajectory


@given(st.builds(Reply, MESSAGES, USAGES, TEXT, SECONDS, TEXT))
def test_replies_survive(reply: Reply) -> None:
    assert wire.reply_from_dict(through_json(wire.reply_to_dict(reply))) == reply


def test_nan_survives() -> None:
    usage = wire.usage_from_dict(through_json(wire.usage_to_dict(Usage(cost=math.nan))))
    assert usage.cost is not None
    assert math.isnan(usage.cost)


def test_unknown_is_left_out() -> None:
    assert wire.reply_to_dict(Reply(Message("assistant", "hi"))) == {"message": {"role": "assistant", "content": "hi"}}
