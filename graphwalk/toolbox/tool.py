"""Tools as data: what a model is told about a tool, and the Cypher or the named operation behind it.

A file `tools/NAME.yaml` with a Cypher query is all that a new tool needs. Its texts are Jinja and see the ablation
switches (`direction`, `relationship_properties`); its Cypher sees them too, beside the
identifiers that the model chose.
"""

import hashlib
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from graphwalk.config.yaml_files import YamlFile, validate
from graphwalk.errors import ConfigError
from graphwalk.resources import data_path
from graphwalk.toolbox.operations import OPERATIONS

Role = Literal["label", "relationship_type", "entity_type", "entity_name", "property", "value", "text"]
JsonType = Literal["string", "number", "integer", "boolean"]

SWITCHES = ("direction", "relationship_properties")
"""Fields of AgentConfig that the texts of a tool can ask for."""
ENTITY_TYPES = ("node", "relationship")
_NEEDS: dict[str, tuple[str, ...]] = {
    "entity_name": ("entity_type",),
    "property": ("label", "relationship_type", "entity_name"),
}
"""Roles whose names are looked up in the schema below another parameter, and the roles that one can have."""


class Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Parameter(Strict):
    """One argument of a tool.

    `role` says what becomes of it. label, relationship_type, entity_type, entity_name, property: checked against the
    schema, then an identifier of the query; `of` names the parameter it belongs to. value: a parameter of the query.
    text: for operations.
    """

    type: JsonType | tuple[JsonType, ...]
    role: Role
    description: str = Field(min_length=1)
    of: str | None = None

    @cached_property
    def types(self) -> tuple[str, ...]:
        return (self.type,) if isinstance(self.type, str) else self.type


class Example(Strict):
    """A call and what comes back: rows, or the text of an operation. Columns named like a switch go with it."""

    arguments: dict[str, Any]
    rows: tuple[dict[str, Any], ...] = ()
    text: str | None = None


class Tool(Strict):
    """One tool. Exactly one of `cypher` and `operation` is behind it.

    `switch`: field of AgentConfig without which the tool is not offered. `matches`: Cypher that finds a row where
    something matches although the tool's result is empty. An empty result is explained by `empty` where something
    matches, else by `no_match`.
    """

    name: str = Field(pattern=r"^[a-zA-Z0-9_-]{1,64}$")
    description: str = Field(min_length=1)
    example: Example
    parameters: dict[str, Parameter] = Field(default_factory=dict)
    switch: Literal["think"] | None = None
    cypher: str | None = None
    operation: str | None = None
    matches: str | None = None
    no_match: str = ""
    empty: str = ""
    messages: dict[str, str] = Field(default_factory=dict)
    """What the toolbox of a suite says in cases of its own, by name."""
    message_values: tuple[str, ...] = ()
    """Names that `messages` can use besides the parameters."""
    digest: str = ""

    @field_validator("parameters")
    @classmethod
    def _related(cls, parameters: dict[str, Parameter]) -> dict[str, Parameter]:
        for name, parameter in parameters.items():
            roles = _NEEDS.get(parameter.role, ())
            other = parameters.get(parameter.of or "")
            if name == "page":
                raise ValueError('the name "page" is kept for result pages')
            if roles and (other is None or other.role not in roles):
                raise ValueError(f"{name}: `of` must name a parameter with the role {' or '.join(roles)}")
            if not roles and parameter.of is not None:
                raise ValueError(f"{name}: the role {parameter.role} takes no `of`")
        return parameters

    @field_validator("operation")
    @classmethod
    def _registered(cls, operation: str | None) -> str | None:
        if operation is not None and operation not in OPERATIONS:
            raise ValueError(f"there is no operation {operation!r}; there are {', '.join(OPERATIONS)}")
        return operation

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.example.arguments.keys() != self.parameters.keys():
            raise ValueError("example: its arguments must be all parameters and nothing else")
        if (self.cypher is None) == (self.operation is None):
            raise ValueError("give either cypher or operation")
        if self.cypher is not None and not self.no_match:
            raise ValueError("no_match: a tool with cypher says what an empty result means")
        return self

    def with_role(self, *roles: Role) -> list[str]:
        """Names of the parameters with one of these roles, in the order of the file."""
        return [name for name, parameter in self.parameters.items() if parameter.role in roles]

    @cached_property
    def resolution(self) -> tuple[str, ...]:
        """Names of the parameters that become identifiers, each after the one that it belongs to."""
        return (
            *self.with_role("entity_type"),
            *self.with_role("label", "relationship_type", "entity_name"),
            *self.with_role("property"),
        )

    @cached_property
    def values(self) -> tuple[str, ...]:
        """Names of the parameters that go into the query as they are."""
        return tuple(self.with_role("value"))


def tool_names() -> list[str]:
    """Names of the tools that come with GraphWalk."""
    return sorted(path.stem for path in data_path("tools").glob("*.yaml"))


def load_tools(names: Sequence[str]) -> tuple[Tool, ...]:
    """Tools by name, in this order. ConfigError names file, line and field where a file is wrong."""
    return tuple(_shipped(name) for name in names)


def load_tool(path: Path) -> Tool:
    """The tool in a YAML file, with the SHA-256 of the file. ConfigError names file, line and field of a mistake."""
    file = YamlFile.read(path)
    tool = validate(Tool, file.data, str(path), file.tree)
    if tool.name != path.stem:
        raise ConfigError(f"{path}: name: the tool is called {tool.name}, its file {path.name}")
    _check_texts(tool, path)
    return tool.model_copy(update={"digest": hashlib.sha256(file.text.encode()).hexdigest()})


@lru_cache(maxsize=64)
def _shipped(name: str) -> Tool:
    if name not in tool_names():
        raise ConfigError(f"there is no tool {name!r}", hint=f"known tools: {', '.join(tool_names())}")
    return load_tool(data_path("tools") / f"{name}.yaml")


def _check_texts(tool: Tool, path: Path) -> None:
    """ConfigError where a text is no Jinja, or names something that it will not be given."""
    from jinja2 import Environment, TemplateSyntaxError, nodes

    environment = Environment(autoescape=False)
    for field, text, names in _texts(tool):
        try:
            used = list(environment.parse(text).find_all(nodes.Name))
        except TemplateSyntaxError as error:
            raise ConfigError(f"{path}: {field}: line {error.lineno} of the text: {error.message}") from error
        unknown = {name.name for name in used} - names - {name.name for name in used if name.ctx == "store"}
        if unknown:
            known = ", ".join(sorted(names))
            raise ConfigError(
                f"{path}: {field}: unknown name {', '.join(sorted(unknown))}", hint=f"known here: {known}"
            )


def _texts(tool: Tool) -> Iterator[tuple[str, str, set[str]]]:
    """Field, text, and the names that it may use."""
    values = set(tool.with_role("value", "text"))
    identifiers = {*tool.parameters, *SWITCHES} - values
    query = {*identifiers, "any_node"}
    message = {*tool.parameters, *SWITCHES}
    yield "description", tool.description, set(SWITCHES)
    yield "cypher", tool.cypher or "", query
    yield "matches", tool.matches or "", query
    yield "no_match", tool.no_match, message
    yield "empty", tool.empty, message
    for name, text in tool.messages.items():
        yield f"messages.{name}", text, {*message, *tool.message_values}
