"""A LangChain chat model that plays a script, for LangGraph without a language model or a key."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

from graphwalk.models.langchain import from_langchain, to_ai_message
from graphwalk.models.scripted import Policy, ScriptedModel
from graphwalk.types.chat import Reply

_WORD = re.compile(r"\s*\S+|\s+$")


class ScriptedChatModel(BaseChatModel):
    """A chat model that answers the last user message by a policy.

    It has no state: a reply follows from the messages since the question, so that checkpoints can be resumed.
    """

    policy: Callable[[str], Policy]
    """Question → policy."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **options: Any) -> Any:
        return self.bind(tools=tools, **options)

    def _generate(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **options: Any
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._reply(messages, options))])

    def _stream(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **options: Any
    ) -> Iterator[ChatGenerationChunk]:
        reply = self._reply(messages, options)
        for word in _WORD.findall(str(reply.content)):
            yield ChatGenerationChunk(message=AIMessageChunk(word))
        yield ChatGenerationChunk(message=AIMessageChunk("", tool_calls=reply.tool_calls))

    def _reply(self, messages: list[BaseMessage], options: dict[str, Any]) -> AIMessage:
        """Play the policy from the last question to its next reply."""
        conversation = list(map(from_langchain, messages))
        if len(conversation) > 1 and conversation[-1].role == "user" and conversation[-2].role == "tool":
            conversation.pop()  # the request for an answer when a limit is reached
        questions = [number for number, message in enumerate(conversation) if message.role == "user"]
        since = conversation[questions[-1] :] if questions else conversation
        script, parallel = (
            ScriptedModel("scripted", self.policy(since[0].content or "")),
            options.get("parallel_tool_calls"),
        )
        return to_ai_message(Reply(script.next_message(since, bool(options.get("tools")), parallel is not False)))
