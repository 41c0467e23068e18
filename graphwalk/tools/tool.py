"""Tools as data: the description for a model, and its Cypher or named operation.

A file `tools/NAME.yaml` with a Cypher query is all that a new tool needs. Its texts are Jinja and see the ablation
switches (`direction`, `relationship_properties`); its Cypher sees them and the identifiers that the model chose.
"""

import json
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, Self, TypeVar

from pydantic import Field, field_validator, model_validator

from graphwalk.config.jinja import TEXT_FILTERS, TextError, check_text, render_text
from graphwalk.config.strict import Strict, is_path
from graphwalk.config.yaml_files import YamlFile, validate
from graphwalk.errors import ConfigError, did_you_mean
from graphwalk.files.resources import data_path
from graphwalk.stores.cypher import FILTERS, render_cypher

Role = Literal["label", "relationship_type", "direction", "entity_type", "entity_name", "property", "value", "text"]
Shown = Literal["nodes", "relationships", "values", "path"]
JsonType = Literal["string", "number", "integer", "boolean"]

SWITCHES = ("direction", "relationship_properties")
"""Fields of AgentConfig that the texts of a tool can ask for."""
IN_LIST = "in_list"
"""True for the second query of a call: nothing equals the value, and the property may hold lists that contain it."""
SEARCH = "search"
"""True where a tool searches: other tools take more arguments then."""
GRAPH_SWITCHES = ("several_labels", "no_label", IN_LIST, SEARCH)
"""Conditions: some node has not exactly one label; some node has none; see `IN_LIST` and `SEARCH`."""
QUERY_SECONDS = "query_seconds"
"""Timeout of a query of the model, for the texts of a tool with such queries."""
_PATTERNS = frozenset({"any_node", "any_relationship"})
"""Names of a Cypher template that the store sets."""
ENUMS = MappingProxyType({"entity_type": ("node", "relationship"), "direction": ("outgoing", "incoming")})
"""Role → values of its parameters, which become identifiers."""
_OPTIONAL = ("text", "label", "relationship_type", "direction")  # roles
_NEEDS: dict[str, tuple[str, ...]] = {
    "entity_name": ("entity_type",),
    "property": ("label", "relationship_type", "entity_name"),
}
"""Roles whose names are looked up in the schema below another parameter, and the roles that one can have."""

COLUMNS: Mapping[Shown, tuple[str, ...]] = MappingProxyType(
    {
        "nodes": ("label",),
        "relationships": ("center_key", "type", "neighbor_label", "neighbor_properties"),
        "values": ("values",),
        "path": ("keys", "labels", "types"),
    }
)
"""Kind of row → columns that every row has (docs/extending.md, Tool)."""

Cell = TypeVar("Cell", int, str)


def connected_path(arguments: Mapping[str, Any]) -> str:
    """Return the shortest path over visited cells from the first to the last as JSON, "" if none (docs/method.md).

    `neighbours` maps the key of every visited cell, in the order of first visits, to the keys of the cells next to it.
    """
    neighbours: Mapping[str, Sequence[str]] = arguments.get("neighbours", {})
    if not neighbours:
        return ""
    first, *_, last = (*neighbours, *neighbours)
    path = shortest_path(first, last, lambda cell: [n for n in neighbours[cell] if n in neighbours])
    return json.dumps(path) if path else ""


def distances_from(start: Cell, neighbours: Callable[[Cell], list[Cell]]) -> dict[Cell, int]:
    """Return the steps from a cell to each cell that can be reached."""
    distances, queue = {start: 0}, deque([start])
    while queue:
        cell = queue.popleft()
        new = [n for n in neighbours(cell) if n not in distances]
        distances.update(dict.fromkeys(new, distances[cell] + 1))
        queue += new
    return distances


def shortest_path(start: Cell, goal: Cell, neighbours: Callable[[Cell], list[Cell]]) -> list[Cell]:
    """Return a shortest path, of several the one with the lowest numbers, first cells first; [] if there is none."""
    distances = distances_from(goal, neighbours)
    path = [start] if start in distances else []
    while path and (cell := path[-1]) != goal:
        path.append(min((n for n in neighbours(cell) if distances.get(n) == distances[cell] - 1), key=int))
    return path


OPERATIONS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "repeat": lambda arguments: "\n".join(map(str, arguments.values())),  # a thought is noted
    "connected_path": connected_path,
    "describe": lambda arguments: str(arguments["described"]),  # the toolbox has looked it up in the schema
}
"""Python functions for tools that are no query: name → function of the checked arguments that returns a text."""


