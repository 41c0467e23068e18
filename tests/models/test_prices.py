"""Prices from a maintained list, kept with the run."""

import pytest

from graphwalk.config.agent import Price
from graphwalk.models.prices import KnownPrice, published_price
from graphwalk.variables import Variables


def price(model: str, **variables: str) -> KnownPrice | None:
    return published_price(model, Variables(variables))


def test_a_listed_model_has_its_price() -> None:
    listed = price("openai-chat/gpt-4.1-mini")
    assert listed is not None
    assert listed.price == Price(input=0.4, output=1.6, cached_input=0.1)
    assert listed.source == "genai-prices"
    assert listed.version
    assert listed.date


@pytest.mark.parametrize(
    ("model", "variables"),
    [
        ("openai/no-such-model", {}),
        ("openai/gpt-4.1", {"OPENAI_BASE_URL": "http://127.0.0.1:8080/v1"}),
        ("openai-api/local/gpt-4.1", {"LOCAL_BASE_URL": "http://127.0.0.1:8080/v1"}),
        ("langchain/some_package.Chat/gpt-4.1", {}),
        ("scripted/expert", {}),
    ],
)
def test_unknown_prices_stay_unknown(model: str, variables: dict[str, str]) -> None:
    assert price(model, **variables) is None


@pytest.mark.parametrize(
    "model",
    [
        "openai-api/router/openai/gpt-4.1",
        "openai-responses/gpt-4.1",
        "gemini/gemini-2.5-pro",
        "openrouter/openai/gpt-4.1",
    ],
)
def test_servers_that_are_known_by_name_have_listed_prices(model: str) -> None:
    assert price(model, ROUTER_BASE_URL="https://openrouter.ai/api/v1") is not None
