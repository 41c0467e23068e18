"""The one way to open a model: by its name, `provider/model`, or from an object.

Other packages add providers with a class and an entry point in the group `graphwalk.models` (docs/extending.md has an
example). A class takes `name`, the part after `provider/`, and the environment `variables`; other arguments are passed
by keyword (`model_arguments`). Its method `close` is optional. ModelError decides about retries; any other exception
ends the episode, not the run.
"""

import hashlib
import json
import re
import ssl
import traceback
from base64 import b64encode
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias, Union
from urllib.parse import parse_qsl, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from graphwalk.config.resources import Registry
from graphwalk.errors import ConfigError, GraphwalkError, ModelError, did_you_mean
from graphwalk.models.chat import (
    CallOptions,
    Message,
    Model,
    ModelBackend,
    Reply,
    ToolCall,
    ToolSpec,
    Wrapper,
    known_name,
)
from graphwalk.models.openai import OPENAI_HOST, ChatModel, OpenAIModel, ResponsesModel, is_local
from graphwalk.models.provider_replies import UnreadableCallError
from graphwalk.variables import Variables, process_variable, server_variable
from graphwalk.version import __version__

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from openai import AsyncOpenAI

_OPENAI = f"https://{OPENAI_HOST}/v1"
SERVERS: dict[str, str | None] = {
    "openai": _OPENAI,
    "openai-chat": _OPENAI,
    "openai-responses": _OPENAI,
    "azure": None,
    "gemini": "https://generativelanguage.googleapis.com/v1beta/openai",
    "deepseek": "https://api.deepseek.com",
    "openrouter": "https://openrouter.ai/api/v1",
    "groq": "https://api.groq.com/openai/v1",
    "together": "https://api.together.xyz/v1",
    "mistral": "https://api.mistral.ai/v1",
    "vllm": "http://127.0.0.1:8000/v1",
    "ollama": "http://127.0.0.1:11434/v1",
    "openai-api": None,
}
"""Provider → base URL, which NAME_BASE_URL replaces; NAME_API_KEY is the key."""
_SERVER_OF = {"openai-chat": "openai", "openai-responses": "openai", "azure": "azure-openai"}
"""Provider → NAME in these variables, if it is another."""
_PROVIDER_HOSTS = {urlsplit(url).hostname for url in SERVERS.values() if url} - {"127.0.0.1"}
_REASONING_MODEL = re.compile(r"o\d|gpt-(?:[5-9]|\d\d)(?!.*chat)|codex")
LONGEST_REPLY = 1 << 27
"""Bytes of a reply or a stream, decompressed: a few megabytes of gzip can hold more than the memory."""
_AZURE_ENDPOINT, _AZURE_VERSION = "AZURE_OPENAI_ENDPOINT", "OPENAI_API_VERSION"
"""Variables that the `openai` package reads for Azure."""
_SOCKS = "socks://"
_CONNECT_SECONDS, _READ_SECONDS = 30.0, 900.0
"""Timeouts: connecting, between two bytes. The limit of a whole call (`Budgeted`) is shorter."""
PROVIDERS = Registry(
    "model provider",
    "graphwalk.models",
    {**dict.fromkeys(SERVERS, f"{__name__}:open_server"), "langchain": "graphwalk.models.langchain:langchain"},
)
"""Name → function that makes a model from its name, the environment variables, and keyword arguments."""
_LANGCHAIN = "langchain/langchain_anthropic.ChatAnthropic"
SCRIPTED = "scripted"
"""The provider of models that play one episode each, made by the run."""


def list_providers() -> dict[str, str]:
    """Return name → server or package of all providers, built-in ones first."""
    providers = {name: url or "the server at NAME_BASE_URL" for name, url in SERVERS.items()}
    for name in PROVIDERS.names():
        if name not in SERVERS:
            providers[name] = f"from {PROVIDERS.origin(name)}"
    providers[SCRIPTED] = "agents that ship with GraphWalk: scripted/expert, scripted/random, …"
    return providers


