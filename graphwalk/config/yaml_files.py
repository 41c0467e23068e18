"""Reading YAML into models, with errors that name file, line and field."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from graphwalk.config.mistakes import in_words
from graphwalk.config.strict_yaml import LONGEST_TEXT, YamlMistakeError, read_yaml
from graphwalk.errors import ConfigError

M = TypeVar("M", bound=BaseModel)
_UNION_TAG = re.compile(r"\(.*\)")
"""In a location, which of several forms a value was taken for: `(own)`. It is no field."""


@dataclass(frozen=True)
class YamlFile:
    """A file, what it says, and its node tree, which knows the lines."""

    path: Path
    text: str
    data: Any
    tree: yaml.Node | None

    @classmethod
    def read(cls, path: Path) -> "YamlFile":
        """ConfigError, with the line where there is one, where the file cannot be read or parsed."""
        try:
            with path.open(encoding="utf-8") as file:
                text = file.read(LONGEST_TEXT + 1)
            return cls(path, text, *read_yaml(text))
        except YamlMistakeError as problem:
            where = f"{path}:{problem.line}" if problem.line else str(path)
            raise ConfigError(f"{where}: not valid YAML: {problem}") from problem
        except UnicodeDecodeError as error:
            raise ConfigError(f"{path}: cannot be read: it is not UTF-8 text") from error
        except OSError as error:
            raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error

    def where(self, *fields: int | str) -> str:
        """File, line and field, as messages begin: `questions/mine.yaml:7: cypher`."""
        line, names = _locate(self.tree, fields)
        return f"{self.path}{f':{line}' if line else ''}: {'.'.join(names)}"


def parse_value(text: str, source: str) -> Any:
    """A YAML value given on a command line. ConfigError names `source`."""
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
    """`data` as `model`; ConfigError names source, line (where `tree` knows it) and field of every mistake.

    `origins` are the words by which somebody set a field (dotted key) over what the source says. Paths in `data` are
    relative to `folder`.
    """
    try:
        return model.model_validate(data, context={"folder": folder})
    except ValidationError as error:
        known, found = _known_fields(model), error.errors()
        told = [e for e in found if e["type"] != "too_short" or not _has_wrong_entries(e["loc"], found)]
        lines = [_describe(source, tree, origins or {}, e["loc"], in_words(e, known)) for e in told]
        raise ConfigError("\n".join(dict.fromkeys(lines))) from error


def _has_wrong_entries(location: Sequence[int | str], errors: Sequence[Any]) -> bool:
    """True for a list that only seems to be empty, because its entries are wrong."""
    return any(len(e["loc"]) > len(location) and e["loc"][: len(location)] == location for e in errors)


def set_dotted(data: Any, key: str, value: Any, source: str) -> None:
    """Set a value deep inside nested mappings and lists; mappings on the way are made where they are missing."""
    head, _, rest = key.partition(".")
    if isinstance(data, list):
        if head != "*" and not (head.isdecimal() and int(head) < len(data)):
            raise ConfigError(f"{source}: {head!r} is not in a list of {len(data)} (numbered from 0; * for all)")
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
    line, fields = _locate(tree, location)
    where, named = f"{source}:{line}" if line else source, fields
    for key, words in origins.items():
        parts = key.split(".")
        if len(parts) <= len(fields) and all(part in ("*", field) for part, field in zip(parts, fields, strict=False)):
            where, named = words, fields if len(parts) < len(fields) else []
    return ": ".join([where, *([".".join(named)] if named else []), message])


@lru_cache(maxsize=64)
def _known_fields(model: type[BaseModel]) -> frozenset[str]:
    """The names of all fields, at whatever depth."""
    return frozenset(_field_names(model.model_json_schema()))


def _field_names(schema: Any) -> Iterator[str]:
    """The names of all fields in a JSON schema, at whatever depth."""
    if isinstance(schema, dict):
        properties = schema.get("properties")
        yield from properties if isinstance(properties, dict) else ()
        for value in schema.values():
            yield from _field_names(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _field_names(value)


def _locate(tree: yaml.Node | None, location: Sequence[int | str]) -> tuple[int | None, list[str]]:
    """Line and fields of a pydantic location."""
    node, fields = tree, []
    line = None if tree is None else tree.start_mark.line + 1
    for part in location:
        if _UNION_TAG.fullmatch(str(part)):
            continue
        child = _child(node, part)
        fields.append(str(part))
        node = child
        if node is not None:
            line = node.start_mark.line + 1
    return line, fields


def _child(node: yaml.Node | None, part: int | str) -> yaml.Node | None:
    if isinstance(node, yaml.MappingNode):
        return next((value for key, value in node.value if key.value == part), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        found: yaml.Node = node.value[part]
        return found
    return None
