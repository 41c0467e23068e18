"""A model backend: `constant/TEXT` always answers TEXT, a baseline for any suite."""

from collections.abc import Sequence

from graphwalk.extend import CallOptions, Message, Reply, ToolSpec, Variables


class ConstantModel:
    """`name` is what follows the provider; keys and addresses are in the environment."""

    def __init__(self, name: str, variables: Variables) -> None:
        self.text = variables.get("CONSTANT_PREFIX", "") + name

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        """Return the next message. Raise ModelError on a failure; its `retryable` allows another try."""
        return Reply(Message("assistant", self.text), finish_reason="stop")
