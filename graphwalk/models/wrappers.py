"""Wrappers around a provider: each is a model that adds one behaviour and forwards the rest.

    Cached(TextTools(Retrying(RateLimited(Budgeted(provider)))))

The provider itself is wrapped in `Guarded`, where its texts and exceptions are sanitised.
"""

import asyncio
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from random import Random
from typing import Any

from graphwalk.config.calls import Limits
from graphwalk.errors import ModelError
from graphwalk.models.base import Model
from graphwalk.models.budget import Budget, charged_usage
from graphwalk.models.prices import KnownPrice
from graphwalk.models.provider_replies import bounded
from graphwalk.models.reply_cache import ReplyCache
from graphwalk.models.text_protocol import TextProtocol
from graphwalk.models.tokens import count_messages
from graphwalk.seeds import stdlib_random
from graphwalk.types.chat import CallOptions, Message, Reply, ToolCall, ToolSpec, Usage
from graphwalk.types.wire import to_dict
from graphwalk.variables import Variables

FIRST_WAIT, _LONGEST_WAIT = 0.5, 60.0
"""Seconds: bound of the random wait before the first retry, and largest bound."""
_LONG_PAUSE, _LONGEST_SLEEP = 60.0, 1.0


class Wrapper:
    """A model around `inner`, which has its name and is closed with it."""

    def __init__(self, inner: Model) -> None:
        self.inner = inner
        self.name = inner.name
        self.streams_by_callbacks: bool = getattr(inner, "streams_by_callbacks", False)

    async def close(self) -> None:
        await self.inner.close()


class Guarded(Wrapper):
    """A provider that raises only ModelError, and whose texts contain no secrets and no control characters.

    The provider's `close` is optional. `lent`: the object is the user's and is not closed.
    """

    def __init__(self, inner: Any, variables: Variables, name: str, *, lent: bool = False) -> None:
        self.inner, self.name = inner, name
        self.streams_by_callbacks = getattr(inner, "streams_by_callbacks", False)
        self._secrets, self._lent = variables.secrets, lent

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        try:
            reply = await self.inner.complete(messages, tools, options)
            if not isinstance(reply, Reply):
                raise ModelError(f"{self.name} returned {type(reply).__name__} instead of a Reply")
            redact, message = self._secrets.redact_certain, reply.message
            state = message.provider_state
            if state is not None:
                state = json.loads(redact(json.dumps(bounded(state))))
            clean = replace(
                message,
                content=None if message.content is None else redact(message.content),
                reasoning=None if message.reasoning is None else redact(message.reasoning),
                tool_calls=tuple(
                    ToolCall(redact(c.id), redact(c.name), redact(c.arguments)) for c in message.tool_calls
                ),
                provider_state=state,
            )
            return replace(reply, message=clean, finish_reason=redact(reply.finish_reason), model=redact(reply.model))
        except ModelError as error:
            error.args = (self._secrets.redact_error(str(error)),)
            error.hint = self._secrets.redact(error.hint)
            raise
        except Exception as error:
            cause = self._secrets.redact_error(f"{self.name} failed: {type(error).__name__}: {error}")
            raise ModelError(cause) from error

    async def close(self) -> None:
        close = None if self._lent else getattr(self.inner, "close", None)
        if close is not None:
            await close()


class Budgeted(Wrapper):
    """A model whose replies are charged to a budget, and that is not called when the budget is spent.

    A call that takes longer than `seconds` fails, and may be retried.
    `note` is called once if the provider does not report its usage.
    """

    def __init__(
        self,
        inner: Model,
        budget: Budget,
        price: KnownPrice | None,
        *,
        seconds: float,
        note: Callable[[str], object],
    ) -> None:
        super().__init__(inner)
        self._budget, self._price = budget, price
        self._seconds, self._note = seconds, note
        self._announced = False
        self._largest: Usage | None = None
        """The largest usage of a reply so far, which is expected of the next one."""

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        """Raise BudgetSpentError if the budget is spent."""
        async with self._budget.reservation(lambda: self._largest):
            try:
                async with asyncio.timeout(self._seconds):
                    reply = await self.inner.complete(messages, tools, options)
            except TimeoutError:
                raise ModelError(f"{self.name} gave no reply within {self._seconds:g} s", retryable=True) from None
            usage = charged_usage(reply, messages, tools, self._price)
            self._budget.charge(usage)
            self._largest = max(self._largest or usage, usage, key=lambda one: one.total_tokens)
        reply = replace(reply, usage=usage)
        if reply.usage.estimated and not self._announced:
            self._announced = True
            self._note(f"{self.name} does not report its usage; tokens and cost are estimated")
        return reply


