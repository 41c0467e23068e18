"""Pace and budgets of a run, divided among its shards, so that together they never pass them."""

from typing import Any

from graphwalk.config.calls import Limits
from graphwalk.errors import ConfigError

_TOGETHER = ("requests_per_minute", "tokens_per_minute", "budget_usd", "budget_tokens")


def divided(limits: Limits, shards: int) -> dict[str, Any]:
    """The limits of each of so many shards. ConfigError where there is not one episode, or one token, for each.

    Each shard has an equal part. What one leaves over is not given to another: all of them together stay below a
    limit, and may stay further below it than one process would.
    """
    if shards > limits.max_concurrency:
        raise ConfigError(
            f"{shards} shards have at least {shards} episodes in flight, and limits.max_concurrency is "
            f"{limits.max_concurrency}",
            hint=f"--shards {limits.max_concurrency}, or --max-concurrency {shards}",
        )
    if limits.budget_tokens is not None and limits.budget_tokens < shards:
        raise ConfigError(f"a budget of {limits.budget_tokens} tokens has not one for each of {shards} shards")
    parts = {name: value / shards for name in _TOGETHER if (value := getattr(limits, name)) is not None}
    if limits.budget_tokens is not None:
        parts["budget_tokens"] = limits.budget_tokens // shards
    return {**limits.model_dump(mode="json"), **parts, "max_concurrency": limits.max_concurrency // shards}
