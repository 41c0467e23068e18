"""The seam to language models: one async method, messages in the OpenAI chat format."""

from collections.abc import Sequence
from typing import Protocol

from graphwalk.types.chat import CallOptions, Message, Reply, ToolSpec


class Model(Protocol):
    """A language model. One object serves many conversations at the same time."""

    name: str
    """As the user wrote it: `provider/model`."""

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        """The model's next message. ModelError where the provider fails; `retryable` tells whether to try again."""
        ...

    async def close(self) -> None:
        """Give back connections."""
        ...
