"""Models by name: missing keys, unknown providers, and plug-ins."""

import sys
from importlib.metadata import EntryPoint, EntryPoints

import pytest

from graphwalk.config import resources as plugins
from graphwalk.errors import ConfigError
from graphwalk.models.openai import ChatModel, ResponsesModel
from graphwalk.models.registry import PROVIDERS, list_providers, open_model
from graphwalk.variables import Variables

KEYS = Variables({"OPENAI_API_KEY": "sk-1234567890"})


class Broken:
    def __init__(self, name: str, variables: Variables) -> None:
        raise ValueError("no feathers")


@pytest.fixture
def broken_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    points = EntryPoints([EntryPoint("broken", f"{__name__}:Broken", PROVIDERS.group)])
    monkeypatch.setitem(sys.modules, __name__, sys.modules[__name__])
    monkeypatch.setattr(plugins, "entry_points", lambda **query: points.select(**query))


@pytest.mark.parametrize(
    ("spec", "kind"),
    [
        ("openai/gpt-4.1-mini", ChatModel),
        ("openai/gpt-5-mini", ResponsesModel),
        ("openai-chat/o3", ChatModel),
        ("openai-responses/gpt-4.1", ResponsesModel),
    ],
)
def test_openai_models(spec: str, kind: type) -> None:
    model = open_model(spec, KEYS)
    assert type(model.inner) is kind
    assert model.name == spec


@pytest.mark.parametrize(
    ("spec", "variables", "cause"),
    [
        ("openai/gpt-4.1", {}, "OPENAI_API_KEY is not set"),
        ("openai-api/my-host/org/m", {}, "MY_HOST_BASE_URL is not set"),
        ("openai-api/my-host/org/m", {"MY_HOST_BASE_URL": "https://example.test/v1"}, "MY_HOST_API_KEY is not set"),
        ("openai-api/h/m", {"H_BASE_URL": "example.test", "H_API_KEY": "k"}, "H_BASE_URL is not the address"),
        ("openai-api/h/m", {"H_BASE_URL": "http://example.test", "H_API_KEY": "k\nk"}, "H_API_KEY contains characters"),
        ("openai-api/h", {}, "names no model"),
        ("azure/d", {"AZURE_OPENAI_ENDPOINT": "http://example.test"}, "OPENAI_API_VERSION is not set"),
        ("nobody/m", {}, "unknown provider 'nobody'"),
        ("gpt-4.1", {}, "is not a model"),
        ("scripted/expert", {}, "single episodes"),
        ("langchain/nothing/m", {}, "names no class"),
        ("langchain/no_such_package.Chat/m", {}, "ModuleNotFoundError: No module named 'no_such_package'"),
    ],
)
def test_mistakes(spec: str, variables: dict[str, str], cause: str) -> None:
    with pytest.raises(ConfigError, match=cause) as failure:
        open_model(spec, Variables(variables))
    assert failure.value.hint


def test_a_backend_of_another_package_is_listed_and_named_if_it_fails(broken_backend: None) -> None:
    with pytest.raises(ConfigError) as failure:
        open_model("nobody/m", KEYS)
    assert {"openai", "openai-api", "scripted", "broken"} <= set(list_providers())
    assert all(name in failure.value.hint for name in list_providers())
    with pytest.raises(ConfigError, match="broken/x cannot be opened: ValueError: no feathers") as failure:
        open_model("broken/x", KEYS)
    assert failure.value.hint.endswith(f"look at {__name__}:Broken")