class RateLimited(Wrapper):
    """A model with the rate limits of a run, shared by all conversations.

    Requests are spaced evenly. Tokens are estimated for a new call and corrected afterwards; a call starts when all
    earlier ones fit into `tokens_per_minute`. If a server asks to wait, all calls wait.

    A call fails if its server asks to wait more than `limits.pause_seconds`. `check` is called while a call waits, and
    may raise. `note` gets a sentence about each pause of more than a minute.
    """

    def __init__(self, inner: Model, limits: Limits, check: Callable[[], None], note: Callable[[str], object]) -> None:
        super().__init__(inner)
        self._request_seconds = 60.0 / limits.requests_per_minute if limits.requests_per_minute else 0.0
        self._token_seconds = 60.0 / limits.tokens_per_minute if limits.tokens_per_minute else 0.0
        self._longest_pause = limits.pause_seconds
        self._line = asyncio.Lock()
        self._next_request = self._next_tokens = self._paused_until = 0.0
        self._check, self._note = check, note

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        """Wait for the rate limits, then call the model."""
        expected, used = count_messages(messages) if self._token_seconds else 0, 0
        await self._pace(expected)
        try:
            reply = await self.inner.complete(messages, tools, options)
            used = reply.usage.total_tokens
            return reply
        except ModelError as error:
            if error.retry_after is not None:
                self._pause(error, error.retry_after)
            raise
        finally:
            # The estimate is corrected by what the provider reports.
            self._next_tokens += (used - expected) * self._token_seconds

    def _pause(self, error: ModelError, seconds: float) -> None:
        """Let all calls wait. Raise ModelError for a pause that is too long."""
        if seconds > self._longest_pause:
            raise ModelError(
                f"{error}; it asks to wait {seconds:,.0f} s, the limit is {self._longest_pause:,.0f} s",
                hint="resume the run later, or raise limits.pause_seconds",
            ) from error
        now = asyncio.get_running_loop().time()
        # Many calls get the same pause, which is announced once.
        if now + seconds - max(now, self._paused_until) > _LONG_PAUSE:
            self._note(f"{self.name}: its server asks for a pause of {seconds:,.0f} s; all calls wait")
        self._paused_until = max(self._paused_until, now + seconds)

    async def _pace(self, tokens: int) -> None:
        now = asyncio.get_running_loop().time
        if not (self._request_seconds or self._token_seconds or self._paused_until > now()):
            return
        async with self._line:
            # A pause may begin or grow while this call waits.
            while (wait := max(self._paused_until, self._next_request, self._next_tokens) - now()) > 0:
                self._check()
                await asyncio.sleep(min(wait, _LONGEST_SLEEP))
            self._next_request = now() + self._request_seconds
            self._next_tokens = max(now(), self._next_tokens) + tokens * self._token_seconds


class Retrying(Wrapper):
    """A model that retries at most `retries` times, after a random wait up to a doubling bound, plus the server's."""

    def __init__(self, inner: Model, retries: int, random: Random) -> None:
        super().__init__(inner)
        self._retries, self._random = retries, random

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        retries, longest = self._retries, FIRST_WAIT
        while True:
            try:
                return await self.inner.complete(messages, tools, options)
            except ModelError as error:
                if not error.retryable or retries == 0:
                    raise
                wait = (error.retry_after or 0.0) + self._random.uniform(0.0, longest)
            await asyncio.sleep(wait)
            retries, longest = retries - 1, min(_LONGEST_WAIT, longest * 2.0)


class TextTools(Wrapper):
    """A model with tools by a protocol."""

    def __init__(self, inner: Model, protocol: TextProtocol) -> None:
        super().__init__(inner)
        self._protocol = protocol

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        reply = await self.inner.complete(*self._protocol.outgoing(messages, tools, options))
        return self._protocol.incoming(reply, tools, len(messages))


class Cached(Wrapper):
    """The model of one episode. A reply in `cache` is charged to the budget, and the model is not called.

    The key of a request covers model, messages, tools, options, episode and position in the episode. The inner model
    is shared by all episodes and not closed.
    """

    def __init__(self, inner: Model, cache: ReplyCache | None, budget: Budget, episode_key: str) -> None:
        super().__init__(inner)
        self._cache, self._budget = cache, budget
        self._episode = hashlib.sha256(_canonical([inner.name, episode_key]))
        self._calls = 0
        self._digests: dict[Message, bytes] = {}
        """Digest of each message: a request repeats those of earlier ones."""
        self._tools: tuple[Sequence[ToolSpec] | None, bytes] = (None, b"")
        """The tools of the last request, and their digest."""

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        if self._cache is None:
            return await self.inner.complete(messages, tools, options)
        key = self.next_key(messages, tools, options)
        if (reply := self._cache.get(key)) is not None:
            self._budget.charge(reply.usage)
            return reply
        reply = await self.inner.complete(messages, tools, options)
        self._cache.put(key, reply)
        return reply

    async def close(self) -> None:
        return None

    def next_key(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> str:
        """Return the key of the next request, SHA-256 in hexadecimal."""
        sha = self._episode.copy()
        settings = {name: getattr(options, name) for name in _SETTINGS} | {"on_text": None}
        sha.update(_canonical([self._calls, settings]))
        self._calls += 1
        if self._tools[0] is not tools:
            self._tools = (tools, _digest([tool.as_openai() for tool in tools]))
        sha.update(self._tools[1])
        for message in messages:
            if (digest := self._digests.get(message)) is None:
                digest = self._digests[message] = _digest(to_dict(message))
            sha.update(digest)
        return sha.hexdigest()


_SETTINGS = [each.name for each in fields(CallOptions)]


def wrap(
    provider: Model,
    limits: Limits,
    *,
    budget: Budget,
    price: KnownPrice | None = None,
    seed: int = 0,
    note: Callable[[str], object] = lambda text: None,
) -> Model:
    """Return a provider with the wrappers that all episodes of a run share; `with_tools` adds a protocol."""
    seconds = limits.call_seconds
    model: Model = Budgeted(provider, budget, price, seconds=seconds, note=note)
    model = RateLimited(model, limits, budget.check, note)
    return Retrying(model, limits.retries, stdlib_random(seed, "retry", provider.name))


def _canonical(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def _digest(value: Any) -> bytes:
    return hashlib.sha256(_canonical(value)).digest()
