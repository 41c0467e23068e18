"""Tools as data: the description for a model, and a Cypher query or a named operation of the toolbox.

A file `tools/NAME.yaml` with a Cypher query is all that a new tool needs. Its texts are Jinja and see the switches
below; its Cypher sees them and the identifiers that the model chose.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from graphwalk.config.resources import YamlFile, data_path
from graphwalk.config.strict import Strict, is_path, validate
from graphwalk.config.templates import TEXT_FILTERS, TextError, check_text, render_text
from graphwalk.errors import ConfigError, did_you_mean
from graphwalk.stores.cypher import FILTERS, render_cypher

Role = Literal[
    "label", "relationship_type", "direction", "entity_type", "entity_name", "property", "value", "text", "page"
]
Shown = Literal["nodes", "relationships", "values", "path"]
JsonType = Literal["string", "number", "integer", "boolean"]
Operation = Literal["note", "describe", "search", "query", "connected_path"]

SWITCHES = ("direction", "relationship_properties")
"""Fields of AgentConfig that the texts of a tool can ask for. A column of this name goes with its switch."""
GRAPH_SWITCHES = ("several_labels", "no_label", "search")
"""Some node has not exactly one label; some node has none; a tool searches, so that others take more arguments."""
QUERY_SECONDS = "query_seconds"
"""Timeout of a query of the model, for the description of a tool with such queries."""
_PATTERNS = frozenset({"any_node"})
"""Names of a Cypher template that the store sets."""
ENUMS = MappingProxyType({"entity_type": ("node", "relationship"), "direction": ("outgoing", "incoming")})
"""Role → values of its parameters."""
_OPTIONAL = ("text", "label", "relationship_type", "direction")  # roles
_OWNERS: Mapping[str, tuple[str, ...]] = {
    "entity_name": ("entity_type",),
    "property": ("label", "relationship_type", "entity_name"),
}
"""Roles whose names belong to another parameter, and the roles that this one can have."""


class ToolParameter(Strict):
    """One argument of a tool.

    `role` is its use. label, relationship_type, entity_type, entity_name, property: checked against the schema, then
    an identifier of the query; `of` names the parameter it belongs to. value: `$name` in the query. direction: outgoing
    or incoming, `$name` too. text: for operations. page: number of the page of a result, which a toolbox adds.
    """

    type: tuple[JsonType, ...] = ("string",)
    role: Role = "value"
    description: str = ""
    of: str | None = None
    optional: bool = False
    """It may be left out of a call: None, null in the query."""
    where: tuple[Literal["direction", "search"], ...] = ()
    """Switches that are on where the parameter is offered."""

    @field_validator("type", mode="before")
    @classmethod
    def _several(cls, type: Any) -> Any:
        return (type,) if isinstance(type, str) else type


class Example(Strict):
    """A call and what comes back: rows, or the text of an operation.

    `several_labels`: the rows where not every node has exactly one label; none: the same.
    """

    arguments: dict[str, Any]
    rows: tuple[dict[str, Any], ...] = ()
    several_labels: tuple[dict[str, Any], ...] = ()
    text: str | None = None


class Tool(Strict):
    """One tool, with either `cypher` or `operation`.

    Operations: `note` returns the model's own text and shows nothing of the graph, so that its calls are counted apart;
    `search` finds nodes by a text; `query` runs Cypher of the model; `describe` shows a part of the schema;
    `connected_path` belongs to mazes. `shows`: what the rows are, so that they are evidence; those of `query` are read
    by the names of their columns.
    """

    name: str = Field(pattern=r"^[a-zA-Z0-9_-]{1,64}$")
    """Name of the file, without its ending: what the model calls."""
    description: str = ""
    """What it does, when to use it, what comes back. Jinja, which may ask for the switches `direction` and
    `relationship_properties`."""
    example: Example | None = None
    """A call with all `arguments`, and its `rows`; it is written below the description."""
    parameters: dict[str, ToolParameter] = Field(default_factory=dict)
    """Name → `role`, `type`, `description`. A `label`, `relationship_type`, `entity_type`, `entity_name` or `property`
    is checked against the schema and becomes part of the query; a `value` (the default) is the query's `$name`. `of`
    names the parameter that a property or an entity name belongs to."""
    cypher: str | None = None
    """The query, in Jinja as in a question, with the filters below."""
    operation: Operation | None = None
    """In place of `cypher`: `note` returns the model's own text; the others are those of the tools that ship."""
    shows: Shown | None = None
    """What the rows are, so that they are evidence."""
    no_match: str = "nothing was found."
    """What an empty result means."""
    empty: str = ""
    """Words of an empty result although nodes have the property value of the call."""
    file_text: str = ""
    """The whole file, for `graphwalk list tools` and for the folder of a run."""
    path: str = ""

    @field_validator("parameters")
    @classmethod
    def _related(cls, parameters: dict[str, ToolParameter]) -> dict[str, ToolParameter]:
        if any("page" in (name, parameter.role) for name, parameter in parameters.items()):
            raise ValueError("a parameter `page` is added where results have pages")
        for name, parameter in parameters.items():
            roles = _OWNERS.get(parameter.role, ())
            owner = parameters.get(parameter.of or "")
            if roles and (owner is None or owner.role not in roles or owner.optional):
                raise ValueError(f"{name}: `of` must name a required parameter with the role {' or '.join(roles)}")
            if parameter.optional and parameter.role not in _OPTIONAL:
                raise ValueError(f"{name}: only one with the role {', '.join(_OPTIONAL)} can be optional")
        return parameters

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if (self.cypher is None) == (self.operation is None):
            raise ValueError("give either cypher or operation")
        if self.operation in ("note", "search", "query") and len(self.with_role("text")) != 1:
            raise ValueError(f"operation: {self.operation} takes one parameter with the role text")
        if self.example is None:
            return self
        arguments = self.example.arguments.keys()
        required = {name for name, parameter in self.parameters.items() if not parameter.optional}
        if not required <= arguments <= self.parameters.keys():
            raise ValueError("example: its arguments must be all parameters and nothing else")
        return self

    @property
    def declared(self) -> str | None:
        """Return what the rows are, as a `ToolResult` records it."""
        return "query" if self.operation == "query" else self.shows

    def with_role(self, *roles: Role) -> list[str]:
        """Return the names of the parameters with one of these roles, in the order of the file."""
        return [name for name, parameter in self.parameters.items() if parameter.role in roles]

    def say(self, field: str, /, **values: Any) -> str:
        """Render a text ("empty"). Raise ConfigError with file and field of an error in it."""
        try:
            return render_text(getattr(self, field), **values)
        except TextError as error:
            raise ConfigError(f"{self.path}: {field}: {error.problem}") from error


