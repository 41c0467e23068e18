"""What all graph formats share: lines written, reading that names the file, and an order that gives the same bytes."""

import csv
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar
from xml.parsers.expat import ExpatError

from graphwalk.errors import ConfigError
from graphwalk.files import write_whole
from graphwalk.types.episode import SCHEMA_VERSION
from graphwalk.types.graph import PropertyGraph

V = TypeVar("V")

_DAMAGE = (
    ValueError,
    ArithmeticError,
    ExpatError,
    csv.Error,
    OSError,
    EOFError,
    zlib.error,
    RecursionError,
    MemoryError,
)


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write the lines of a graph. ConfigError where that cannot be done."""
    write_whole(path, (f"{line}\n" for line in lines))


@contextmanager
def reading(path: Path, hint: str = "") -> Iterator[None]:
    """Turn any error while a graph file is read into a ConfigError that names the file."""
    try:
        yield
    except _DAMAGE as error:
        raise ConfigError(f"cannot read the graph {path}: {_reason(error)}", hint=hint) from error


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, EOFError | zlib.error):
        return f"the packed file is damaged: {error}"
    if isinstance(error, UnicodeDecodeError):
        return f"it is not UTF-8 text: byte 0x{error.object[error.start]:02x}"
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return str(error) or "it is too large for the memory of this machine"


def header(graph: PropertyGraph) -> dict[str, Any]:
    """How a graph was made, as every format records it."""
    return {"schema_version": SCHEMA_VERSION, "seed": graph.seed, "spec": dict(graph.spec)}


def checked_header(found: Mapping[str, Any]) -> tuple[int | None, dict[str, Any]]:
    """Seed and spec of a header; (None, {}) where there is none. ValueError if it is of another version or damaged."""
    if "schema_version" not in found:
        return None, {}
    version, seed, spec = found["schema_version"], found.get("seed"), found.get("spec")
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
