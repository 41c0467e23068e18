"""Serialise property values for an engine: as they are where it has a type for them, else as tagged text.

    "\\0" + JSON:   \\0{"date": "2001-04-25"}   \\0{"float": "NaN"}   \\0[[1, 2], "a"]   \\0"text that begins so itself"

Equal values have equal texts, so that `=` finds them.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from graphwalk.types.graph import PropertyGraph
from graphwalk.types.temporals import KINDS
from graphwalk.types.values import SPECIAL_FLOATS, Point, Temporal, Value, shown

MARK = "\0"
ESCAPED = (MARK, "gw_")
"""Prefixes of text that is tagged too, so that it is not taken for tagged text or a stored name."""
_VALUES = (str, int, float, Temporal, Point, bytes, tuple)
_ALWAYS = frozenset({str, int, bool})
Native = Callable[[Value], Any]
"""Returns the engine's own value, None if it has no such type. Not called for text, integers, booleans."""


@dataclass(frozen=True, slots=True)
class Serialisation:
    """The stored form of the values of one graph. `tags`: some value or name is tagged text."""

    native: Native
    tags: bool

    def stored(self, value: Value) -> Any:
        """Return the value for the engine."""
        return self._serialised(value, native=True)

    def kept(self, value: Value) -> Value:
        """Return the value for a file: of a type that the engine has, or tagged text."""
        found: Value = self._serialised(value, native=False)
        return found

    def _serialised(self, value: Value, *, native: bool) -> Any:
        if isinstance(value, str):
            return _tagged(value) if self.tags and value.startswith(ESCAPED) else value
        if value.__class__ in _ALWAYS:
            return value
        found = self.native(value)
        if found is None:
            return _tagged(value)
        if isinstance(value, tuple):
            items = [self._serialised(item, native=native) for item in value]
            return items if native else tuple(items)
        return found if native else value

    def parameters(self, given: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return the parameters of a query. A tuple is one value, a list is a list of values."""
        return {} if given is None else {name: self._parameter(value) for name, value in given.items()}

    def _parameter(self, given: Any) -> Any:
        if given.__class__ is list:
            return [self._parameter(item) for item in given]
        if given.__class__ is dict:
            return {name: self._parameter(item) for name, item in given.items()}
        return self.stored(given) if isinstance(given, _VALUES) else given


def odd_values(graph: PropertyGraph) -> Iterable[Value]:
    """Yield the values of each property that are neither text nor integers, booleans or finite numbers."""
    for columns in graph.all_columns():
        for column in columns.values():
            for value in column.pool if set(map(type, column.pool)) - _ALWAYS else ():
                if value.__class__ not in _ALWAYS and not (isinstance(value, float) and value - value == 0):
                    yield value


def _tagged(value: Value) -> str:
    """Return the value as text; `_untagged` undoes it."""
    return MARK + json.dumps(_coded(value), ensure_ascii=False, allow_nan=False)


def _untagged(text: str) -> Value:
    """Return the value of a text that begins with MARK. Text that an engine derived from it loses the mark."""
    try:
        return _decoded(json.loads(text[1:]))
    except (ValueError, TypeError, RecursionError):
        return text.lstrip(MARK)


def decoded(value: Any, name: Callable[[str], str] = str) -> Any:
    """Return a value of a query's result with tagged text undone, in lists and maps too; lists become tuples.

    `name` is called with text that begins with `gw_`: a stored name.
    """
    kind = value.__class__
    if kind is str:
        if value.startswith(ESCAPED):
            return _untagged(value) if value[0] == MARK else name(value)
        return value
    if kind is list or kind is tuple:
        return tuple([decoded(item, name) for item in value])
    return {key: decoded(item, name) for key, item in value.items()} if kind is dict else value


def _coded(value: Value) -> Any:
    match value:
        case Temporal(kind, text):
            return {kind: text}
        case Point(srid, coordinates):
            return {"point": [srid, *map(_coded, coordinates)]}
        case bytes():
            return {"bytes": value.hex()}
        case tuple():
            return list(map(_coded, value))
        case float() if isinstance(text := shown(value), str):
            return {"float": text}
    return value


def _decoded(data: Any) -> Value:
    if isinstance(data, list):
        return tuple(map(_decoded, data))
    if not isinstance(data, dict):
        if data is None:
            raise ValueError("there is no value None")
        return data  # type: ignore[no-any-return]
    [(kind, held)] = data.items()
    if kind in KINDS:
        return Temporal(kind, held)
    if kind == "point":
        return Point(held[0], tuple(map(_decoded, held[1:])))  # type: ignore[arg-type]
    return bytes.fromhex(held) if kind == "bytes" else SPECIAL_FLOATS[held]
