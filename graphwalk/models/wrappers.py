"""Wrappers around a provider: each is a model that adds one behaviour and forwards the rest.

`graphwalk.models.stack` puts them around each other. The provider itself is wrapped in `Guarded`, where its texts and
exceptions are sanitised.
"""

import asyncio
import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from graphwalk.config.agent import Limits
from graphwalk.errors import ModelError, RunLogError
from graphwalk.files.json_lines import LineWriter, decode_line, encode_line
from graphwalk.models.chat import (
    CallOptions,
    Message,
    Model,
    Reply,
    ToolSpec,
    Usage,
    Wrapper,
    canonical_json,
    from_dict,
    to_dict,
)
from graphwalk.models.finish_reasons import is_broken_off, is_of_model
from graphwalk.models.prices import KnownPrice
from graphwalk.models.text_calls import CALL_AS_TEXT, is_call_as_text
from graphwalk.models.tokens import RULE_ERROR, count_messages, count_tokens, tools_text
from graphwalk.sanitise import one_line

FIRST_WAIT, _LONGEST_WAIT = 0.5, 60.0
"""Seconds: bound of the random wait before the first retry, and largest bound."""
_LONG_PAUSE = 60.0
_MOST_TOKENS = 2**53
"""Largest number up to which a float holds each integer."""


class BudgetSpentError(ModelError):
    """Error for a call that was not made because the budget is spent."""


@dataclass
class Budget:
    """A budget in tokens and US dollars (None: no limit), and what is spent.

    `unpriced` counts calls of unknown cost; with any of these a limit in dollars cannot be kept.
    """

    tokens: int | None = None
    usd: float | None = None
    used: Usage = Usage()
    unpriced: int = 0

    @property
    def exhausted(self) -> bool:
        """True if the budget is spent; calls in flight still end."""
        if self.tokens is not None and self.used.total_tokens >= self.tokens:
            return True
        return self.usd is not None and (self.used.cost or 0.0) >= self.usd

    def charge(self, usage: Usage) -> None:
        self.used += usage
        self.unpriced += usage.cost is None