def check_name(spec: str) -> None:
    """Raise ConfigError if `spec` is not `provider/model` or the provider is unknown."""
    provider, slash, name = spec.partition("/")
    if not (slash and name):
        raise ConfigError(
            f"{spec!r} is not a model", hint="write it as provider/model, for example openai/gpt-4.1-mini"
        )
    if provider not in PROVIDERS and provider != SCRIPTED:
        names = (*PROVIDERS.names(), SCRIPTED)
        close, hint = did_you_mean(provider, names), f"known: {', '.join(names)}"
        if not close:
            hint = f"openrouter/{spec}, or a class of LangChain's: {_LANGCHAIN}/{name}; {hint}"
        raise ConfigError(f"unknown provider {provider!r} in {spec!r}{close}", hint=hint)


AnyModel: TypeAlias = Union[str, ModelBackend, "BaseChatModel"]
"""`provider/model`, an object with `async complete(messages, tools, options) -> Reply`, a LangChain chat model, or what
`openai_model` makes of a client of the `openai` package."""


def open_model(model: AnyModel | None, variables: Variables, arguments: Mapping[str, Any] | None = None) -> "Guarded":
    """Open a model in any of its forms. `arguments` are those of the constructor behind a name.

    Raise ConfigError like `check_name`, for a missing key, wrong `arguments`, a broken plug-in, or what is no model.
    """
    if not isinstance(model, str):
        return _guarded_object(model, variables)
    check_name(model)
    provider, _, name = model.partition("/")
    if provider == SCRIPTED:
        raise ConfigError(f"{model} plays single episodes; it is not a model of its own", hint="graphwalk run …")
    keywords = arguments or {}
    try:
        if provider in SERVERS:
            opened: Any = open_server(model, variables, **keywords)
        else:
            opened = PROVIDERS.load(provider)(name, variables, **keywords)
        return Guarded(opened, variables, model)
    except GraphwalkError:
        raise
    except Exception as error:
        cause = variables.secrets.redact(f"{type(error).__name__}: {error}")
        hint = f"check the package behind {provider}/, and model_arguments, which its constructor takes"
        raise ConfigError(f"{model} cannot be opened: {cause}", hint=hint) from error


def named_models(
    models: Iterable[AnyModel | None], variables: Variables
) -> tuple[tuple[str, ...], Mapping[str, Model]]:
    """Return all names, and the objects by name: their `name`, else `python/CLASS`. ConfigError if two are equal."""
    names: list[str] = []
    objects: dict[str, Model] = {}
    for entry in [models] if isinstance(models, str) else models:
        if isinstance(entry, str):
            names.append(entry)
            continue
        model = open_model(entry, variables)
        if model.name in names:
            raise ConfigError(f"two models have the name {model.name}", hint="set distinct names: provider/model")
        names.append(model.name)
        objects[model.name] = model
    return tuple(names), objects


def _guarded_object(model: Any, variables: Variables) -> "Guarded":
    """Return an object as a model, which stays the user's. Raise ConfigError for what is no model."""
    is_object = not isinstance(model, type)
    if is_object and hasattr(model, "bind_tools") and hasattr(model, "ainvoke"):
        from graphwalk.models.langchain import LangchainModel

        model = LangchainModel(model)
    if not (is_object and callable(getattr(model, "complete", None))):
        raise ConfigError(
            f"{getattr(model, '__name__', type(model).__name__)} is not a model",
            hint='pass "provider/model", an object with `async complete(messages, …)`, a LangChain chat model, '
            'or graphwalk.openai_model(client, "NAME")',
        )
    name = getattr(model, "name", None)
    if not isinstance(name, str) or not name:
        name = f"python/{type(model).__name__}"
    return Guarded(model, variables, name, lent=True)


