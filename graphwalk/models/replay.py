"""Replay a recorded trajectory as a model."""

from collections.abc import Sequence

from graphwalk.errors import ModelError
from graphwalk.models.base import Model
from graphwalk.types.chat import CallOptions, Message, Reply, ToolSpec
from graphwalk.types.episode import Trajectory

OVER = "the recorded trajectory is over"


class ReplayModel(Model):
    """A model that returns the replies of one trajectory in order, then raises ModelError."""

    def __init__(self, name: str, trajectory: Trajectory) -> None:
        self.name = name
        self._replies = (Reply(turn.message, turn.usage, turn.finish_reason, turn.seconds) for turn in trajectory.turns)

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        reply = next(self._replies, None)
        if reply is None:
            raise ModelError(OVER, hint="replay with the settings of the recorded run")
        return reply
