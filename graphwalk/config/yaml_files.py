"""Read YAML files strictly, and explain what is wrong with them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from graphwalk.errors import ConfigError, did_you_mean
from graphwalk.files.resources import quote
from graphwalk.sanitise import credentials_in

LONGEST_TEXT = 500_000
"""Characters; the largest file that ships has 6,000."""
MOST_ALIASES = 100
"""Uses of `*name`; each can repeat a large part of the document."""
_OTHER_TAGS = frozenset(f"tag:yaml.org,2002:{name}" for name in ("binary", "omap", "pairs", "set"))
"""Tags of values that JSON cannot hold."""
_HALF = re.compile("[\ud800-\udfff]")
"""Half of a surrogate pair, which can be an escape and not text."""


class YamlMistakeError(Exception):
    """An error in a YAML text; `line` counts from 1, None if unknown."""

    def __init__(self, problem: str, line: int | None = None) -> None:
        super().__init__(problem)
        self.line = line


def read_yaml(text: str) -> tuple[Any, yaml.Node | None]:
    """Return the data, and the node tree with its lines. Raise YamlMistakeError unless it is plain data."""
    if len(text) > LONGEST_TEXT:
        raise YamlMistakeError(f"it is longer than {LONGEST_TEXT:,} characters")
    try:
        loader = _Loader(text)
        tree = loader.get_single_node()
        return (None if tree is None else loader.construct_document(tree)), tree
    except yaml.YAMLError as error:
        mark, context = getattr(error, "problem_mark", None), getattr(error, "context", None)
        problem = str(getattr(error, "problem", None) or getattr(error, "reason", None) or error)
        words = f"{context}: {problem}" if context else problem
        raise YamlMistakeError(words, mark.line + 1 if mark else None) from error
    except RecursionError as error:
        raise YamlMistakeError("it is nested too deeply") from error


class _Loader(yaml.SafeLoader):
    """A safe loader that refuses repeated fields, and whose errors have the line."""

    yaml_constructors: ClassVar = {
        tag: make for tag, make in yaml.SafeLoader.yaml_constructors.items() if tag not in _OTHER_TAGS
    }
    aliases = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            self.aliases += 1
            if self.aliases > MOST_ALIASES:
                mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
                raise YamlMistakeError(f"more than {MOST_ALIASES} aliases", mark.line + 1)
        return super().compose_node(parent, index)

    def construct_object(self, node: Any, deep: bool = False) -> Any:
        line = node.start_mark.line + 1
        if isinstance(node, yaml.ScalarNode) and _HALF.search(node.value):
            raise YamlMistakeError("special characters are not allowed", line)
        try:
            return super().construct_object(node, deep)
        except (ValueError, OverflowError) as error:
            raise YamlMistakeError(f"{node.value[:50]!r} is not a value: {error}", line) from error

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        lines: dict[Any, int] = {}
        for name, _ in node.value:
            line = name.start_mark.line + 1
            if not isinstance(name, yaml.ScalarNode):
                raise YamlMistakeError("the name of a field must be text, not a list or a mapping", line)
            if name.value in lines:
                raise YamlMistakeError(
                    f"the field {name.value!r} is given twice, first in line {lines[name.value]}", line
                )
            lines[name.value] = line
        return super().construct_mapping(node, deep)


_REDUNDANT = re.compile(r" or instance of \w+| for <class \S+>| after validation.*|, (?:unable to|got) .*")
"""Parts of pydantic's messages that repeat what follows, or name our classes."""


def in_words(error: Any, model: type[BaseModel] | None = None) -> str:
    """Return the message for one of pydantic's errors; `model`: the class whose fields are suggested."""
    if error["type"] == "extra_forbidden":
        name = str(error["loc"][-1])
        fields = frozenset() if model is None else _field_names(model)
        if name in fields:
            return "there is no such field here" + (
                did_you_mean(name, fields - {name}, cutoff=0.8) or ", only elsewhere"
            )
        return f"there is no such field{did_you_mean(name, fields)}"
    if error["type"] in ("value_error", "assertion_error"):
        return str(error["msg"]).partition(", ")[2]
    if error["type"] == "missing":
        return "is missing"
    words = _REDUNDANT.sub("", str(error["msg"]))
    for ours, theirs in (("must", "Input should"), ("is", "Input is"), ("List", "Tuple"), ("list", "tuple")):
        words = words.replace(theirs, ours)
    text = shown(error["input"])
    a_list = error["type"] in ("tuple_type", "list_type") and isinstance(error["input"], str)
    return f"{words}, not {text}" + (f"; write [{text}]" if a_list else "")


def shown(value: Any) -> str:
    """Return a value as an error message shows it; lists and mappings by their kind."""
    if value is None:
        return "empty"
    if isinstance(value, dict):
        return "a mapping of fields"
    if isinstance(value, list | tuple):
        return "an empty list" if not value else "a list"
    return "***" if any(True for _ in credentials_in(value)) else str(quote(value))


