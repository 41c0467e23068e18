"""Configuration of model calls: options, prices, rate limits and budgets."""

from pydantic import Field, PositiveFloat, PositiveInt

from graphwalk.config.strict import LoggedSettings, Strict


class ModelOptions(Strict):
    """Options sent with every call of a model; None: the provider's default."""

    temperature: float | None = Field(default=None, ge=0)
    """Sampling temperature."""
    top_p: float | None = None
    """Nucleus sampling: share of the probability mass that tokens are drawn from."""
    max_output_tokens: PositiveInt | None = None
    """Output tokens of one reply."""
    reasoning_effort: str | None = None
    """Reasoning effort in the provider's words: low, medium, high, …"""
    seed: int | None = None
    """Seed of the provider's sampling, where it has one."""
    extra: LoggedSettings = Field(default_factory=dict)
    """Other fields of the request, by the provider's names."""


class Price(Strict):
    """Price of a model in US dollars per million tokens, used if its provider does not report the cost."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached_input: float | None = Field(default=None, ge=0)
    """Input from the provider's prompt cache. None: the rate of other input."""

    def cost(self, new: float, cached: float, output: float) -> float:
        """Return US dollars for tokens of new input, of input from the provider's cache, and of output."""
        cached_input = self.input if self.cached_input is None else self.cached_input
        return (new * self.input + cached * cached_input + output * self.output) / 1_000_000


class Limits(Strict):
    """Limits in seconds, tokens and US dollars. None: no limit."""

    max_concurrency: PositiveInt = 8
    """Episodes in flight."""
    requests_per_minute: PositiveFloat | None = None
    """Requests per minute to each model."""
    tokens_per_minute: PositiveFloat | None = None
    """Tokens per minute of each model."""
    retries: int = Field(default=8, ge=0)
    """Retries of a failed call."""
    call_seconds: PositiveFloat = 300
    """Timeout of one call of a model."""
    pause_seconds: PositiveFloat = 600
    """Longest wait that a server may ask for; beyond it the call fails."""
    store_seconds: PositiveFloat = 30
    """Timeout of one database query."""
    episode_seconds: PositiveFloat = 3600
    """Timeout of one episode."""
    context_tokens: PositiveInt | None = None
    """Context window of the models, for --check-setup. None: not known."""
    episode_tokens: PositiveInt | None = None
    """Tokens of one episode; beyond it the episode ends without an answer."""
    episode_usd: PositiveFloat | None = None
    """Cost of one episode; beyond it the episode ends without an answer."""
    budget_tokens: PositiveInt | None = None
    """Tokens of the whole run; beyond it the run ends and can be resumed with a larger budget."""
    budget_usd: PositiveFloat | None = None
    """Cost of the whole run."""
