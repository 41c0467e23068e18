"""A recorded trajectory as a model: it says again what was said."""

from collections.abc import Sequence

from graphwalk.errors import ModelError
from graphwalk.types.chat import CallOptions, Message, Reply, ToolSpec
from graphwalk.types.episode import Trajectory


class ReplayModel:
    """Plays one episode once; ModelError when the recording is over and another reply is wanted."""

    def __init__(self, name: str, trajectory: Trajectory) -> None:
        self.name = name
        replies: list[Reply] = []
        for turn in trajectory.turns:
            if turn.summary is not None:  # what it cost is part of the turn that follows it
                replies.append(Reply(Message("assistant", turn.summary)))
            replies.append(Reply(turn.message, turn.usage, turn.finish_reason, turn.seconds))
        self._replies = iter(replies)

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        reply = next(self._replies, None)
        if reply is None:
            raise ModelError("the recorded trajectory is over", hint="replay with the settings of the recorded run")
        return reply

    async def close(self) -> None:
        return None
