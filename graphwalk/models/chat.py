"""Models and their conversations, in the OpenAI chat format. Text of a model is kept as it came, surrogates and all."""

import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache, cached_property
from typing import Any, Literal, Protocol, TypeVar

from pydantic import TypeAdapter

Role = Literal["system", "user", "assistant", "tool"]


_LONGEST_ARGUMENTS = 100_000
"""Characters of arguments that are sent back whole."""
_SHOWN_ARGUMENTS = 1000
"""Characters at the beginning of longer ones."""
_SEPARATOR = re.compile(r"[.:/|\s]|__")
_FENCED = re.compile(r"\s*```\w*\s*(\{.*\})\s*```\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call that a model asks for; `arguments` is text, a JSON object if the model behaved."""

    id: str
    name: str
    arguments: str

    @classmethod
    def of_model(cls, id_: str, name: str, arguments: str) -> "ToolCall":
        """Return a call as a model wrote it, with name and arguments read from the forms that models add to them.

        Names: `functions.NAME`, `NAME:0`, `NAME<|channel|>commentary`. Arguments: an object in a fence, encoded twice,
        or in `{"arguments": …}`; other text is unchanged.
        """
        name = name.partition("<|")[0].strip()  # look<|channel|>commentary
        name = re.sub(r":\d+$", "", name)  # look:0
        name = name.rpartition(".")[2]  # functions.look

        fenced = _FENCED.fullmatch(arguments)
        value: Any = fenced[1] if fenced else arguments
        layers = 0
        try:
            while True:
                if isinstance(value, str):
                    value = json.loads(value)
                elif isinstance(value, dict) and list(value) == ["arguments"]:
                    value = value["arguments"]
                else:
                    break
                layers += 1
            # One layer is JSON as it should be, which is sent back letter by letter.
            if isinstance(value, dict) and (layers > 1 or fenced):
                arguments = json.dumps(value, ensure_ascii=False)
        except (ValueError, RecursionError):
            pass  # the tool tells the model
        return cls(id_, name, arguments)

    def sendable(self) -> "ToolCall":
        """Return the call as every server accepts it: many refuse arguments that are no object, or very long ones."""
        name = re.sub(r"[^A-Za-z0-9_-]", "_", self.name[:64]) or "unnamed"
        arguments = self.arguments
        if len(arguments) > _LONGEST_ARGUMENTS:
            arguments = f"{arguments[:_SHOWN_ARGUMENTS]}… ({len(arguments)} characters)"
        if json_object(arguments) is None:
            arguments = json.dumps({"invalid_arguments": arguments})
        return ToolCall(self.id, name, arguments)


@dataclass(frozen=True)
class Message:
    """One message. `reasoning` is the part of a model's reasoning that its provider shows, for the log.

    `provider_state` is JSON that only the provider that wrote it reads: signatures and encrypted reasoning. It
    is logged, and sent back unchanged with the message.
    """

    role: Role
    content: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    reasoning: str | None = None
    provider_state: Mapping[str, Any] | None = field(default=None, hash=False)

    def as_openai(self) -> dict[str, Any]:
        """Return the message for the Chat Completions API, with names and arguments that every server accepts."""
        wire: dict[str, Any] = {"role": self.role, "content": self.content}
        if self.content is None and not self.tool_calls:
            wire["content"] = ""
        if self.tool_calls:
            wire["tool_calls"] = []
            for call in self.tool_calls:
                sent = call.sendable()
                function = {"name": sent.name, "arguments": sent.arguments}
                wire["tool_calls"].append({"id": sent.id, "type": "function", "function": function})
        if self.tool_call_id is not None:
            wire["tool_call_id"] = self.tool_call_id
        return wire

    @cached_property
    def digest(self) -> bytes:
        """SHA-256 of the fields as JSON."""
        # Not `asdict`, which copies the provider's state.
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return hashlib.sha256(canonical_json(values)).digest()


def known_name(name: str, tools: Collection[str]) -> str:
    """Return the known tool after the last separator of a name: `default_api:look`, `functions/look`, `mcp__s__look`.

    Any other name is unchanged.
    """
    if name in tools:
        return name
    last = _SEPARATOR.split(name)[-1]
    if last in tools:
        return last

    # A tool's own name may contain a separator: mcp__s__read__all
    matches = []
    for tool in tools:
        if name.endswith((f".{tool}", f":{tool}", f"/{tool}", f"__{tool}")):
            matches.append(tool)
    return max(matches, key=len, default=name)


def compact_json(value: Any) -> str:
    """Return JSON without spaces, as it is sent."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def canonical_json(value: Any) -> bytes:
    """Return JSON with sorted names and without spaces; dataclasses are objects."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=asdict).encode()


def json_object(text: str) -> dict[str, Any] | None:
    """Return the JSON object of a text, None for anything else."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


@dataclass(frozen=True)
class ToolSpec:
    """The description of a tool for a model; `parameters` is a JSON schema of type object."""

    name: str
    description: str
    parameters: Mapping[str, Any]

    def as_openai(self) -> dict[str, Any]:
        function = {
            "name": self.name,
            "description": self.description,
            "parameters": dict(self.parameters),
        }
        return {"type": "function", "function": function}

    @cached_property
    def json(self) -> str:
        """`as_openai` as JSON."""
        return compact_json(self.as_openai())


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and cost as the provider reports them; None where it does not say. `cost` is in US dollars.

    `estimated`: it reported no tokens, and some of these are a pessimistic estimate (`graphwalk.models.wrappers`).
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None
    cost: float | None = None
    estimated: bool = False

    def __add__(self, other: "Usage") -> "Usage":
        """Return the sum; known + unknown is known, so that one silent reply does not hide the others."""
        return Usage(
            _sum(self.input_tokens, other.input_tokens),
            _sum(self.output_tokens, other.output_tokens),
            _sum(self.reasoning_tokens, other.reasoning_tokens),
            _sum(self.cached_tokens, other.cached_tokens),
            _sum(self.cost, other.cost),
            self.estimated or other.estimated,
        )

    @property
    def total_tokens(self) -> int:
        return (self.input_tokens or 0) + (self.output_tokens or 0)


def _sum(a: Any, b: Any) -> Any:
    if a is None:
        return b
    if b is None:
        return a
    return a + b


@dataclass(frozen=True)
class CallOptions:
    """Settings of a call. None: the provider's default.

    `on_text` is awaited with each piece of the reply's text as it arrives, where the provider streams; a reply that
    is interrupted starts again. It is no part of the request.
    `answer_schema` is the JSON schema of the answer, for protocols that put it into `response_schema`, the JSON schema
    that the server must hold the reply to. Generation ends at one of the texts in `stop`.
    """

    temperature: float | None = None
    top_p: float | None = None
    max_output_tokens: int | None = None
    reasoning_effort: str | None = None
    seed: int | None = None
    parallel_tool_calls: bool | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    on_text: Callable[[str], Awaitable[None]] | None = field(default=None, compare=False, repr=False)
    tool_choice: Literal["required"] | None = None
    stop: tuple[str, ...] = ()
    answer_schema: Mapping[str, Any] | None = None
    response_schema: Mapping[str, Any] | None = None

    @property
    def json_schema(self) -> dict[str, Any] | None:
        """The name and the JSON schema of the reply, None without a schema. OpenAI's strict mode refuses ours."""
        schema = self.response_schema
        return None if schema is None else {"name": "reply", "schema": dict(schema), "strict": False}

    @cached_property
    def canonical(self) -> bytes:
        """The options as `canonical_json`, without the function."""
        return canonical_json(replace(self, on_text=None))


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer of a model.

    `seconds` is the time the successful request took, without waiting for rate limits or retries.
    `finish_reason` is the provider's word ("stop", "tool_calls", "length", …), "" if it gave none.
    """

    message: Message
    usage: Usage = Usage()
    finish_reason: str = ""
    seconds: float = 0.0
    model: str = ""
    """The model name that the provider reports."""


class ModelBackend(Protocol):
    """The one method that a class of another package needs to be a model; `name` and `close` may be left out."""

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions, /) -> Reply:
        """Return the model's next message. Raise ModelError if the provider fails; `retryable`: worth a retry."""
        ...


class Model(Protocol):
    """A language model. One object serves many conversations at the same time."""

    name: str
    """`provider/model`."""

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        """Return the model's next message. Raise ModelError if the provider fails; `retryable`: worth a retry."""
        ...

    async def close(self) -> None:
        """Close connections."""
        return


class Wrapper(Model):
    """A model around `inner`, which has its name and is closed with it."""

    def __init__(self, inner: Model) -> None:
        self.inner = inner
        self.name = inner.name
        self.streams_by_callbacks: bool = getattr(inner, "streams_by_callbacks", False)

    async def close(self) -> None:
        await self.inner.close()


Logged = TypeVar("Logged")


_adapter: Callable[[Any], TypeAdapter[Any]] = cache(TypeAdapter)


def to_dict(value: Any) -> dict[str, Any]:
    """Return the JSON form of a message, a reply, its usage or a trajectory, for the run log and the reply cache.

    Fields are in the order of their class, with lists for tuples; None, empty and default fields are left out.
    """
    # Not straight to JSON text: pydantic's writer refuses lone surrogates.
    kind: Any = type(value)
    wire: dict[str, Any] = _adapter(kind).dump_python(value, mode="json", exclude_defaults=True)
    return wire


def from_dict(kind: Callable[..., Logged], wire: Mapping[str, Any]) -> Logged:
    """Return the object that `to_dict` wrote, lone surrogates and NUL included. Raise ValueError for anything else."""
    value: Logged = _adapter(kind).validate_python(wire)
    return value
