"""A model backend: `constant/TEXT` always answers TEXT, a baseline for any suite."""

from graphwalk import CallOptions, Message, Reply, ToolSpec
from graphwalk.environment import Environment


class ConstantModel:
    """`name` is what follows the provider; keys and addresses are in the environment."""

    def __init__(self, name: str, environment: Environment) -> None:
        self.text = environment.get("CONSTANT_PREFIX", "") + name

    async def complete(self, messages: list[Message], tools: list[ToolSpec], options: CallOptions) -> Reply:
        """The next message. A failure is a ModelError, which says whether to try again."""
        return Reply(Message("assistant", self.text), finish_reason="stop")
