"""A model that plays a script in any conversation, for `build_agent` without a language model or a key."""

import re
from collections.abc import Callable, Sequence

from graphwalk.models.base import Model
from graphwalk.models.scripted import Policy, ScriptedModel
from graphwalk.types.chat import CallOptions, Message, Reply, ToolSpec


class ScriptedChatModel(Model):
    """A model that answers the last question by a policy, from the messages since then: it has no state."""

    def __init__(self, name: str, policy: Callable[[str], Policy]) -> None:
        self.name = name
        self._policy = policy

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        conversation = list(messages)
        if [message.role for message in conversation[-2:]] == ["tool", "user"]:
            conversation.pop()  # the request for an answer when a limit is reached
        start = max((number for number, message in enumerate(conversation) if message.role == "user"), default=0)
        script = ScriptedModel(self.name, self._policy(conversation[start].content or ""))
        reply = await script.complete(conversation[start:], tools, options)
        if options.on_text is not None:
            for word in re.findall(r"\s*\S+|\s+$", reply.message.content or ""):
                await options.on_text(word)
        return reply