class ToolParameter(Strict):
    """One argument of a tool.

    `role` is its use. label, relationship_type, entity_type, entity_name, property: checked against the
    schema, then an identifier of the query; `of` names the parameter it belongs to. direction: outgoing or incoming, an
    identifier too. value: a parameter of the query. text: for operations and searches.
    """

    type: JsonType | tuple[JsonType, ...]
    role: Role
    description: str = Field(min_length=1)
    of: str | None = None
    optional: bool = False
    """It may be left out of a call; a query asks whether an identifier `is defined`."""
    where: tuple[Literal["direction", "relationship_properties", "search"], ...] = ()
    """Switches that are on where the parameter is offered."""

    @cached_property
    def types(self) -> tuple[str, ...]:
        return (self.type,) if isinstance(self.type, str) else self.type


class Example(Strict):
    """A call and what comes back: rows, or the text of an operation. Columns named like a switch go with it.

    `several_labels`: the rows where not every node has exactly one label; none: the same.
    """

    arguments: dict[str, Any]
    rows: tuple[dict[str, Any], ...] = ()
    several_labels: tuple[dict[str, Any], ...] = ()
    text: str | None = None


class Tool(Strict):
    """One tool, with exactly one of `cypher`, `operation`, `query` (the parameter with Cypher written by the model) and
    `search` (the parameter with a text that nodes are found by).

    `note_taking`: it returns the model's own text and shows nothing of the graph, so that its calls are counted
    apart. `matches`: Cypher that finds a row where something matches
    although the tool's result is empty. `count`: Cypher that gives the number of `rows` of a result too large to be
    fetched whole. An empty result is explained by `empty` where something matches, else by
    `no_match`. `shows`: what its rows are, so that they are evidence; those of `query` are read by
    the names of their columns.
    """

    name: str = Field(pattern=r"^[a-zA-Z0-9_-]{1,64}$")
    description: str = Field(min_length=1)
    example: Example
    parameters: dict[str, ToolParameter] = Field(default_factory=dict)
    note_taking: bool = False
    cypher: str | None = None
    operation: str | None = None
    query: str | None = None
    search: str | None = None
    matches: str | None = None
    count: str | None = None
    shows: Shown | None = None
    no_match: str = ""
    empty: str = ""
    messages: dict[str, str] = Field(default_factory=dict)
    """Messages of the suite's toolbox, by name."""
    message_values: tuple[str, ...] = ()
    """Names that `messages` can use besides the parameters."""
    file_text: str = ""
    """The whole file, for `graphwalk list tools` and for the folder of a run."""
    path: str = ""

    @field_validator("parameters")
    @classmethod
    def _related(cls, parameters: dict[str, ToolParameter]) -> dict[str, ToolParameter]:
        for name, parameter in parameters.items():
            roles = _NEEDS.get(parameter.role, ())
            other = parameters.get(parameter.of or "")
            if name == "page":
                raise ValueError('the name "page" is kept for result pages')
            if roles and (other is None or other.role not in roles):
                raise ValueError(f"{name}: `of` must name a parameter with the role {' or '.join(roles)}")
            if other is not None and other.optional:
                raise ValueError(f"{name}: {parameter.of} must not be optional: a property belongs to it")
            if not roles and parameter.of is not None:
                raise ValueError(f"{name}: remove `of`: only properties and entity names belong to another parameter")
        return parameters

    @field_validator("operation")
    @classmethod
    def _registered(cls, operation: str | None) -> str | None:
        if operation is not None and operation not in OPERATIONS:
            raise ValueError(f"there is no operation {operation!r}; there are {', '.join(OPERATIONS)}")
        return operation

    @model_validator(mode="after")
    def _whole(self) -> Self:
        arguments = self.example.arguments.keys()
        if not self.required <= arguments or not arguments <= self.parameters.keys():
            raise ValueError("example: its arguments must be all parameters and nothing else")
        if any(parameter.optional and parameter.role not in _OPTIONAL for parameter in self.parameters.values()):
            raise ValueError(f"parameters: only one with the role {', '.join(_OPTIONAL)} can be optional")
        if sum(part is not None for part in (self.cypher, self.operation, self.query, self.search)) != 1:
            raise ValueError("give either cypher or operation or query or search")
        text = self.query or self.search
        if text is not None and (text not in self.with_role("text") or not self.no_match):
            raise ValueError("query, search: names a parameter with the role text; no_match explains an empty result")
        if self.cypher is not None and self.note_taking:
            raise ValueError("note_taking: a tool with cypher shows the graph")
        if self.cypher is not None and not self.no_match:
            raise ValueError("no_match: a tool with cypher states what an empty result means")
        self._check_shows()
        return self

    def _check_shows(self) -> None:
        """Raise ValueError if the rows of the example lack a column that `shows` declares."""
        if self.shows is None:
            return
        if self.operation is not None or self.query is not None:
            raise ValueError("shows: only the rows of `cypher` and `search` are known")
        required = COLUMNS[self.shows]
        if self.shows == "nodes" and not all("properties" in row for row in self.example.rows):
            required = (*required, "key")
        if self.shows == "relationships" and "label" not in self.parameters:
            required = (*required, "center_label")
        for name in required:
            columns = {name, f"{name}s"} if name.endswith("label") else {name}
            if not all(columns & row.keys() for row in self.example.rows):
                raise ValueError(f"shows: {self.shows} needs a column `{name}` in each row of the example")

    @property
    def declared(self) -> str | None:
        """Return what the rows are, as a `ToolResult` records it."""
        return "query" if self.query is not None else self.shows

    def with_role(self, *roles: Role) -> list[str]:
        """Return the names of the parameters with one of these roles, in the order of the file."""
        return [name for name, parameter in self.parameters.items() if parameter.role in roles]

    def offered(self, switches: Mapping[str, bool]) -> "Tool":
        """Return the tool without the parameters that are not offered where these switches are on."""
        parameters = {n: p for n, p in self.parameters.items() if all(switches[switch] for switch in p.where)}
        return Tool.model_construct(**{**vars(self), "parameters": parameters})

    @cached_property
    def required(self) -> frozenset[str]:
        return frozenset(name for name, parameter in self.parameters.items() if not parameter.optional)

    @cached_property
    def resolution(self) -> tuple[str, ...]:
        """Return the names of the parameters that become identifiers, each after the one that it depends on."""
        return (
            *self.with_role("entity_type"),
            *self.with_role("label", "relationship_type", "direction", "entity_name"),
            *self.with_role("property"),
        )

    def say(self, field: str, /, **values: Any) -> str:
        """Render a text ("empty", "messages.number"). Raise ConfigError with file and field of an error in it."""
        text = self.messages[field.removeprefix("messages.")] if "." in field else getattr(self, field)
        try:
            return render_text(text, **values)
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
    tool = validate(Tool, file.data, str(path), file.tree)
    if tool.name != path.stem:
        raise ConfigError(f"{path}: name: the tool is called {tool.name}, its file {path.name}")
    for field, text, names, filters in _texts(tool):
        try:
            check_text(text, names, filters)
            if filters is FILTERS and text:
                render_cypher(text, {name: name in SWITCHES or "Name" for name in names - _PATTERNS})
        except (TextError, ConfigError) as error:
            raise ConfigError(f"{file.where(*field.split('.'))}: {error}") from error
    return tool.model_copy(update={"file_text": file.text, "path": str(path)})


