"""Nodes, relationships and headers as all graph formats read them."""

import re
import unicodedata
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar
from xml.etree.ElementTree import ParseError

from graphwalk.errors import ConfigError, FileNote
from graphwalk.files.writing import write_whole
from graphwalk.graphs.graph import KEY, PropertyGraph
from graphwalk.graphs.values import Value, brief, value_of
from graphwalk.version import SCHEMA_VERSION

V = TypeVar("V")

PROPERTIES = ("properties", "attributes", "metadata", "embedding_properties")
"""Fields whose object is properties, as other programs call them."""
HEADER = ("schema_version", "seed", "spec")
"""Fields of a file of ours that tell how the graph was made."""
_MOST_LISTED = 20


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn any error while a graph file is read into a ConfigError that names the file."""
    try:
        yield
    except OSError as error:
        raise ConfigError(f"cannot read the graph {path}: {error.strerror or error}; check the path") from error
    except RecursionError as error:
        raise ConfigError(f"cannot read the graph {path}: it is nested too deeply") from error
    except (ValueError, ArithmeticError, ParseError) as error:
        raise ConfigError(f"cannot read the graph {path}: {error}") from error


def read_text(path: Path) -> str:
    """Return the text of a file. Raise ValueError with the line if it is not UTF-8."""
    data = path.read_bytes()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ValueError(f"line {line} is not UTF-8; save the file as UTF-8") from None


class Mistakes:
    """The entries of a file that cannot be used; all are collected before the file is refused.

    Used as `with mistakes:` around the reading of one entry, of which a ValueError is one mistake.
    """

    def __init__(self, *, skip: bool) -> None:
        """`skip`: leave these entries out, in place of refusing the file."""
        self._skip = skip
        self._messages: list[str] = []

    def __enter__(self) -> None:
        """Begin an entry."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> bool:
        if not isinstance(error, ValueError):
            return False
        self._messages.append(str(error))
        return True

    def end(self, file: str, *, may_skip: bool = True) -> None:
        """Note what was left out. Raise ValueError with the mistakes if there are any and none may be left out."""
        number = len(self._messages)
        if number == 0:
            return
        if self._skip and may_skip:
            note(f"{file}: entries that are left out: {number:,}; the first: {self._messages[0]}")
        elif number == 1:
            raise ValueError(self._messages[0])
        else:
            listed = [f"\n  {message}" for message in self._messages[:_MOST_LISTED]]
            if number > _MOST_LISTED:
                listed.append("\n  …")
            raise ValueError(f"{number:,} mistakes; mend them, or leave them out with --skip-bad:{''.join(listed)}")


def note(text: str) -> None:
    """Tell how a file was read, where it left a choice."""
    warnings.warn(text, FileNote, stacklevel=2)


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write the lines of a graph. Raise ConfigError if that fails."""
    write_whole(path, (f"{line}\n" for line in lines))


def header(graph: PropertyGraph) -> dict[str, Any]:
    """Return the origin of a graph, as every format records it."""
    return {"schema_version": SCHEMA_VERSION, "seed": graph.seed, "spec": dict(graph.spec)}


def checked_header(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return seed and spec of a file of ours, {} of one without a version. Raise ValueError for another version."""
    version = fields.get("schema_version", SCHEMA_VERSION)
    if version != SCHEMA_VERSION:
        raise ValueError(f"schema_version is {version!r}, this version of GraphWalk reads {SCHEMA_VERSION}")
    seed = fields.get("seed")
    spec = fields.get("spec") or {}
    # True is an int in Python, and no seed.
    is_seed = seed is None or type(seed) is int
    if not is_seed or not isinstance(spec, dict):
        raise ValueError(f"seed must be a whole number or null, and spec an object, not {brief((seed, spec))}")
    if "schema_version" not in fields:
        return {}
    return {"seed": seed, "spec": spec}


@dataclass(slots=True)
class Record:
    """A node or a relationship as a program wrote it."""

    where: str
    """The place in the file, for messages."""
    fields: dict[Any, Any]
    """Among these are key, label, ends and type, under their usual names."""
    properties: dict[Any, Any] = field(default_factory=dict)
    """Those that the file has in an object of their own: only an option finds a role here."""
    fixed: dict[str, Any] = field(default_factory=dict)
    """The roles that the format fixes: `key`, `label`, `source`, `target`, `type`."""
    directed: bool = True

    @classmethod
    def of(cls, where: str, fields: dict[Any, Any], *, directed: bool = True) -> Self:
        """Return the record of an object: of {"id": "a", "properties": {"name": "Ida"}} with its properties apart."""
        record = cls(where, fields, directed=directed)
        for name in PROPERTIES:
            if isinstance(fields.get(name), dict):
                record.properties = merged(where, record.properties, fields.pop(name))
        return record

    def get(self, name: str) -> Any:
        """Return a field, or a property."""
        value = self.fields.get(name)
        if value is None:
            return self.properties.get(name)
        return value

    def take(self, name: str) -> Any:
        """Remove and return a field, or a property."""
        if self.fields.get(name) is None:
            return self.properties.pop(name, None)
        return self.fields.pop(name)

    def rest(self) -> dict[Any, Any]:
        """Return what was not taken. Raise ValueError for two values of one name."""
        return merged(self.where, self.properties, self.fields)


