"""A language model as a run calls it: from the agent's request to the provider's reply, in one place."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

from graphwalk.config.agent import AgentConfig
from graphwalk.config.calls import Limits, Price
from graphwalk.errors import ModelError
from graphwalk.models.backends.failure import NoToolsError, OverloadedError
from graphwalk.models.calls.budget import Budget
from graphwalk.models.calls.cache import ReplyCache, RequestKeys
from graphwalk.models.calls.charge import charged
from graphwalk.models.calls.expected import Expected
from graphwalk.models.calls.rate_limit import RateLimiter
from graphwalk.models.calls.turnstile import Turnstile
from graphwalk.models.model import Model
from graphwalk.models.protocol.text_protocol import TextProtocol
from graphwalk.seeds import stdlib_random
from graphwalk.types.chat import CallOptions, Message, Reply, ToolSpec, Usage

_LONGEST_WAIT = 60.0
"""Seconds; the bound of the random part of the wait before another try."""


class Caller:
    """Calls one model for all episodes of a run, and closes it at the end.

    Every reply is charged to the budget, those out of the cache too, so that a resumed run ends where an undisturbed
    one does. `ready` is called before every request; where it raises, nothing is sent. `note` is told of long pauses,
    and of a provider that does not report what calls take. Episodes go on through the `turnstile` when they have their
    replies. `first_wait` (seconds) bounds the wait before the second try; the bound doubles from try to try.
    """

    def __init__(
        self,
        model: Model,
        limits: Limits,
        agent: AgentConfig | None = None,
        *,
        price: Price | None = None,
        budget: Budget | None = None,
        cache: ReplyCache | None = None,
        seed: int = 0,
        note: Callable[[str], object] = lambda text: None,
        ready: Callable[[], None] = lambda: None,
        turnstile: Turnstile | None = None,
        first_wait: float = 0.5,
    ) -> None:
        self.name = model.name
        self._model = model
        self._limits = limits
        agent = agent or AgentConfig()
        self._prompts = agent.texts
        self._text = None if agent.tool_protocol == "native" else TextProtocol(agent.tool_protocol, agent.texts)
        self._price = price
        self._budget = budget or Budget()
        self._cache = cache
        self._draw = stdlib_random(seed, "retry", model.name)
        self._first_wait = first_wait
        self._note = note
        self._ready = ready
        self._turnstile = turnstile or Turnstile()
        self._expected = Expected(model.name, price)
        self._silent = False
        """It was announced that the provider does not report what calls take."""
        self._limiter = RateLimiter(
            limits.max_concurrency,
            limits.requests_per_minute,
            limits.tokens_per_minute,
            announce=lambda seconds: note(
                f"{self.name}: its server asks for a pause of {seconds:,.0f} s; all calls wait"
            ),
        )

    def for_episode(self, key: str) -> "EpisodeModel":
        """The model as one episode sees it. `key` names the episode within the run, and its replies in the cache."""
        return EpisodeModel(self, RequestKeys(self.name, key))

    async def complete(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions, key: str = ""
    ) -> Reply:
        """A reply, out of the cache if it holds one for `key`. ModelError where all tries fail, or the budget is spent.

        The cache holds what the agent sees, before a conversation is rewritten and after calls were found in a text.
        """
        cache = self._cache if key else None
        if cache is not None and (known := cache.get(key)) is not None:
            self._budget.charge(known.usage)
            return known
        spoken = self._text
        try:
            reply = await self._said(messages, tools, options)
        except NoToolsError:
            if spoken is None or spoken.in_prompt:
                raise
            self._describe_tools()
            reply = await self._said(messages, tools, options)
        if cache is not None:
            cache.put(key, reply)
        await self._turnstile.through()
        return reply

    async def _said(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        """A reply in the tool protocol that the model is spoken to in."""
        protocol = self._text
        if protocol is None:
            return await self._persist(messages, tools, options)
        reply = await self._persist(*protocol.outgoing(messages, tools, options))
        return protocol.incoming(reply, tools, len(messages))

    def _describe_tools(self) -> None:
        """From here on tools stand in the prompt, since the server takes none. Calls in flight may find out too."""
        if self._text is not None and not self._text.in_prompt:
            self._text = TextProtocol("text", self._prompts)
            self._note(f"{self.name}: its server takes no tools; they stand in the prompt now (--tool-protocol text)")

    async def close(self) -> None:
        await self._model.close()

    async def _persist(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        """Try again where that may help, at most `limits.retries` times; then the last ModelError.

        The waits are drawn uniformly from 0 to a bound that doubles, on top of what the server asks for. Nobody holds
        a place while waiting.
        """
        retries, longest = self._limits.retries, self._first_wait
        while True:
            try:
                return await self._attempt(messages, tools, options)
            except ModelError as error:
                if not error.retryable or retries == 0:
                    raise
                wait = (error.retry_after or 0.0) + self._draw.uniform(0.0, longest)
            await asyncio.sleep(wait)
            retries, longest = retries - 1, min(_LONGEST_WAIT, longest * 2.0)

    async def _attempt(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        """One request: sent as soon as pace, pauses and budget allow it, bounded by its deadline, and paid for."""
        seconds, budget = self._limits.call_seconds, self._budget
        expected = self._expected.usage(messages, tools, options) if budget.limited else Usage()
        with budget.booking(expected) as booking:
            async with self._limiter.slot(messages, booking) as slot:
                self._ready()
                try:
                    async with asyncio.timeout(seconds):
                        reply = await self._model.complete(messages, tools, options)
                except TimeoutError:
                    raise ModelError(f"{self.name} gave no reply within {seconds:g} s", retryable=True) from None
                except ModelError as error:
                    self._refuse_endless_pause(error)
                    raise
                reply = replace(reply, usage=charged(reply, messages, tools, self.name, self._price))
                budget.charge(reply.usage)
                self._expected.learn(reply.usage)
                slot.used = reply.usage.total_tokens
        if reply.usage.estimated and not self._silent:
            self._silent = True
            self._note(f"{self.name} does not report what calls take; tokens and cost of its replies are estimated")
        return reply

    def _refuse_endless_pause(self, error: ModelError) -> None:
        longest = self._limits.pause_seconds
        if error.retry_after is not None and error.retry_after > longest:
            raise OverloadedError(
                f"{error}; it asks to wait {error.retry_after:,.0f} s, and calls wait {longest:,.0f} s at most",
                hint="resume the run later, or raise limits.pause_seconds",
            ) from error


class EpisodeModel:
    """One episode's way to a caller. It is not closed with the episode: the caller is, at the end of the run."""

    def __init__(self, caller: Caller, keys: RequestKeys) -> None:
        self.name = caller.name
        self._caller = caller
        self._keys = keys

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        return await self._caller.complete(messages, tools, options, self._keys.next(messages, tools, options))

    async def close(self) -> None:
        return None
