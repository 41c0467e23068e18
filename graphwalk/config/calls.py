"""How models are called: what is sent, how fast, what it may cost."""

from typing import Any

from pydantic import Field, PositiveFloat, PositiveInt

from graphwalk.config.strict import Strict


class ModelOptions(Strict):
    """Sent with every call; None leaves it to the provider."""

    temperature: float | None = Field(default=None, ge=0)
    top_p: float | None = None
    max_output_tokens: PositiveInt | None = None
    reasoning_effort: str | None = None
    seed: int | None = None
    extra: dict[str, Any] = Field(default_factory=dict)


class Rates(Strict):
    """US dollars per million tokens."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached_input: float | None = Field(default=None, ge=0)
    """Input that the provider still held ready; None: as any other."""

    def cost(self, new: int, cached: int, output: int) -> float:
        """US dollars for so many tokens: input that is new, input from the provider's cache, output."""
        cached_input = self.input if self.cached_input is None else self.cached_input
        return (new * self.input + cached * cached_input + output * self.output) / 1_000_000


class LongRates(Rates):
    """The rates of a call whose whole input is longer than `above` tokens."""

    above: PositiveInt


class Price(Rates):
    """What calls of a model cost where its provider does not report it."""

    long: LongRates | None = None

    def cost(self, new: int, cached: int, output: int) -> float:
        if self.long is not None and new + cached > self.long.above:
            return self.long.cost(new, cached, output)
        return super().cost(new, cached, output)


class Limits(Strict):
    """How fast, how long, how much. None: no limit. Seconds, tokens, US dollars."""

    max_concurrency: PositiveInt = 8
    requests_per_minute: PositiveFloat | None = None
    tokens_per_minute: PositiveFloat | None = None
    retries: int = Field(default=8, ge=0)
    call_seconds: PositiveFloat = 300
    pause_seconds: PositiveFloat = 600
    """A call whose server asks to wait longer than this fails instead."""
    episode_seconds: PositiveFloat = 3600
    episode_tokens: PositiveInt | None = None
    episode_usd: PositiveFloat | None = None
    budget_tokens: PositiveInt | None = None
    budget_usd: PositiveFloat | None = None
