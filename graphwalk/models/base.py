"""The interface of language models: one async method, messages in the OpenAI chat format."""

from collections.abc import Sequence
from typing import Protocol

from graphwalk.models.chat import CallOptions, Message, Reply, ToolSpec


class Model(Protocol):
    """A language model. One object serves many conversations at the same time."""

    name: str
    """`provider/model`."""

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        """Return the model's next message. Raise ModelError if the provider fails; `retryable`: worth a retry."""
        ...

    async def close(self) -> None:
        """Close connections."""
        return


class Wrapper(Model):
    """A model around `inner`, which has its name and is closed with it."""

    def __init__(self, inner: Model) -> None:
        self.inner = inner
        self.name = inner.name
        self.streams_by_callbacks: bool = getattr(inner, "streams_by_callbacks", False)

    async def close(self) -> None:
        await self.inner.close()