class Budgeted(Wrapper):
    """A model whose replies are charged to a budget, and that is not called when the budget is spent.

    A call that takes longer than `seconds` fails, and may be retried.
    Tokens that the provider does not report, or reports as no number of tokens, are estimated, rather too high than too
    low, and marked as estimated: without them a budget would never end. Hidden reasoning cannot be estimated. `note` is
    called once about it.
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
        self._budget = budget
        self._price = price
        self._seconds = seconds
        self._note = note
        self._is_announced = False

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        """Raise BudgetSpentError if the budget is spent."""
        if self._budget.exhausted:
            raise BudgetSpentError(
                "the budget of the run is spent", hint="resume with a higher --budget-usd or -tokens"
            )
        try:
            async with asyncio.timeout(self._seconds):
                reply = await self.inner.complete(messages, tools, options)
        except TimeoutError:
            raise ModelError(f"{self.name} gave no reply within {self._seconds:g} s", retryable=True) from None
        usage = credible(reply.usage)
        if not (usage.input_tokens and usage.output_tokens):
            usage = _with_estimates(usage, messages, tools, reply.message)
        if self._price is not None:
            usage = priced(usage, self._price)
        self._budget.charge(usage)
        if usage.estimated and not self._is_announced:
            self._is_announced = True
            self._note(f"{self.name} reports no usage of a reply; its tokens and cost are estimated")
        return replace(reply, usage=usage)


def _with_estimates(usage: Usage, messages: Sequence[Message], tools: Sequence[ToolSpec], reply: Message) -> Usage:
    """Return a usage with estimates of the tokens that the provider did not report."""
    if not usage.input_tokens:
        sent = count_messages(messages) + count_tokens(tools_text(tools))
        usage = replace(usage, input_tokens=_pessimistic(sent), estimated=True)
    is_empty = not (reply.content or reply.tool_calls)
    if not usage.output_tokens and (usage.estimated or not is_empty):
        usage = replace(usage, output_tokens=_pessimistic(count_messages((reply,))), estimated=True)
    return usage


def credible(usage: Usage) -> Usage:
    """Return a usage without figures that no provider can mean: below 0, NaN, infinity, text, more than 2⁵³ tokens."""
    if not isinstance(usage, Usage):
        return Usage()
    counts: dict[str, Any] = {}
    for name in ("input_tokens", "output_tokens", "reasoning_tokens", "cached_tokens"):
        amount = _amount(getattr(usage, name))
        if amount is not None and amount <= _MOST_TOKENS and amount.is_integer():
            counts[name] = int(amount)
    return Usage(**counts, cost=_amount(usage.cost), estimated=usage.estimated is True)


def _amount(number: Any) -> float | None:
    """Return a number that is finite and not negative, None for anything else."""
    if isinstance(number, bool) or not isinstance(number, int | float):
        return None
    try:
        amount = float(number)
    except OverflowError:
        return None
    return amount if math.isfinite(amount) and amount >= 0 else None


def priced(usage: Usage, price: KnownPrice) -> Usage:
    """Return the usage with its cost, unchanged if tokens are unknown.

    A price that the user stated has priority over the cost that the provider reports; a published price has not, unless
    that cost is 0.
    """
    if usage.input_tokens is None or usage.output_tokens is None:
        return usage
    if usage.cost and not price.stated:
        return usage
    cached = min(usage.cached_tokens or 0, usage.input_tokens)
    cost = price.price.cost(usage.input_tokens - cached, cached, usage.output_tokens)
    return replace(usage, cost=cost)


def _pessimistic(tokens: int) -> int:
    return math.ceil(tokens * (1 + RULE_ERROR))


class WholeReplies(Wrapper):
    """A model whose replies end as it wanted, at a limit or by a filter.

    A reply that its server stopped is a failure that may be retried; it is charged to the budget before. A word that
    is not known is taken as a good end; `note` gets a sentence about each such word, once.
    """

    def __init__(self, inner: Model, note: Callable[[str], object]) -> None:
        super().__init__(inner)
        self._note = note
        self._unknown: set[str] = set()
        self._named_call = False

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        """Raise ModelError for a reply that its server stopped."""
        reply = await self.inner.complete(messages, tools, options)
        reason = one_line(reply.finish_reason)
        if not is_of_model(reason):
            self._check_end(reason)
        if not self._named_call and is_call_as_text(reply.message, tools):
            self._named_call = True
            self._note(f"{self.name}: {CALL_AS_TEXT}")
        return reply

    def _check_end(self, reason: str) -> None:
        if is_broken_off(reason):
            raise ModelError(f"{self.name}: its server broke the reply off ({reason})", retryable=True)
        if reason not in self._unknown:
            self._unknown.add(reason)
            self._note(f'{self.name} ended a reply with "{reason}", which is not known: it is taken as whole')


class RateLimited(Wrapper):
    """A model whose calls keep to one pace, in all conversations.

    Requests are spaced evenly. A call begins when the tokens of all earlier replies fit into `tokens_per_minute`. If a
    server asks to wait, all calls wait; `note` gets a sentence about each such pause of more than a minute. A call
    fails if its server asks to wait more than `pause_seconds`.
    """

    def __init__(self, inner: Model, limits: Limits, note: Callable[[str], object]) -> None:
        super().__init__(inner)
        self._longest_pause, self._note = limits.pause_seconds, note
        self._request_seconds = 60.0 / limits.requests_per_minute if limits.requests_per_minute else 0.0
        self._token_seconds = 60.0 / limits.tokens_per_minute if limits.tokens_per_minute else 0.0
        self._line = asyncio.Lock()
        self._next_request = self._next_tokens = self._paused_until = 0.0

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        """Wait for the rate limits, then call the model. Raise ModelError for a pause that is too long."""
        await self._wait()
        try:
            reply = await self.inner.complete(messages, tools, options)
        except ModelError as error:
            seconds = error.retry_after
            if seconds is not None and seconds > self._longest_pause:
                raise ModelError(
                    f"{error.message}; it asks to wait {seconds:,.0f} s, the limit is {self._longest_pause:,.0f} s",
                    hint="resume the run later, or raise limits.pause_seconds",
                ) from error
            if seconds is not None:
                self._pause(seconds)
            raise
        if self._token_seconds:
            now = asyncio.get_running_loop().time()
            self._next_tokens = max(now, self._next_tokens) + reply.usage.total_tokens * self._token_seconds
        return reply

    async def _wait(self) -> None:
        """Wait until the next call may begin."""
        now = asyncio.get_running_loop().time
        if not (self._request_seconds or self._token_seconds or self._paused_until > now()):
            return
        async with self._line:
            # A pause may begin or grow while this call waits.
            while (wait := max(self._paused_until, self._next_request, self._next_tokens) - now()) > 0:  # noqa: ASYNC110
                await asyncio.sleep(wait)
            self._next_request = now() + self._request_seconds

    def _pause(self, seconds: float) -> None:
        """Let no call begin for so long."""
        now = asyncio.get_running_loop().time()
        # Many calls get the same pause, which is announced once.
        if now + seconds - max(now, self._paused_until) > _LONG_PAUSE:
            self._note(f"{self.name}: its server asks for a pause of {seconds:,.0f} s; all calls wait")
        self._paused_until = max(self._paused_until, now + seconds)


class Retrying(Wrapper):
    """A model that retries at most `retries` times, after a random wait up to a doubling bound, plus the server's.

    `note` gets the first failure at once.
    """

    def __init__(self, inner: Model, retries: int, random: Random, note: Callable[[str], object]) -> None:
        super().__init__(inner)
        self._retries, self._random, self._note = retries, random, note
        self._failed = False

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        retry = 1
        longest = FIRST_WAIT
        while True:
            try:
                return await self.inner.complete(messages, tools, options)
            except ModelError as error:
                if not error.retryable or retry > self._retries:
                    raise
                if not self._failed:
                    self._failed = True
                    self._note(f"{self.name}: {error.message}; retry {retry} of {self._retries}")
                wait = (error.retry_after or 0.0) + self._random.uniform(0.0, longest)
            await asyncio.sleep(wait)
            retry += 1
            longest = min(_LONGEST_WAIT, longest * 2.0)


class ReplyCache:
    """The replies of one run on disk, one line each; memory holds only their positions in the file.

    The lock of the run folder admits one process at a time. An incomplete last line is removed. Raise RunLogError if
    the file is damaged elsewhere, or cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._places: dict[str, tuple[int, int]] = {}
        """Key → the first byte of its line, and the length."""
        self._charged: set[str] = set()
        """Keys of the replies that the budget of this process has."""
        self._end = 0
        path.touch()
        self._reader = path.open("rb")
        for number, line in enumerate(self._reader, 1):
            if not line.endswith(b"\n"):
                break
            try:
                self._places[decode_line(line)["key"]] = (self._end, len(line))
            except (ValueError, KeyError) as error:
                self._reader.close()
                hint = "restore the file from a copy, or remove it: its replies are then asked for again"
                raise RunLogError(f"{path}:{number}: the line is damaged ({error})", hint=hint) from error
            self._end += len(line)
        self._writer = LineWriter(path)

    def __len__(self) -> int:
        return len(self._places)

    def read(self, key: str) -> tuple[bytes, bool] | None:
        """Return the line of a reply, and whether the budget of this process has it already; None without a reply."""
        place = self._places.get(key)
        if place is None:
            return None
        is_charged = key in self._charged
        self._charged.add(key)
        start, length = place
        self._reader.seek(start)
        return self._reader.read(length), is_charged

    def write(self, key: str, line: bytes) -> None:
        self._writer.write(line)
        self._charged.add(key)
        self._places[key] = (self._end, len(line))
        self._end += len(line)

    def close(self) -> None:
        self._reader.close()
        self._writer.close()


