"""Models behind OpenAI-compatible servers, opened by name: addresses and keys come from the environment."""

import hashlib
import re
from ipaddress import ip_address
from urllib.parse import urlsplit

from graphwalk.environment import Environment, server_variable
from graphwalk.errors import ConfigError
from graphwalk.models.backends.endpoint import Endpoint
from graphwalk.models.backends.openai_chat import OpenAIChatModel
from graphwalk.models.backends.openai_responses import OpenAIResponsesModel
from graphwalk.models.model import Model

_OPENAI_HOST = "api.openai.com"
_OPENAI = f"https://{_OPENAI_HOST}/v1"
_REASONING_MODEL = re.compile(r"o\d|gpt-(?:[5-9]|\d\d)(?!.*chat)|codex")


def openai(model: str, environment: Environment) -> Model:
    """OpenAI by OPENAI_API_KEY and OPENAI_BASE_URL: Responses for reasoning models, Chat Completions for others"""
    kind = OpenAIResponsesModel if _REASONING_MODEL.match(model) else OpenAIChatModel
    return kind(f"openai/{model}", _openai_endpoint(environment), model)


def openai_chat(model: str, environment: Environment) -> Model:
    """the same, always by Chat Completions"""
    return OpenAIChatModel(f"openai-chat/{model}", _openai_endpoint(environment), model)


def openai_responses(model: str, environment: Environment) -> Model:
    """the same, always by Responses"""
    return OpenAIResponsesModel(f"openai-responses/{model}", _openai_endpoint(environment), model)


def openai_api(name: str, environment: Environment) -> Model:
    """openai-api/NAME/MODEL: any compatible server, by NAME_BASE_URL and NAME_API_KEY"""
    server, _, model = name.partition("/")
    spec = f"openai-api/{name}"
    if not model:
        raise ConfigError(f"{spec!r} names no model", hint="write it as openai-api/NAME/MODEL")
    variable = server_variable(server)
    address = environment.require(f"{variable}_BASE_URL", f"it is the address of the server behind {spec}")
    return OpenAIChatModel(spec, _endpoint(variable, address, environment), model)


def base_url(spec: str, environment: Environment) -> str | None:
    """The address that the environment gives for a model of this file; None where it gives none."""
    provider, _, name = spec.partition("/")
    variable = server_variable(name.partition("/")[0]) if provider == "openai-api" else "OPENAI"
    return environment.get(f"{variable}_BASE_URL")


def server_of(spec: str, environment: Environment) -> str | None:
    """Which server a model of this file is asked at: its host, and a digest of what follows, which may hold a key."""
    provider = spec.partition("/")[0]
    if provider not in ("openai", "openai-chat", "openai-responses", "openai-api"):
        return None
    url = urlsplit(base_url(spec, environment) or _OPENAI)
    rest = hashlib.sha256(url.path.rstrip("/").encode()).hexdigest()[:8]
    return f"{url.scheme}://{url.netloc.rpartition('@')[2]} {rest}"


def _openai_endpoint(environment: Environment) -> Endpoint:
    return _endpoint("OPENAI", environment.get("OPENAI_BASE_URL") or _OPENAI, environment)


def _endpoint(variable: str, base_url: str, environment: Environment) -> Endpoint:
    """A server and its key, which one on this machine can do without. No message repeats what the variables say."""
    host = _host(base_url)
    if host is None:
        raise ConfigError(f"{variable}_BASE_URL is not the address of a server", hint="write it as https://host/v1")
    name = f"{variable}_API_KEY"
    if not _on_this_machine(host):
        environment.check_receiver(f"{variable}_BASE_URL", name)
    key = (
        environment.get(name, "none") if _on_this_machine(host) else environment.require(name, "the server wants a key")
    )
    if not (key and key.isascii() and key.isprintable()):
        raise ConfigError(f"{name} contains characters that no key has", hint="check it for line breaks")
    ours = environment if host == _OPENAI_HOST else None
    return Endpoint(base_url, key, headers=_headers(base_url, key, ours))


def _headers(base_url: str, key: str, bills: Environment | None) -> dict[str, str]:
    """What OpenAI's client sends with a request: key, who asks, and whom to bill, which is meant for OpenAI alone."""
    from openai import OpenAI

    with OpenAI(api_key=key, base_url=base_url) as client:
        client.organization = (bills and bills.get("OPENAI_ORG_ID")) or None
        client.project = (bills and bills.get("OPENAI_PROJECT_ID")) or None
        return {name: value for name, value in client.default_headers.items() if isinstance(value, str)}


def _host(base_url: str) -> str | None:
    try:
        url = urlsplit(base_url)
        good = url.scheme in ("http", "https") and (url.port or 1) < 65536
    except ValueError:
        return None
    return (url.hostname or None) if good and base_url.isprintable() and " " not in base_url else None


def _on_this_machine(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