class Guarded(Wrapper):
    """A provider that raises only ModelError, and whose texts contain no secrets and no control characters.

    A call that its server could not read is the model's mistake: what the model wrote is the reply.
    The provider's `close` is optional. `lent`: the object is the user's and is not closed.
    """

    def __init__(self, inner: Any, variables: Variables, name: str, *, lent: bool = False) -> None:
        self.inner, self.name = inner, name
        self.streams_by_callbacks = getattr(inner, "streams_by_callbacks", False)
        self.lent = lent
        self._secrets = variables.secrets

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        try:
            try:
                reply = await self.inner.complete(messages, tools, options)
            except UnreadableCallError as error:
                reply = error.reply(tools, len(messages))
            if not isinstance(reply, Reply):
                raise ModelError(f"{self.name} returned {type(reply).__name__} instead of a Reply")
            return self._without_secrets(reply, tools)
        except ModelError as error:
            error.args = (self._secrets.redact_error(error.message),)
            error.hint = self._secrets.redact(error.hint)
            self._replace_cause(error, error.__cause__)
            raise error from None
        except Exception as error:
            failure = ModelError(self._secrets.redact_error(f"{self.name} failed: {type(error).__name__}: {error}"))
            self._replace_cause(failure, error)
            raise failure from None

    def _without_secrets(self, reply: Reply, tools: Sequence[ToolSpec]) -> Reply:
        """Return a reply without known secrets, whose calls have the names of the tools."""
        redact = self._secrets.redact_certain
        message = reply.message
        names = {tool.name for tool in tools}
        calls: list[ToolCall] = []
        for call in message.tool_calls:
            name = known_name(redact(call.name), names)  # functions.look → look
            calls.append(ToolCall(redact(call.id), name, redact(call.arguments)))
        state = message.provider_state
        clean = replace(
            message,
            content=message.content and redact(message.content),
            reasoning=message.reasoning and redact(message.reasoning),
            tool_calls=tuple(calls),
            provider_state=state and json.loads(redact(json.dumps(state))),
        )
        return replace(reply, message=clean, finish_reason=redact(reply.finish_reason), model=redact(reply.model))

    def _replace_cause(self, error: ModelError, cause: BaseException | None) -> None:
        """Put a cause into an error as text without secrets: handlers of LangChain record all causes as they are."""
        if cause is not None:
            lines = traceback.format_exception(cause)
            error.add_note("Caused by:\n" + self._secrets.redact("".join(lines)))

    async def probe(self) -> None:
        """Raise ModelError if the server of a built-in provider cannot be reached."""
        if isinstance(self.inner, OpenAIModel):
            await self.inner.probe()

    async def close(self) -> None:
        if self.lent:
            return
        close = getattr(self.inner, "close", None)
        if close is not None:
            await close()


def open_server(spec: str, variables: Variables, **client: Any) -> OpenAIModel:
    """Open a model of a server in `SERVERS`; `client` has arguments of `AsyncOpenAI`. Raise ConfigError."""
    variable, model, _ = _server(spec)
    if not model:
        raise ConfigError(f"{spec!r} names no model", hint="write it as openai-api/NAME/MODEL")
    address = base_url(spec, variables)
    if address is None:
        purpose = f"it is the address of the server behind {spec}"
        if spec.startswith("azure/"):
            purpose += f"; {_AZURE_ENDPOINT} is another name for it"
        address = variables.require(f"{variable}_BASE_URL", purpose)
    reasoning = spec.startswith("openai/") and _REASONING_MODEL.match(model)
    kind = ResponsesModel if reasoning or spec.startswith("openai-responses/") else ChatModel
    if spec.startswith("azure/") and _azure_version(variables):
        client = {**client, "api_version": _azure_version(variables)}
    return kind(spec, _open_client(variable, address, variables, client), model, variable)


def _server(spec: str) -> tuple[str, str, str | None]:
    """Return the prefix of the variables of a model's server, the model's name there, and the usual address."""
    provider, _, model = spec.partition("/")
    if provider == "openai-api":
        server, _, model = model.partition("/")
    else:
        server = _SERVER_OF.get(provider, provider)
    return server_variable(server), model, SERVERS[provider]


def base_url(spec: str, variables: Variables) -> str | None:
    """Return the address of a model's server; None without a server, or if the address is not set."""
    if spec.partition("/")[0] not in SERVERS:
        return None
    variable, _, address = _server(spec)
    if own := variables.get(f"{variable}_BASE_URL"):
        return own
    return _azure_address(variables) if spec.startswith("azure/") else address


def _azure_address(variables: Variables) -> str | None:
    """Return the address of the v1 API of AZURE_OPENAI_ENDPOINT, of the endpoint alone for a version by date."""
    endpoint = (variables.get(_AZURE_ENDPOINT) or "").rstrip("/")
    if not endpoint:
        return None
    endpoint = endpoint.removesuffix("/v1").removesuffix("/openai")
    if _azure_version(variables):
        return endpoint
    version = variables.get(_AZURE_VERSION)  # "preview"
    address = f"{endpoint}/openai/v1/"
    return f"{address}?api-version={version}" if version else address


