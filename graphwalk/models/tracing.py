"""Report to LangChain's callbacks: LangSmith, OpenInference, Langfuse, any other handler."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from graphwalk.models.base import Model, Wrapper
from graphwalk.models.chat import CallOptions, Message, Reply, ToolSpec
from graphwalk.models.langchain import to_ai_message, to_langchain

if TYPE_CHECKING:
    from langchain_core.callbacks import AsyncCallbackManager
    from langchain_core.runnables import RunnableConfig


def callback_manager(config: "RunnableConfig | None" = None) -> "AsyncCallbackManager | None":
    """Return the manager of the handlers of `config`, of a runnable around it, and of the environment; None without."""
    from langchain_core.runnables.config import ensure_config, get_async_callback_manager_for_config

    manager = get_async_callback_manager_for_config(ensure_config(config))
    return manager if manager.handlers else None


def manager_of_node(config: "RunnableConfig") -> "AsyncCallbackManager | None":
    """Return the manager of the handlers that LangGraph passes to a node, None without any."""
    return callback_manager(config) if getattr(config.get("callbacks"), "handlers", None) else None


class Reporting(Wrapper):
    """A model whose calls are reported. LangChain's own models report theirs."""

    run_id: str | None = None
    """The id of the last report, in the form that LangChain's models give to their messages."""

    def __init__(self, inner: Model, manager: "AsyncCallbackManager") -> None:
        super().__init__(inner)
        self._manager = manager

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        from langchain_core.messages import AIMessageChunk
        from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, LLMResult

        if self.streams_by_callbacks:
            return await self.inner.complete(messages, tools, options)
        parameters = {"model": self.name, "tools": [tool.as_openai() for tool in tools]}
        (run,) = await self._manager.on_chat_model_start(
            {"name": self.name}, [list(map(to_langchain, messages))], invocation_params=parameters
        )
        self.run_id = run_id = f"lc_run--{run.run_id}"

        async def on_text(piece: str) -> None:
            chunk = ChatGenerationChunk(message=AIMessageChunk(content=piece, id=run_id))
            await run.on_llm_new_token(piece, chunk=chunk)

        # LangChain's models stream for these handlers too: those of LangGraph's stream mode "messages".
        if any(hasattr(handler, "tap_output_aiter") for handler in self._manager.handlers):
            options = replace(options, on_text=on_text)
        try:
            reply = await self.inner.complete(messages, tools, options)
        except BaseException as error:
            await run.on_llm_error(error)
            raise
        message = to_ai_message(reply)
        message.id = run_id
        if reply.model:
            message.response_metadata.setdefault("model_name", reply.model)
        await run.on_llm_end(LLMResult(generations=[[ChatGeneration(message=message)]]))
        return reply