def tool_names() -> list[str]:
    """Return the names of the tools that ship with GraphWalk."""
    return sorted(path.stem for path in data_path("tools").glob("*.yaml"))


def load_tools(names: Sequence[str]) -> tuple[Tool, ...]:
    """Return tools in this order: those that ship by name, a user's own by the path of its file.

    Raise ConfigError for an unknown or repeated name, and with file, line and field for a wrong file.
    """
    tools: dict[str, Tool] = {}
    for name in names:
        tool = load_tool(Path(name)) if is_path(name) else _shipped(name)
        if tool.name in tools:
            hint = "a file of your own replaces the shipped one"
            raise ConfigError(f"the tool {tool.name} is named twice", hint=hint)
        tools[tool.name] = tool
    return tuple(tools.values())


def load_tool(path: Path) -> Tool:
    """Return the tool in a YAML file and its text. Raise ConfigError with file, line and field of a mistake."""
    file = YamlFile.read(path)
    tool = _tool_in(file)
    if tool.name != path.stem:
        raise ConfigError(f"{path}: name: the tool is called {tool.name}, its file {path.name}")

    switches = {*SWITCHES, *GRAPH_SWITCHES}
    parameters = set(tool.parameters)
    names_in_description = switches | {QUERY_SECONDS} if tool.operation == "query" else switches
    _check_template(tool, "description", names_in_description, file)
    _check_cypher(tool, switches, file)
    _check_template(tool, "no_match", parameters | switches, file)
    _check_template(tool, "empty", parameters | switches, file)
    return tool


def _tool_in(file: YamlFile) -> Tool:
    """Return the tool in a file, whose templates may have mistakes."""
    tool = validate(Tool, file.data, str(file.path), file.tree)
    return tool.model_copy(update={"file_text": file.text, "path": str(file.path)})


def _check_template(tool: Tool, field: str, names: set[str], file: YamlFile) -> None:
    """Raise ConfigError, with the line of the field, for a text that is no template or uses other names."""
    try:
        check_text(getattr(tool, field), names, TEXT_FILTERS)
    except (TextError, ConfigError) as error:
        raise ConfigError(f"{file.where(field)}: {error}") from error


def _check_cypher(tool: Tool, switches: set[str], file: YamlFile) -> None:
    """Raise ConfigError as `_check_template` does, and for Cypher that cannot be rendered."""
    # Values are not written into the text: they are sent beside it, as `$value`.
    identifiers = set(tool.parameters).difference(tool.with_role("value", "text", "direction"))
    try:
        check_text(tool.cypher or "", identifiers | switches | _PATTERNS, FILTERS)
        if tool.cypher:
            # {"direction": True, "label": "Name"}
            names = (identifiers | switches) - _PATTERNS
            render_cypher(tool.cypher, {name: name in SWITCHES or "Name" for name in names})
    except (TextError, ConfigError) as error:
        raise ConfigError(f"{file.where('cypher')}: {error}") from error


@lru_cache(maxsize=64)
def _shipped(name: str) -> Tool:
    """Return a tool that ships. The tests check its templates (tests/contracts/test_tools.py), which takes 10 ms."""
    if name not in tool_names():
        names = ", ".join(tool_names())
        raise ConfigError(
            f"there is no tool {name!r}{did_you_mean(name, tool_names())}",
            hint=f"known tools: {names}; or the path of a YAML file",
        )
    return _tool_in(YamlFile.read(data_path("tools") / f"{name}.yaml"))


@lru_cache(maxsize=64)
def shipped_declaration(name: str) -> str | None:
    """Return what the rows of a tool that ships are; None for other tools, and for one that declares nothing."""
    return _shipped(name).declared if name in tool_names() else None
