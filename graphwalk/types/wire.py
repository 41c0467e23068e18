"""The JSON form of conversations and episodes: what the run log and the reply cache keep.

Lossless: `from_dict(type(x), decoded line) == x`, lone surrogates, NUL and huge texts included, where
`graphwalk.files.json_lines` writes and reads the line; it also writes the floats that JSON does not have as "inf",
"-inf" and "nan". None, empty and default fields are left out.
"""

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import TypeAdapter

from graphwalk.types.chat import Message, Reply, Usage
from graphwalk.types.episode import Trajectory

T = TypeVar("T", Message, Reply, Usage, Trajectory)


_ADAPTERS: dict[Any, TypeAdapter[Any]] = {kind: TypeAdapter(kind) for kind in (Message, Reply, Usage, Trajectory)}


def to_dict(value: Message | Reply | Usage | Trajectory) -> dict[str, Any]:
    """Return the fields in the order of their class, with lists for tuples; {} for unknown usage."""
    # Not straight to JSON text: pydantic's writer refuses lone surrogates.
    wire: dict[str, Any] = _ADAPTERS[type(value)].dump_python(value, mode="json", exclude_defaults=True)
    return wire


def from_dict(kind: type[T], wire: Mapping[str, Any]) -> T:
    """Return the object that `to_dict` wrote. Raise ValueError for anything else."""
    value: T = _ADAPTERS[kind].validate_python(wire)
    return value
