"""What the parameters of a question can be on one graph: all choices, numbered through."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from graphwalk.suites.questions.oracle.graph_index import GraphIndex
from graphwalk.suites.questions.template import QuestionTemplate
from graphwalk.types.graph import value_order
from graphwalk.types.values import Temporal, TemporalKind, Value, shown

Chosen = dict[str, Value]
COMPARED: frozenset[TemporalKind] = frozenset({"date", "local time", "local datetime"})
"""Times that look the same exactly where Cypher's `=` says so. With zones, and for durations, it does not."""
_EXACT = 2**53
"""Beyond it, whole numbers are others after they went through a program that has only floating point numbers."""


class ParameterSpace:
    """Labels, types, keys, properties and values of a graph, in an order that depends on its content alone.

    The choices of a template's parameters have the numbers 0 … `size` - 1, each one of its own: a label with many
    properties stands in more choices than one with few. Nothing is listed; choices are counted through.
    """

    def __init__(self, index: GraphIndex, max_hops: int) -> None:
        self._index = index
        self._max_hops = max_hops
        self._labels = sorted(index.nodes_of)
        self._types = sorted(index.relationships_of)
        self._properties: dict[tuple[str, str], list[str]] = {}
        self._values: dict[tuple[str, str, Value], list[Value]] = {}
        self._counts: dict[tuple[Value, ...], int] = {}
        self._referred: dict[str, list[tuple[str, ...]]] = {}

    def size(self, template: QuestionTemplate) -> int:
        """How many choices of all parameters there are."""
        return self._count(template, {})

    def at(self, template: QuestionTemplate, number: int) -> Chosen:
        """Choice `number`, 0 ≤ number < size."""
        chosen: Chosen = {}
        for name in template.parameters:
            options = self._options(template, name, chosen)
            if name in self._referred_to(template, len(chosen) + 1):
                for option in options:
                    ways = self._count(template, {**chosen, name: option})
                    if number < ways:
                        break
                    number -= ways
            else:
                place, number = divmod(number, self._count(template, {**chosen, name: options[0]}))
                option = options[place]
            chosen[name] = option
        return chosen

    def _count(self, template: QuestionTemplate, chosen: Chosen) -> int:
        """In how many ways the parameters after the chosen ones can be chosen."""
        position = len(chosen)
        if position == len(template.parameters):
            return 1
        key = (template.name, position, *(chosen[name] for name in self._referred_to(template, position)))
        if key not in self._counts:
            name = list(template.parameters)[position]
            options = self._options(template, name, chosen)
            if name in self._referred_to(template, position + 1):
                self._counts[key] = sum(self._count(template, {**chosen, name: option}) for option in options)
            else:
                # Nothing later depends on it, so that one option stands for all.
                each = self._count(template, {**chosen, name: options[0]}) if options else 0
                self._counts[key] = len(options) * each
        return self._counts[key]

    def _referred_to(self, template: QuestionTemplate, position: int) -> tuple[str, ...]:
        """Which of the first `position` parameters say what later ones can be."""
        if template.name not in self._referred:
            names = list(template.parameters)
            self._referred[template.name] = [
                tuple(name for name in names[:end] if any(name in _sources(template, later) for later in names[end:]))
                for end in range(len(names) + 1)
            ]
        return self._referred[template.name][position]

    def _options(self, template: QuestionTemplate, name: str, chosen: Mapping[str, Value]) -> Sequence[Value]:
        parameter = template.parameters[name]
        match parameter.role:
            case "label":
                other = chosen.get(parameter.differs_from or "")
                return [label for label in self._labels if label != other]
            case "relationship_type":
                return self._types
            case "key":
                return self._index.keys_of(str(chosen[str(parameter.of)]))
            case "property":
                return self._property_names(*_owner(template, name, chosen))
            case "value":
                return self._property_values(*_owner(template, name, chosen), chosen[str(parameter.of)])
            case "hops":
                return range(min(parameter.at_least, self._max_hops), self._max_hops + 1)

    def _property_names(self, role: str, owner: str) -> list[str]:
        if (role, owner) not in self._properties:
            names = self._index.node_properties if role == "label" else self._index.relationship_properties
            self._properties[role, owner] = names(owner)
        return self._properties[role, owner]

    def _property_values(self, role: str, owner: str, name: Value) -> list[Value]:
        if (role, owner, name) not in self._values:
            found = self._index.values("node" if role == "label" else "relationship", owner, str(name))
            self._values[role, owner, name] = _to_be_asked(value for value in found if value is not None)
        return self._values[role, owner, name]


def _to_be_asked(found: Iterable[Value]) -> list[Value]:
    """The values that a question can name, each once, in order: those that JSON has, and dates and times as shown.

    Of 1 and 1.0 it names the whole number, whichever the graph has first. Of two values that are shown alike (a date,
    and text that looks like one) neither can be named.
    """
    distinct = {value_order(value): value for value in sorted(found, key=lambda value: type(value).__name__)}
    looks = Counter(map(_look, distinct.values()))
    return [value for _, value in sorted(distinct.items()) if _can_be_asked(value) and looks[_look(value)] == 1]


def _look(value: Value) -> tuple[int, Any]:
    return value_order(cast("Value", tuple(map(str, seen)) if isinstance(seen := shown(value), list) else seen))


def _can_be_asked(value: Value) -> bool:
    if isinstance(value, Temporal):
        return value.kind in COMPARED
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, str) or (isinstance(value, int) and abs(value) <= _EXACT)


def _owner(template: QuestionTemplate, name: str, chosen: Mapping[str, Value]) -> tuple[str, str]:
    """(role, name) of the label or relationship type that a property or value belongs to."""
    while template.parameters[name].role in ("property", "value"):
        name = str(template.parameters[name].of)
    return template.parameters[name].role, str(chosen[name])


def _sources(template: QuestionTemplate, name: str) -> set[str]:
    """The earlier parameters on which the choice of one depends: its owner, the owner's owner, what it differs from."""
    parameter = template.parameters[name]
    owners = {parameter.of, *_sources(template, parameter.of)} if parameter.of else set()
    return {source for source in (*owners, parameter.differs_from) if source is not None}
