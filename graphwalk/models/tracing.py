"""Report to LangChain's callbacks, without secrets: LangSmith, OpenInference, Langfuse, any other handler."""

from collections.abc import Sequence
from dataclasses import replace
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from graphwalk.errors import GraphwalkError
from graphwalk.models.base import Model
from graphwalk.models.langchain import to_ai_message, to_langchain
from graphwalk.models.wrappers import Wrapper
from graphwalk.sanitise import Secrets
from graphwalk.types.chat import CallOptions, Message, Reply, ToolSpec

if TYPE_CHECKING:
    from langchain_core.callbacks import AsyncCallbackManager
    from langchain_core.runnables import RunnableConfig


def callback_manager(
    config: "RunnableConfig | None" = None, secrets: Secrets | None = None
) -> "AsyncCallbackManager | None":
    """Return the manager of all handlers: of `config`, of a runnable around it, of the environment. None without any.

    `secrets` are removed from all that the handlers get, also from LangGraph and from LangChain's models.
    """
    from langchain_core.runnables.config import ensure_config, get_async_callback_manager_for_config

    manager = get_async_callback_manager_for_config(ensure_config(config))
    handlers: list[Any] = manager.handlers
    if secrets is not None:
        handlers = [one if type(one) is Redacting else Redacting(one, secrets) for one in handlers]
        manager.set_handlers(handlers)
    return manager if handlers else None


def manager_of_node(config: "RunnableConfig") -> "AsyncCallbackManager | None":
    """Return the manager of the handlers that LangGraph passes to a node, None without any."""
    return callback_manager(config) if getattr(config.get("callbacks"), "handlers", None) else None


class Redacting:
    """A handler of LangChain that gets texts without secrets, and whose errors are only logged."""

    raise_error = False

    def __init__(self, handler: Any, secrets: Secrets) -> None:
        self._handler, self._secrets = handler, secrets

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """The class of the handler: LangChain adds its tracer, and OpenInference its own, unless there is one."""
        return type(self._handler)

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._handler, name)
        if name == "copy_with_metadata_defaults":  # LangChain replaces its tracer by a copy
            return lambda **defaults: Redacting(attribute(**defaults), self._secrets)
        if not name.startswith("on_"):
            return attribute

        async def awaited(*values: Any, **named: Any) -> Any:
            return await attribute(*self._redacted(values), **self._redacted(named))

        def called(*values: Any, **named: Any) -> Any:
            return attribute(*self._redacted(values), **self._redacted(named))

        return awaited if iscoroutinefunction(attribute) else called

    def _redacted(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._secrets.redact_certain(value)
        if isinstance(value, dict):
            return {name: self._redacted(item) for name, item in value.items()}
        if isinstance(value, list | tuple):
            return [self._redacted(item) for item in value]
        if isinstance(value, BaseModel):  # messages and replies
            return value.model_copy(update=self._redacted(dict(value)))
        if isinstance(value, BaseException):  # without its cause and its traceback, which tracers send
            return GraphwalkError(self._secrets.redact_error(f"{type(value).__name__}: {value}"))
        return value


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
