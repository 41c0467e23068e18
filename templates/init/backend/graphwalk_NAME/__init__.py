"""The model backend `NAME`: `NAME/TEXT` answers TEXT; put your model in its place."""

from collections.abc import Sequence

from graphwalk import CallOptions, Message, Reply, ToolSpec
from graphwalk.variables import Variables


class Backend:
    """`name` is what follows the provider; keys and addresses are in `variables`."""

    def __init__(self, name: str, variables: Variables) -> None:
        self.name = name

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        """Return the next message. Raise ModelError on a failure; its `retryable` allows another try."""
        return Reply(Message("assistant", self.name), finish_reason="stop")