def merged(where: str, first: dict[Any, Any], second: dict[Any, Any]) -> dict[Any, Any]:
    """Return the fields of both. Raise ValueError for two values of one field."""
    for name in first.keys() & second.keys():
        if first[name] != second[name]:
            raise ValueError(f"{where} has {brief(name)} twice: among its properties, and beside them")
    return {**first, **second}


@dataclass
class Table:
    """The nodes or the relationships of a file."""

    name: str
    records: list[Record]
    default: str
    """The label or type of a record without one."""
    header: Sequence[str] = ()
    """The columns of a CSV file. Empty: the fields of the records."""
    columns: str = ""
    """How the values of a CSV file are read, for the note about it."""

    @cached_property
    def names(self) -> list[str]:
        """The fields in which roles have usual names, each once."""
        names = dict.fromkeys(self.header)
        for record in self.records:
            names.update(dict.fromkeys(record.fields))
        return [name for name in names if isinstance(name, str)]

    @cached_property
    def all_names(self) -> list[str]:
        """The fields and the properties, each once."""
        names = dict.fromkeys(self.names)
        for record in self.records:
            names.update(dict.fromkeys(record.properties))
        return [name for name in names if isinstance(name, str)]

    def has(self, name: str) -> bool:
        """Return True if a record has this field or property."""
        return name in self.all_names


def composed(text: str) -> str:
    """Return a name in the one form that Unicode has for it: é is one character, and no e with an accent behind it."""
    return unicodedata.normalize("NFC", text)


def checked_text(where: str, what: str, value: Any) -> str:
    """Return a key, label or type; a number becomes text. Raise ValueError for anything else."""
    if value is None:
        raise ValueError(f"{where} has no {what}")
    if type(value) in (int, float):
        return str(value)
    if not isinstance(value, str) or not value:
        raise ValueError(f"{where}, {what}: expected text, not {brief(value)}")
    value.encode()  # raises UnicodeEncodeError, a ValueError, for half of a surrogate pair
    return value


def checked_properties(where: str, fields: dict[Any, Any], null: Sequence[str]) -> dict[str, Value]:
    """Return properties that a graph can hold, without None and the words of `null`.

    Raise ValueError with place and property for anything else.
    """
    properties: dict[str, Value] = {}
    for name, data in fields.items():
        try:
            if not isinstance(name, str) or not name:
                raise ValueError("this cannot be a name")
            name.encode()
            value = value_of(data)
        except ValueError as error:
            raise ValueError(f"{where}, property {brief(name)}: {error}") from None
        if value is not None and value not in null:
            properties[name] = value
    return properties


def apart_from_key(properties: Mapping[str, V], key: str) -> dict[str, V]:
    """Return the properties of a node; one called `key` is dropped if it is the key, else renamed to `key_`."""
    rest = {name: value for name, value in properties.items() if name != KEY}
    if KEY in properties and str(properties[KEY]) != key:
        name = f"{KEY}_"
        while name in rest:
            name += "_"
        rest[name] = properties[KEY]
    return rest


_LABEL = re.compile(r":((?:[^:\\]|\\.?)*)", re.DOTALL)
_ESCAPED = re.compile(r"\\([:\\])")


def labels_of(notation: Any) -> list[Any]:
    """Return labels from the notations of other tools; Neo4j's exports have ":First:Second"."""
    # :Person:Captain
    if isinstance(notation, str) and notation.startswith(":"):
        return [_ESCAPED.sub(r"\1", label) for label in _LABEL.findall(notation)]
    if isinstance(notation, list | tuple | set | frozenset):
        return list(notation)
    if notation == "":
        return []
    return [notation]


def joined_labels(labels: Sequence[str]) -> str:
    r"""Return `:First:Second`, which `labels_of` takes apart; a colon in a label becomes `\:`."""
    notation = ""
    for label in labels:
        escaped = label.replace("\\", "\\\\").replace(":", "\\:")
        notation += f":{escaped}"
    return notation


def by_name(properties: Mapping[str, V]) -> dict[str, V]:
    """Return properties sorted by name, so that files do not depend on the order of insertion."""
    return dict(sorted(properties.items()))
