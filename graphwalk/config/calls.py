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


class Price(Strict):
    """US dollars per million tokens, for models whose provider does not report cost."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)


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
