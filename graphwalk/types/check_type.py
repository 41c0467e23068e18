"""The check of what Python programs pass in."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral
from pathlib import Path
from typing import Any, cast

from graphwalk.errors import ConfigError
from graphwalk.types.graph import PropertyGraph

PATH = (str, Path)
GRAPH = (PropertyGraph, *PATH, Mapping)
_NAMES: Mapping[Any, str] = {
    Integral: "whole number",
    Mapping: "dictionary",
    Callable: "function",
    Iterable: "list",
    Sequence: "list",
}


def check_type(name: str, value: object, *kinds: Any, optional: bool = False) -> None:
    """Raise ConfigError unless an argument is of one of these classes; `optional`: or None."""
    if not isinstance(value, kinds) and not (optional and value is None):
        accepted = [_NAMES.get(kind, kind.__name__) for kind in kinds]
        article = "an" if accepted[0][0] in "AEIOU" else "a"
        raise ConfigError(f"{name}: must be {article} {' or '.join(accepted)}, not {type(value).__name__}")


def names_of(name: str, value: object) -> tuple[str, ...]:
    """Return one name, or a list of names or paths, as texts. ConfigError for anything else."""
    check_type(name, value, str, Iterable)
    names = (value,) if isinstance(value, str) else tuple(cast("Iterable[object]", value))
    for number, one in enumerate(names):
        check_type(f"{name}[{number}]", one, *PATH)
    return tuple(map(str, names))
