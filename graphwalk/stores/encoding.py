"""How the values of one graph are kept in an engine: as they are where it has a type for them, else as tagged text."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from graphwalk.stores.tagged import ESCAPED, tagged
from graphwalk.types.graph import Column, PropertyGraph
from graphwalk.types.values import Point, Temporal, Value

_VALUES = (str, int, float, Temporal, Point, bytes, tuple)
_ALWAYS = frozenset({str, int, bool})
Native = Callable[[Value], Any]
"""A value → what the engine takes for it; None where it has no type for it. Not called for text, integers, booleans."""


@dataclass(frozen=True, slots=True)
class Encoding:
    """`tags`: some value or name of the graph is kept as text of ours, so that text that looks like it is, too."""

    native: Native
    tags: bool

    def stored(self, value: Value) -> Any:
        """The value as the engine takes it."""
        return self._encoded(value, native=True)

    def kept(self, value: Value) -> Value:
        """The same for what is written to a file: a value of a type that the engine has, or text."""
        found: Value = self._encoded(value, native=False)
        return found

    def _encoded(self, value: Value, *, native: bool) -> Any:
        if isinstance(value, str):
            return tagged(value) if self.tags and value.startswith(ESCAPED) else value
        if value.__class__ in _ALWAYS:
            return value
        found = self.native(value)
        if found is None:
            return tagged(value)
        if isinstance(value, tuple):
            items = (self._encoded(item, native=native) for item in value)
            return list(items) if native else tuple(items)
        return found if native else value

    def parameters(self, given: Mapping[str, Any] | None) -> dict[str, Any]:
        """Parameters of a query. A tuple is one value, a list is a list of values."""
        return {} if given is None else {name: self._parameter(value) for name, value in given.items()}

    def _parameter(self, given: Any) -> Any:
        if given.__class__ is list:
            return [self._parameter(item) for item in given]
        if given.__class__ is dict:
            return {name: self._parameter(item) for name, item in given.items()}
        return self.stored(given) if isinstance(given, _VALUES) else given


def odd_values(graph: PropertyGraph) -> Iterable[Value]:
    """The different values of each property that are neither text nor integers, booleans or finite numbers."""
    for columns in graph.all_columns():
        for column in columns.values():
            yield from _odd(column)


def _odd(column: Column) -> Iterable[Value]:
    for value in column.pool if set(map(type, column.pool)) - _ALWAYS else ():
        if value.__class__ is float:
            if value - value != 0:
                yield value
        elif value.__class__ not in _ALWAYS:
            yield value