def _azure_version(variables: Variables) -> str | None:
    """Return the version by date (`2024-10-21`) with which AZURE_OPENAI_ENDPOINT is called; None: by the v1 API."""
    version = variables.get(_AZURE_VERSION) or ""
    is_date = re.match(r"\d{4}-", version)
    return version if is_date and not variables.get("AZURE_OPENAI_BASE_URL") else None


def openai_model(client: "AsyncOpenAI", model: str) -> OpenAIModel:
    """Return a model that calls your own `openai.AsyncOpenAI` client: Responses for OpenAI's reasoning models.

    An `AsyncAzureOpenAI` calls the deployment with the model's name. The client's retries are not used, and it is not
    closed. Raise ConfigError for any other object.
    """
    from openai import AsyncOpenAI

    if not isinstance(client, AsyncOpenAI):
        hint = "openai_model(AsyncOpenAI(), …) or openai_model(AsyncAzureOpenAI(…), …)"
        raise ConfigError(f"{type(client).__name__} is not an AsyncOpenAI client", hint=hint)
    reasoning = client.base_url.host == OPENAI_HOST and _REASONING_MODEL.match(model)
    kind = ResponsesModel if reasoning else ChatModel
    return kind(f"openai/{model}", client.with_options(max_retries=0), model)


async def context_tokens(
    spec: str, variables: Variables, arguments: Mapping[str, Any] | None = None, opened: Model | None = None
) -> int | None:
    """Return the context window of a model as its server reports it, None if it is not known.

    Only a server of your own is asked, no provider. A model that is not `opened` is opened for this, and closed.
    """
    address = base_url(spec, variables)
    if address is None or spec.startswith("azure/") or urlsplit(address).hostname in _PROVIDER_HOSTS:
        return None
    if isinstance(opened, Guarded) and isinstance(opened.inner, OpenAIModel):
        return await opened.inner.context_tokens()
    try:
        model = open_model(spec, variables, arguments)
    except GraphwalkError:
        return None
    try:
        return await model.inner.context_tokens() if isinstance(model.inner, OpenAIModel) else None
    finally:
        await model.close()


def server_of(spec: str, variables: Variables) -> str | None:
    """Return host and path digest of a model's server, for the fingerprint; the path itself may hold a key."""
    address = base_url(spec, variables)
    if address is None:
        return None
    url = urlsplit(address)
    rest = hashlib.sha256(url.path.rstrip("/").encode()).hexdigest()[:8]
    return f"{url.scheme}://{url.netloc.rpartition('@')[2]} {rest}"


def _open_client(variable: str, address: str, variables: Variables, arguments: Mapping[str, Any]) -> "AsyncOpenAI":
    """Open a client of a server; a server on this machine needs no key. No error contains the value of a variable."""
    from openai import AsyncAzureOpenAI, AsyncOpenAI, DefaultAioHttpClient, DefaultAsyncHttpxClient, Timeout

    address_variable = f"{variable}_BASE_URL"
    if variable == "AZURE_OPENAI" and not variables.get(address_variable):
        address_variable = _AZURE_ENDPOINT
    host = _host(address_variable, address)
    local = is_local(host)
    key = _key(variable, address_variable, variables, local=local)
    url = urlsplit(address)
    headers = {"User-Agent": f"graphwalk/{__version__}", **arguments.get("default_headers", {})}
    if url.username is not None:  # aiohttp refuses an address with a user if there is a key too
        user = f"{unquote(url.username)}:{unquote(url.password or '')}"
        headers.setdefault("Authorization", f"Basic {b64encode(user.encode()).decode()}")

    proxies = [] if local else list(getproxies().values())
    # aiohttp takes half the processor time of httpx, but has no SOCKS and deprecates logins in proxy addresses.
    needs_httpx = any(proxy.startswith("socks") or "@" in proxy for proxy in proxies)
    transport: Any = DefaultAsyncHttpxClient if needs_httpx else DefaultAioHttpClient
    timeout = Timeout(None, connect=_CONNECT_SECONDS, read=_READ_SECONDS)
    settings: dict[str, Any] = {"trust_env": not local, "timeout": timeout}
    certificates = _certificates(variables)
    if certificates is not None:
        settings["verify"] = certificates
    if any(proxy.startswith(_SOCKS) for proxy in proxies):
        settings["trust_env"] = False
        settings["proxy"] = _proxy_for(url.scheme, host)

    options: dict[str, Any] = {
        "api_key": key,
        "base_url": url._replace(netloc=url.netloc.rpartition("@")[2], query="", fragment="").geturl(),
        "default_query": dict(parse_qsl(url.query)),
        "max_retries": 0,
        "timeout": timeout,
        "http_client": transport(**settings, event_hooks={"response": [_bound]}),
    }
    is_azure = "api_version" in arguments
    if is_azure:
        options["azure_endpoint"] = options.pop("base_url")
    options.update(arguments)
    options["default_headers"] = headers
    client: AsyncOpenAI = AsyncAzureOpenAI(**options) if is_azure else AsyncOpenAI(**options)
    if "organization" not in arguments and "project" not in arguments:
        # Other servers do not get the account at OpenAI.
        ours = variables if host == OPENAI_HOST else Variables()
        client.organization, client.project = ours.get("OPENAI_ORG_ID"), ours.get("OPENAI_PROJECT_ID")
    return client


