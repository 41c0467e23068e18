"""How models are called: what is sent, how fast, what it may cost."""

from pydantic import Field, PositiveFloat, PositiveInt

from graphwalk.config.strict import LoggedSettings, Strict


class ModelOptions(Strict):
    """Sent with every call; None leaves it to the provider."""

    temperature: float | None = Field(default=None, ge=0)
    """Sampling temperature."""
    top_p: float | None = None
    """Share of the probability that tokens are drawn from."""
    max_output_tokens: PositiveInt | None = None
    """Longest reply."""
    reasoning_effort: str | None = None
    """How much a reasoning model thinks, in its provider's words: low, medium, high, …"""
    seed: int | None = None
    """For providers that promise the same reply for the same seed."""
    extra: LoggedSettings = Field(default_factory=dict)
    """Other fields of the request, as the provider names them."""


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
    """Episodes in flight."""
    requests_per_minute: PositiveFloat | None = None
    """Of each model."""
    tokens_per_minute: PositiveFloat | None = None
    """Of each model."""
    retries: int = Field(default=8, ge=0)
    """How often a call that failed is made again."""
    call_seconds: PositiveFloat = 300
    """Time for one call of a model."""
    pause_seconds: PositiveFloat = 600
    """A call whose server asks to wait longer than this fails instead."""
    store_seconds: PositiveFloat = 30
    """Time for one query of the database."""
    store_wait_seconds: PositiveFloat = 300
    """How long the run waits for a database that is away; then it ends, and can go on later."""
    episode_seconds: PositiveFloat = 3600
    """Time for one episode."""
    episode_tokens: PositiveInt | None = None
    """Tokens of one episode; it ends there, and its answer counts as missing."""
    episode_usd: PositiveFloat | None = None
    """Cost of one episode."""
    budget_tokens: PositiveInt | None = None
    """Tokens of the whole run; it stops there, and can go on with a larger budget."""
    budget_usd: PositiveFloat | None = None
    """Cost of the whole run."""
