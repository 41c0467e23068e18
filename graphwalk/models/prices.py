"""Prices of models: the user's, else those of `genai-prices`, looked up once and kept in `run.json` for a resume."""

from datetime import UTC, datetime
from decimal import Decimal
from importlib import metadata
from typing import Any

from graphwalk.config.agent import Price
from graphwalk.config.strict import Strict
from graphwalk.models.registry import SERVERS, base_url
from graphwalk.variables import Variables

STATED = "the experiment"


class KnownPrice(Strict):
    """A price and its source. `date` (ISO) is the day of the look-up."""

    price: Price
    source: str
    version: str = ""
    date: str = ""

    @property
    def stated(self) -> bool:
        """True for a price of the experiment, False for a published one."""
        return self.source == STATED

    def __str__(self) -> str:
        rates = self.price
        cached = "" if rates.cached_input is None else f"${rates.cached_input:g} cached, "
        origin = " ".join(part for part in (self.source, self.version, self.date) if part)
        return f"${rates.input:g} in, {cached}${rates.output:g} out per million ({origin})"


def published_price(model: str, variables: Variables) -> KnownPrice | None:
    """Return the price of `provider/model` in `genai-prices`, of other servers by their address; None if unknown."""
    provider, _, name = model.partition("/")
    url = base_url(model, variables)
    where: dict[str, Any] = {}
    if url is not None:
        where["provider_api_url"] = url

    if provider == "langchain":
        # langchain/langchain_google_genai.ChatGoogleGenerativeAI/MODEL: of google-genai
        path, _, name = name.partition("/")
        package = path.partition(".")[0]
        where = {"provider_id": package.removeprefix("langchain_").replace("_", "-")}
    elif provider == "openai-api":
        # openai-api/groq/MODEL: of the server at GROQ_BASE_URL
        name = name.partition("/")[2]
    elif provider == "azure":
        where = {"provider_id": "azure"}
    elif url == SERVERS["openai"]:
        where = {"provider_id": "openai"}
    if not where:
        return None

    import genai_prices

    try:
        listed = genai_prices.calc_price(genai_prices.Usage(), name, **where).model_price
    except LookupError:
        return None
    if listed.input_mtok is None or listed.output_mtok is None:
        return None  # some prices are not per token

    cached_rate = listed.cache_read_mtok
    price = Price(
        input=_base_rate(listed.input_mtok),
        output=_base_rate(listed.output_mtok),
        cached_input=None if cached_rate is None else _base_rate(cached_rate),
    )
    today = datetime.now(tz=UTC).date().isoformat()
    return KnownPrice(price=price, source="genai-prices", version=metadata.version("genai-prices"), date=today)


def _base_rate(rate: Any) -> float:
    """Return a rate without its steps for long inputs (`TieredPrices` of the package)."""
    return float(rate if isinstance(rate, Decimal) else rate.base)