def _key(variable: str, address_variable: str, variables: Variables, *, local: bool) -> str:
    """Return the key of a server. Raise ConfigError if there is none, or it is not for this address."""
    name = f"{variable}_API_KEY"
    if local:
        key = variables.get(name) or "none"
    else:
        variables.check_receiver(address_variable, name)
        key = variables.require(name, "the server wants a key (docs/models.md)")
    if not (key.isascii() and key.isprintable()):
        raise ConfigError(f"{name} contains characters that no key has", hint="check it for line breaks")
    return key


async def _bound(response: Any) -> None:
    """Let the body of a response end with a ModelError where it is too long; counted after it is decompressed."""
    read = response.aiter_bytes

    async def aiter_bytes(*size: Any, **more: Any) -> AsyncIterator[bytes]:
        length = 0
        async for piece in read(*size, **more):
            length += len(piece)
            if length > LONGEST_REPLY:
                raise ModelError(f"{response.url.host} sent a reply of more than {LONGEST_REPLY >> 20} MiB")
            yield piece

    response.aiter_bytes = aiter_bytes


def _certificates(variables: Variables) -> ssl.SSLContext | None:
    """Return the certificates of SSL_CERT_FILE and SSL_CERT_DIR, for servers on this machine too; None: the usual ones.

    Raise ConfigError if they cannot be read.
    """
    file = variables.get("SSL_CERT_FILE") or process_variable("SSL_CERT_FILE")
    folder = variables.get("SSL_CERT_DIR") or process_variable("SSL_CERT_DIR")
    if not (file or folder):
        return None
    try:
        return ssl.create_default_context(cafile=file, capath=folder)
    except OSError as error:  # also of TLS: a file without certificates
        place = f"SSL_CERT_FILE ({file})" if file else f"SSL_CERT_DIR ({folder})"
        hint = "name a file of certificates in PEM form, or unset the variable"
        raise ConfigError(f"{place} cannot be read: {error.strerror or error}", hint=hint) from None


def _proxy_for(scheme: str, host: str) -> str | None:
    """Return the proxy of a host, None without one; `socks://`, as desktops write it, is SOCKS 5."""
    if proxy_bypass(host):
        return None
    proxies = getproxies()
    proxy = proxies.get(scheme) or proxies.get("all")
    return proxy.replace(_SOCKS, "socks5://", 1) if proxy else None


def _host(variable: str, address: str) -> str:
    """Return the host of an address. Raise ConfigError if the address is malformed, as the libraries below see it."""
    malformed = ConfigError(f"{variable} is not the address of a server", hint="write it as https://host/v1")
    try:
        url = urlsplit(address)
        host, port = url.hostname or "", url.port
        host.encode("idna")
    except ValueError as error:  # a port above 65535, a bracket that is not closed, a part of a name above 63 letters
        raise malformed from error
    if url.scheme not in ("http", "https") or not host or port == 0 or not address.isprintable() or " " in address:
        raise malformed
    return host