class Cached(Wrapper):
    """The model of one episode. A reply in `cache` is charged to the budget once, and the model is not called.

    The key of a request covers model, messages, tools, options, episode and position in the episode. The inner model
    is shared by all episodes and not closed.
    """

    def __init__(self, inner: Model, cache: ReplyCache | None, budget: Budget, episode_key: str) -> None:
        super().__init__(inner)
        self._cache, self._budget = cache, budget
        self._episode = hashlib.sha256(canonical_json([inner.name, episode_key]))
        self._calls = 0

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        if self._cache is None:
            return await self.inner.complete(messages, tools, options)
        sha = self._episode.copy()
        sha.update(b"[%d,%s]" % (self._calls, options.canonical))
        for tool in tools:
            sha.update(tool.json.encode("utf-8", "surrogatepass"))
        for message in messages:
            sha.update(message.digest)
        self._calls += 1
        key = sha.hexdigest()
        logged = self._cache.read(key)
        if logged is not None:
            line, is_charged = logged
            reply = from_dict(Reply, decode_line(line)["reply"])
            if not is_charged:
                self._budget.charge(reply.usage)
            return reply
        reply = await self.inner.complete(messages, tools, options)
        line = encode_line({"key": key, "reply": to_dict(reply)})
        self._cache.write(key, line)
        # JSON has no NaN, no infinity and no tuples. After a resume the reply is read from the line, and the keys of
        # all later requests of the episode follow from it: it is used as it was written from the beginning.
        return from_dict(Reply, decode_line(line)["reply"])

    async def close(self) -> None:
        return None
