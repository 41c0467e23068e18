"""What all graph formats share: lines written, checked reading, and rows in an order that gives the same bytes."""

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar
from xml.etree.ElementTree import ParseError

from graphwalk.errors import ConfigError
from graphwalk.files import write_whole
from graphwalk.types.episode import SCHEMA_VERSION
from graphwalk.types.graph import PropertyGraph
from graphwalk.types.values import Value

V = TypeVar("V")


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write the lines of a graph; missing folders are made. ConfigError where that cannot be done."""
    write_whole(path, (f"{line}\n" for line in lines), parents=True)


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn any error while a graph file is read into a ConfigError that names the file."""
    try:
        yield
    except (ValueError, ParseError, OSError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ConfigError(f"cannot read the graph {path}: {reason}") from error


def header(graph: PropertyGraph) -> dict[str, Any]:
    """How a graph was made, as every format records it."""
    return {"schema_version": SCHEMA_VERSION, "seed": graph.seed, "spec": dict(graph.spec)}


def checked_header(found: Mapping[str, Any]) -> tuple[int | None, dict[str, Any]]:
    """Seed and spec of a header. ValueError if it is of another version or damaged."""
    version, seed, spec = found.get("schema_version"), found.get("seed"), found.get("spec")
    if version != SCHEMA_VERSION:
        raise ValueError(f"schema_version is {version!r}, this version of GraphWalk reads {SCHEMA_VERSION}")
    if seed is not None and type(seed) is not int:
        raise ValueError(f"seed must be a whole number or null, not {seed!r}")
    if spec is not None and not isinstance(spec, dict):
        raise ValueError(f"spec must be an object, not {spec!r}")
    return seed, spec or {}


def by_name(properties: Mapping[str, V]) -> dict[str, V]:
    """Properties in the order of their names: the order in which they were met must not show in a file."""
    return dict(sorted(properties.items()))


def checked_properties(where: str, properties: Mapping[Any, Any]) -> dict[str, Value]:
    """Properties that a graph can hold; null counts as missing. ValueError names the place and the property."""
    checked: dict[str, Value] = {}
    for name, value in properties.items():
        if not isinstance(name, str) or not name or _problem(name):
            raise ValueError(f"{where}: {name!r} cannot be a property name")
        if value is None:
            continue
        if problem := _problem(value):
            raise ValueError(f"{where}, property {name!r}: {problem}")
        checked[name] = value
    return checked


def checked_text(where: str, value: Any) -> str:
    """A key, label or type. ValueError unless it is text, and not empty."""
    if not isinstance(value, str) or not value:
        raise ValueError(f"{where} must be text, not {value!r}")
    if problem := _problem(value):
        raise ValueError(f"{where}: {problem}")
    return value


def _problem(value: Any) -> str | None:
    """Why a graph cannot hold a value, None if it can."""
    if type(value) not in (str, int, float, bool):
        return f"a value must be text, a number or a boolean, not {value!r}"
    if isinstance(value, float) and not math.isfinite(value):
        return f"{value} is not a finite number"
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return f"{value} does not fit into 64 bits"
    if isinstance(value, str) and not value.isascii() and any("\ud800" <= c <= "\udfff" for c in value):
        return f"{value!r} is not valid Unicode text"
    return None


def checked_node_properties(where: str, properties: Mapping[Any, Any]) -> dict[str, Value]:
    """The same for a node, whose `key` is not among its properties."""
    if "key" in properties:
        raise ValueError(f"{where}: 'key' is the key of the node and cannot be one of its properties")
    return checked_properties(where, properties)
