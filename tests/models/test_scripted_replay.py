"""Recorded replies come again in order."""

import pytest

from graphwalk.errors import ModelError
from graphwalk.models.scripted import ReplayModel
from graphwalk.types.chat import CallOptions, Message, Usage
from graphwalk.types.episode import ExitStatus, Trajectory, Turn
from tests.models.player import ASK, said


async def test_replay() -> None:
    turns = (
        Turn(Message("assistant", "a"), Usage(1, 2), "stop", 0.5),
        Turn(Message("assistant", "b"), Usage(3, 4), "stop", 0.25),
    )
    model = ReplayModel("replay/run", Trajectory(ASK, turns, ExitStatus.ANSWERED))
    replies = [await model.complete(ASK, (), CallOptions()) for _ in range(2)]
    assert replies == [
        said("a", usage=Usage(1, 2), finish_reason="stop", seconds=0.5),
        said("b", usage=Usage(3, 4), finish_reason="stop", seconds=0.25),
    ]
    with pytest.raises(ModelError, match="is over"):
        await model.complete(ASK, (), CallOptions())
    await model.close()