M = TypeVar("M", bound=BaseModel)
_UNION_TAG = re.compile(r"\(.*\)")
"""The member of a union in a location, `(own)`, which is no field."""


@dataclass(frozen=True)
class YamlFile:
    """A YAML file: its text, data, and node tree with the lines."""

    path: Path
    text: str
    data: Any
    tree: yaml.Node | None

    @classmethod
    def read(cls, path: Path) -> "YamlFile":
        """Read a file. Raise ConfigError, with the line if known, if it cannot be read or parsed."""
        try:
            with path.open(encoding="utf-8") as file:
                text = file.read(LONGEST_TEXT + 1)
            return cls(path, text, *read_yaml(text))
        except YamlMistakeError as problem:
            where = f"{path}:{problem.line}" if problem.line else str(path)
            raise ConfigError(f"{where}: not valid YAML: {problem}") from problem
        except UnicodeDecodeError as error:
            raise ConfigError(f"{path}: cannot be read: not UTF-8 text") from error
        except OSError as error:
            raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error

    def where(self, *fields: int | str) -> str:
        """Return file, line and field, as messages begin: `questions/mine.yaml:7: cypher`."""
        line, names, _ = _locate(self.tree, fields)
        return f"{self.path}{f':{line}' if line else ''}: {'.'.join(names)}"


def parse_value(text: str, source: str) -> Any:
    """Parse a YAML value from the command line. Raise ConfigError with `source` if it is none."""
    try:
        return read_yaml(text)[0]
    except YamlMistakeError as problem:
        raise ConfigError(f"{source}: the value is not YAML: {problem}") from problem


def validate(
    model: type[M],
    data: Any,
    source: str,
    tree: yaml.Node | None = None,
    origins: Mapping[str, str] | None = None,
    *,
    folder: Path | None = None,
) -> M:
    """Validate `data`; a ConfigError has line (`tree`) and field. `origins`: dotted key → flag; `folder`: of paths."""
    try:
        return model.model_validate(data, context={"folder": folder})
    except ValidationError as error:
        errors = error.errors()
        # pydantic also calls a list too short whose entries are all wrong.
        parents = {e["loc"][:depth] for e in errors for depth in range(len(e["loc"]))}
        shown_errors = [e for e in errors if e["type"] != "too_short" or e["loc"] not in parents]
        lines = [_describe(source, tree, origins or {}, e["loc"], in_words(e, model)) for e in shown_errors]
        raise ConfigError("\n".join(dict.fromkeys(lines))) from error


def set_dotted(data: Any, key: str, value: Any, source: str) -> None:
    """Set a value inside nested mappings and lists; missing mappings are created. `*` in the key: each list entry."""
    head, _, rest = key.partition(".")
    if isinstance(data, list):
        if head != "*" and not (head.isdecimal() and int(head) < len(data)):
            raise ConfigError(f"{source}: the list has no entry {head!r}; it has {len(data)}, from 0 (* for all)")
        places: list[Any] = list(range(len(data))) if head == "*" else [int(head)]
    elif isinstance(data, dict):
        places = [head]
    else:
        raise ConfigError(f"{source}: {head!r} cannot be set inside a plain value")
    for place in places:
        if not rest:
            data[place] = value
            continue
        if isinstance(data, dict) and data.get(place) is None:
            data[place] = {}
        set_dotted(data[place], rest, value, source)


def _describe(
    source: str, tree: yaml.Node | None, origins: Mapping[str, str], location: Sequence[int | str], message: str
) -> str:
    line, fields, node = _locate(tree, location)
    where, named = f"{source}:{line}" if line else source, fields
    for key, words in origins.items():
        parts = key.split(".")
        if node is None and parts[: len(fields)] == fields:
            where = words
        if len(parts) <= len(fields) and all(part in ("*", field) for part, field in zip(parts, fields, strict=False)):
            where, named = words, fields if len(parts) < len(fields) else []
    return ": ".join([where, *([".".join(named)] if named else []), message])


@lru_cache(maxsize=64)
def _field_names(model: type[BaseModel]) -> frozenset[str]:
    """Return the names of all fields of a class and of the classes inside it."""
    schema = model.model_json_schema()
    return frozenset(
        name for place in (schema, *schema.get("$defs", {}).values()) for name in place.get("properties", ())
    )


def _locate(tree: yaml.Node | None, location: Sequence[int | str]) -> tuple[int | None, list[str], yaml.Node | None]:
    """Return line, fields and node of a pydantic location; no node if the file does not have the field."""
    node, fields = tree, []
    line = None if tree is None else tree.start_mark.line + 1
    for part in location:
        if _UNION_TAG.fullmatch(str(part)):
            continue
        fields.append(str(part))
        node = _child(node, part)
        if node is not None:
            line = node.start_mark.line + 1
    return line, fields, node


def _child(node: yaml.Node | None, part: int | str) -> yaml.Node | None:
    if isinstance(node, yaml.MappingNode):
        return next((value for key, value in node.value if key.value == part), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        child: yaml.Node = node.value[part]
        return child
    return None
