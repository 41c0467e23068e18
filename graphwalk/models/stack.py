"""The one place that puts wrappers around a model.

    Cached(TextTools(Retrying(RateLimited(WholeReplies(Budgeted(provider))))))

`Cached` belongs to one episode, `TextTools` to one agent; the others are shared by all episodes of a run. The provider
is what `graphwalk.models.registry.open_model` returns.
"""

from collections.abc import Callable

from graphwalk.config.agent import AgentConfig, Limits
from graphwalk.models.chat import Model
from graphwalk.models.prices import KnownPrice
from graphwalk.models.protocols import with_tools
from graphwalk.models.wrappers import Budget, Budgeted, Cached, RateLimited, ReplyCache, Retrying, WholeReplies
from graphwalk.seeds import stdlib_random


class ModelStack:
    """A provider with the budget, limits and retries that all episodes of a run share. Close `shared` at the end.

    `cache` has the replies of the run; None: there is none. `note` gets messages about long pauses, failures and
    replies that are not whole.
    """

    def __init__(
        self,
        provider: Model,
        limits: Limits,
        *,
        budget: Budget,
        price: KnownPrice | None = None,
        seed: int = 0,
        cache: ReplyCache | None = None,
        note: Callable[[str], object] = lambda text: None,
    ) -> None:
        budgeted = Budgeted(provider, budget, price, seconds=limits.call_seconds, note=note)
        paced = RateLimited(WholeReplies(budgeted, note), limits, note)
        self.shared = Retrying(paced, limits.retries, stdlib_random(seed, "retry", provider.name), note)
        """The model for conversations without a cache."""
        self._budget, self._cache = budget, cache

    def in_episode(self, key: str, agent: AgentConfig | None = None) -> Model:
        """Return the model of one episode, which closes nothing. `key` tells its replies in the cache apart.

        `agent`: how it calls tools; None: it is asked for texts alone, as the extractor is.
        """
        model = self.shared if agent is None else with_tools(self.shared, agent)
        return Cached(model, self._cache, self._budget, key)


def model_to_check(provider: Model, agent: AgentConfig, note: Callable[[str], object]) -> Model:
    """Return a model whose capabilities are tried: nothing is retried or estimated, to see what its server does."""
    return with_tools(WholeReplies(provider, note), agent)
