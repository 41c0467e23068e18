"""A LangChain chat model that plays a script, for LangGraph without a language model or a key."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

from graphwalk.models.langchain import from_langchain, to_ai_message
from graphwalk.models.scripted import Policy, ScriptedModel
from graphwalk.types.chat import Reply


class ScriptedChatModel(BaseChatModel):
    """A chat model that answers the last question by a policy, from the messages since then: it has no state."""

    policy: Callable[[str], Policy]

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **options: Any) -> Any:
        return self.bind(tools=tools, **options)

    def _generate(self, messages: list[BaseMessage], *unused: Any, **options: Any) -> ChatResult:
        conversation = list(map(from_langchain, messages))
        if [message.role for message in conversation[-2:]] == ["tool", "user"]:
            conversation.pop()  # the request for an answer when a limit is reached
        start = max((number for number, message in enumerate(conversation) if message.role == "user"), default=0)
        script = ScriptedModel("scripted", self.policy(conversation[start].content or ""))
        parallel = options.get("parallel_tool_calls", True)
        reply = Reply(script.next_message(conversation[start:], bool(options.get("tools")), parallel))
        return ChatResult(generations=[ChatGeneration(message=to_ai_message(reply))])

    def _stream(self, messages: list[BaseMessage], *unused: Any, **options: Any) -> Iterator[ChatGenerationChunk]:
        reply: Any = self._generate(messages, **options).generations[0].message
        for word in re.findall(r"\s*\S+|\s+$", reply.content):
            yield ChatGenerationChunk(message=AIMessageChunk(content=word))
        yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_calls=reply.tool_calls))
