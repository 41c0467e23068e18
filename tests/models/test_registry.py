"""Models by name: missing keys, unknown providers, and plug-ins."""

import re
from collections.abc import Sequence

import pytest

from graphwalk.errors import ConfigError, ModelError
from graphwalk.models import registry
from graphwalk.models.chat import CallOptions, Message, Reply, ToolCall, ToolSpec
from graphwalk.models.openai import ChatModel, ResponsesModel
from graphwalk.models.registry import Guarded, context_tokens, list_providers, open_model
from graphwalk.variables import Variables
from tests.models.player import ASK, LOOK
from tests.models.server import Answer, ModelServer, error, in_turn

KEYS = Variables({"OPENAI_API_KEY": "sk-1234567890"})
WRITTEN = 'Hm. <function=look>{"key": "a"}</function>'


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
        ("azure/d", {}, "AZURE_OPENAI_BASE_URL is not set"),
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


def test_models_of_other_providers_are_named_as_they_can_be_called() -> None:
    with pytest.raises(ConfigError) as failure:
        open_model("anthropic/claude-x", KEYS)
    assert "openrouter/anthropic/claude-x" in failure.value.hint
    assert "langchain/langchain_anthropic.ChatAnthropic/claude-x" in failure.value.hint


def test_an_unknown_provider_is_told_the_known_ones() -> None:
    with pytest.raises(ConfigError) as failure:
        open_model("nobody/m", KEYS)
    assert {"openai", "openai-api", "langchain", "scripted"} <= set(list_providers())
    assert all(name in failure.value.hint for name in list_providers())


class Odd:
    """A third party's model that returns or raises anything, and has no `close`."""

    name = "odd"

    def __init__(self, act: object) -> None:
        self.act = act

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        if isinstance(self.act, Exception):
            raise self.act
        return self.act  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("act", "cause"),
    [
        (None, r"^odd returned NoneType instead of a Reply$"),
        (RuntimeError("no \x1b[31m sk-planted-secret"), r"^odd failed: RuntimeError: no .*\*\*\*$"),
        (ModelError("no sk-planted-secret"), r"^no \*\*\*$"),
    ],
    ids=["nothing", "exception", "ModelError"],
)
async def test_a_guarded_model_raises_nothing_but_model_errors_without_secrets(act: object, cause: str) -> None:
    model = Guarded(Odd(act), Variables({"ODD_API_KEY": "sk-planted-secret"}), "odd")
    with pytest.raises(ModelError) as failure:
        await model.complete(ASK, (), CallOptions())
    assert re.search(cause, failure.value.message)
    assert str(failure.value).isprintable()
    assert "sk-planted" not in "".join(getattr(failure.value, "__notes__", []))
    await model.close()


async def test_a_call_that_the_server_could_not_read_is_the_reply_of_the_model(
    variables: Variables, server: ModelServer
) -> None:
    """Groq refuses what its parser cannot read, with what the model wrote."""
    server.respond = lambda _: Answer({"error": {"code": "tool_use_failed", "failed_generation": WRITTEN}}, 400)
    model = open_model("openai-api/local/m", variables)
    called = (await model.complete(ASK, (LOOK,), CallOptions())).message
    assert called == Message("assistant", "Hm.", (ToolCall("call_1_0", "look", '{"key": "a"}'),))
    assert (await model.complete(ASK, (), CallOptions())).message == Message("assistant", WRITTEN)
    await model.close()


async def test_the_error_of_a_wrong_key_names_its_variable(variables: Variables, server: ModelServer) -> None:
    server.respond = in_turn(error(401, "bad key"))
    model = open_model("openai-api/local/m", variables)
    with pytest.raises(ModelError) as failure:
        await model.complete(ASK, (), CallOptions())
    assert failure.value.hint == "check LOCAL_API_KEY"
    await model.close()


@pytest.mark.parametrize(
    ("spec", "tokens"),
    [
        ("openai-api/local/m", 8192),
        ("openai/m", 8192),
        ("deepseek/m", None),
        ("azure/m", None),
        ("scripted/expert", None),
    ],
)
async def test_only_servers_of_your_own_are_asked_for_the_context_window(
    server: ModelServer, variables: Variables, monkeypatch: pytest.MonkeyPatch, spec: str, tokens: int | None
) -> None:
    server.facts["/props"] = Answer({"default_generation_settings": {"n_ctx": 8192}})
    monkeypatch.setattr(registry, "_PROVIDER_HOSTS", {"localhost"})
    azure = {"AZURE_OPENAI_BASE_URL": server.url}
    far = {"DEEPSEEK_BASE_URL": server.url.replace("127.0.0.1", "localhost")}
    assert await context_tokens(spec, Variables({**variables.values, **azure, **far})) == tokens
    assert bool(server.fact_paths) == (tokens is not None)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1/v1",
        "http://h:99999/v1",
        "http://h:0/v1",
        "http://h:x/v1",
        "http://[::1/v1",
        f"http://{'a' * 300}/v1",
        "http://a..b",
    ],
)
def test_an_address_that_no_library_takes_is_a_mistake_of_the_user(address: str) -> None:
    variables = Variables({"LAB_BASE_URL": address, "LAB_API_KEY": "x"})
    with pytest.raises(ConfigError, match="LAB_BASE_URL is not the address of a server") as raised:
        open_model("openai-api/lab/m", variables)
    assert raised.value.exit_code == 2
