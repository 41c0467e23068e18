"""Serialise property values for an engine: as they are where it has a type for them, else as tagged text.

    "\\0" + JSON:   \\0{"$date": "2001-04-25"}   \\0{"$float": "NaN"}   \\0[[1, 2], "a"]   \\0"text that begins so"

The JSON is that of graph files (`graphwalk.graphs.formats.json`). Equal values have equal texts: `=` finds them.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from graphwalk.graphs.formats.json import from_json, json_value
from graphwalk.types.values import Point, Temporal, Value

MARK = "\0"
ESCAPED = (MARK, "gw_")
"""Prefixes of text that is tagged too, so that it is not taken for tagged text or a stored name."""
_VALUES = (str, int, float, Temporal, Point, bytes, tuple)


@dataclass(frozen=True, slots=True)
class Serialisation:
    """The stored form of values in an engine.

    `native` returns the engine's own value, None if it has no such type. It is not called for text, integers, booleans.
    """

    native: Callable[[Value], Any]

    def stored(self, value: Value) -> Any:
        """Return the value for the engine."""
        if isinstance(value, str):
            return _tag(value) if value.startswith(ESCAPED) else value
        if isinstance(value, int):
            return value
        native = self.native(value)
        if native is None:
            return _tag(value)
        return list(map(self.stored, value)) if isinstance(value, tuple) else native

    def parameters(self, values: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return the parameters of a query. A tuple is one value, a list is a list of values."""
        return {name: self._parameter(value) for name, value in (values or {}).items()}

    def _parameter(self, value: Any) -> Any:
        if isinstance(value, list):
            return list(map(self._parameter, value))
        if isinstance(value, dict):
            return self.parameters(value)
        return self.stored(value) if isinstance(value, _VALUES) else value


def _tag(value: Value) -> str:
    """Return the value as text; `_untag` undoes it."""
    return MARK + json.dumps(json_value(value), ensure_ascii=False)


def _untag(text: str) -> Any:
    """Return the value of a text that begins with MARK. Text that an engine derived from it loses the mark."""
    try:
        return _as_tuple(from_json(json.loads(text[1:])))
    except (ValueError, TypeError, RecursionError):
        return text.lstrip(MARK)


def _as_tuple(value: Any) -> Any:
    return tuple(map(_as_tuple, value)) if isinstance(value, list) else value


def decoded(value: Any, name: Callable[[str], str] = str) -> Any:
    """Return a value of a query's result with tagged text undone, in lists and maps too; lists become tuples.

    `name` is called with text that begins with `gw_`: a stored name.
    """
    if isinstance(value, str):
        return value if not value.startswith(ESCAPED) else _untag(value) if value[0] == MARK else name(value)
    if isinstance(value, list | tuple):
        return tuple(decoded(item, name) for item in value)
    return {key: decoded(item, name) for key, item in value.items()} if isinstance(value, dict) else value
