"""What every model backend has to keep."""

import asyncio
from collections.abc import Collection

from graphwalk.models import conformance
from graphwalk.models.base import Model
from graphwalk.models.conformance import Capability
from graphwalk.types.chat import CallOptions, Message, Reply

_CONVERSATIONS = 5


async def check_model(model: Model, *, without: Collection[str] = (), seconds: float = 120.0) -> list[Capability]:
    """All capabilities; AssertionError for one that failed, and for what no backend may do.

    `without` names capabilities that may fail: a weak model does not always do what its backend could. The checks make
    about twenty short calls, of which each has `seconds`.
    """
    found = await conformance.check_model(model, seconds=seconds)
    failed = {capability.name: capability.detail for capability in found if capability.status == "failed"}
    wrong = {name: detail for name, detail in failed.items() if name not in without}
    assert not wrong, "\n".join(f"{name}: {detail}" for name, detail in wrong.items())
    prompts = [(Message("user", f"Say the number {number}."),) for number in range(_CONVERSATIONS)]
    replies = await asyncio.gather(*(model.complete(prompt, (), CallOptions()) for prompt in prompts))
    for reply in replies:
        assert isinstance(reply, Reply), f"`complete` returned {type(reply).__name__} instead of a Reply"
        assert reply.message.role == "assistant", f"a reply has the role {reply.message.role!r}, not 'assistant'"
    return found
