"""A model as a run uses it: the bare backend with everything around it, in the one right order."""

from graphwalk.config.agent import AgentConfig
from graphwalk.config.calls import Limits, ModelOptions, Price
from graphwalk.environment import Environment
from graphwalk.models.calls.budget import Budget, BudgetedModel, PricedModel
from graphwalk.models.calls.cache import CachedModel, ReplyCache
from graphwalk.models.calls.deadline import DeadlineModel
from graphwalk.models.calls.rate_limit import RateLimitedModel, RateLimiter
from graphwalk.models.calls.retry import RetryingModel
from graphwalk.models.model import Model
from graphwalk.models.protocol.text_protocol import TextProtocolModel
from graphwalk.models.registry import open_model
from graphwalk.seeds import stdlib_random
from graphwalk.types.chat import CallOptions


def build_model(
    spec: str,
    environment: Environment,
    limits: Limits,
    agent: AgentConfig | None = None,
    *,
    price: Price | None = None,
    seed: int = 0,
    bare: Model | None = None,
) -> Model:
    """The model `provider/model`, shared by all episodes of a run. ConfigError as `open_model`.

    `bare` is the backend where the caller has it already.

    From the inside out, with the reason for each place:

        backend        `open_model`: one request to the provider
        deadline       bounds that one request, not the waiting around it
        rate limit     every attempt takes a place and a slot; nobody holds a place while waiting to try again
        retry          waits, and goes through the rate limit again
        price          the cost of the reply that was used
        text protocol  a conversation is rewritten once, however often it has to be sent
        ── per episode, by `episode_model` ──
        cache          holds what the agent saw; a hit needs no place, no slot and no deadline
        budget         counts replies out of the cache too, as an undisturbed run would have
    """
    agent = agent or AgentConfig()
    model: Model = DeadlineModel(bare or open_model(spec, environment), limits.call_seconds)
    limiter = RateLimiter(limits.max_concurrency, limits.requests_per_minute, limits.tokens_per_minute)
    model = RetryingModel(RateLimitedModel(model, limiter), limits.retries, stdlib_random(seed, "retry", spec))
    if price is not None:
        model = PricedModel(model, price)
    return model if agent.tool_protocol == "native" else TextProtocolModel(model, agent.tool_protocol)


def episode_model(
    model: Model, *, cache: ReplyCache | None = None, episode_key: str = "", budget: Budget | None = None
) -> Model:
    """The model as one episode sees it. It is not closed with the episode: close the shared one at the end."""
    if cache is not None:
        model = CachedModel(model, cache, episode_key)
    return model if budget is None else BudgetedModel(model, budget)


def call_options(options: ModelOptions, agent: AgentConfig) -> CallOptions:
    """What is sent with every call of an experiment."""
    return CallOptions(
        temperature=options.temperature,
        top_p=options.top_p,
        max_output_tokens=options.max_output_tokens,
        reasoning_effort=options.reasoning_effort,
        seed=options.seed,
        parallel_tool_calls=agent.parallel_tool_calls,
        extra=options.extra,
    )