@lru_cache(maxsize=64)
def _shipped(name: str) -> Tool:
    if name not in tool_names():
        names = ", ".join(tool_names())
        raise ConfigError(
            f"there is no tool {name!r}{did_you_mean(name, tool_names())}",
            hint=f"known tools: {names}; or the path of a YAML file",
        )
    return load_tool(data_path("tools") / f"{name}.yaml")


@lru_cache(maxsize=64)
def shipped_declaration(name: str) -> str | None:
    """Return what the rows of a tool that ships are; None for other tools, and for one that declares nothing."""
    return _shipped(name).declared if name in tool_names() else None


def _texts(tool: Tool) -> Iterator[tuple[str, str, set[str], Collection[str]]]:
    """Yield field, text, and the names and filters that it may use."""
    switches = (*SWITCHES, *GRAPH_SWITCHES)
    values = set(tool.with_role("value", "text"))
    identifiers = {*tool.parameters, *switches} - values
    query = {*identifiers, *_PATTERNS}
    message = {*tool.parameters, *switches}
    limits = {QUERY_SECONDS} if tool.query is not None else set()
    yield "description", tool.description, {*switches, *limits}, TEXT_FILTERS
    yield "cypher", tool.cypher or "", query, FILTERS
    yield "matches", tool.matches or "", query, FILTERS
    yield "count", tool.count or "", query, FILTERS
    yield "no_match", tool.no_match, message, TEXT_FILTERS
    yield "empty", tool.empty, message, TEXT_FILTERS
    for name, text in tool.messages.items():
        yield f"messages.{name}", text, {*message, *tool.message_values}, TEXT_FILTERS
