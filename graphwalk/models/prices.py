"""What models cost: the user's own prices first, then those of the package `genai-prices`, else unknown.

A price is looked up once, when a run begins, and kept in `run.json`, so that the run costs the same when it goes on.
"""

from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from graphwalk.config.calls import LongRates, Price
from graphwalk.config.strict import Strict
from graphwalk.models.openai_servers import SERVERS, base_url
from graphwalk.settings import Settings

if TYPE_CHECKING:
    from genai_prices.types import ModelPrice

PACKAGE = "genai-prices"


class KnownPrice(Strict):
    """A price and where it is from. `date` (ISO) is the day for which it was looked up."""

    price: Price
    source: str
    version: str = ""
    date: str = ""

    def __str__(self) -> str:
        rates = self.price
        cached = "" if rates.cached_input is None else f"${rates.cached_input:g} cached, "
        long = "" if rates.long is None else f"; more above {rates.long.above:,} tokens"
        origin = " ".join(part for part in (self.source, self.version, self.date) if part)
        return f"${rates.input:g} in, {cached}${rates.output:g} out per million{long} ({origin})"


def own_price(price: Price) -> KnownPrice:
    """A price that the user gives."""
    return KnownPrice(price=price, source="the experiment")


def published_price(model: str, settings: Settings) -> KnownPrice | None:
    """The price of `provider/model` as the package knows it today; None where it does not.

    What another server than the provider's own serves is looked up by the address of that server.
    """
    listed = _listed(model, settings)
    if listed is None:
        return None
    import genai_prices

    name, where = listed
    try:
        found = genai_prices.calc_price(genai_prices.Usage(), name, **where).model_price
    except LookupError:
        return None
    price = _price(found)
    today = datetime.now(tz=UTC).date().isoformat()
    if price is None:
        return None
    return KnownPrice(price=price, source=PACKAGE, version=genai_prices.__version__, date=today)


def _listed(model: str, settings: Settings) -> tuple[str, dict[str, Any]] | None:
    """The name of the model, and whose price list it is on: by address, or by the name of the provider."""
    provider, _, name = model.partition("/")
    if provider == "langchain":
        package, _, name = name.partition("/")
        owner = package.partition(".")[0].removeprefix("langchain_").replace("_", "-")
        return name, {"provider_id": owner}
    url = base_url(model, settings)
    if provider == "openai-api":
        return None if url is None else (name.partition("/")[2], {"provider_api_url": url})
    if provider == "azure":
        return name, {"provider_id": "azure"}
    if url is None:
        return None
    return name, {"provider_id": "openai"} if url == SERVERS["openai"] else {"provider_api_url": url}


def _price(found: "ModelPrice") -> Price | None:
    """None for models that are not paid by tokens. Of several steps for long inputs the first counts."""
    from genai_prices.types import TieredPrices

    rates = {"input": found.input_mtok, "output": found.output_mtok, "cached_input": found.cache_read_mtok}
    if rates["input"] is None or rates["output"] is None:
        return None
    steps = {tier.start for rate in rates.values() if isinstance(rate, TieredPrices) for tier in rate.tiers[:1]}
    if not steps:
        return Price(**_at(rates, 0))
    return Price(**_at(rates, 0), long=LongRates(above=min(steps), **_at(rates, min(steps) + 1)))


def _at(rates: dict[str, Any], tokens: int) -> dict[str, Any]:
    """The rates of a call with so many tokens of input."""

    def one(rate: Any) -> float | None:
        if rate is None or isinstance(rate, Decimal):
            return None if rate is None else float(rate)
        steps = [tier.price for tier in rate.tiers if tokens > tier.start]
        return float(steps[-1] if steps else rate.base)

    return {name: one(rate) for name, rate in rates.items()}
