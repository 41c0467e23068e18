"""What a property graph can hold: readers of every kind have their values, names and labels checked here."""

import datetime as dt
from collections.abc import Iterable, Mapping
from typing import Any

from graphwalk.types.temporals import temporal_of
from graphwalk.types.values import Point, Temporal, Value

_LEDGER, _OWN_PREFIX = "GraphWalkLoad", "gw_"
"""Labels by which GraphWalk finds its graphs in a Neo4j."""
_LONGEST_QUOTE = 100
_SINGLE = (str, int, float, bool, Temporal, Point, bytes)


def checked_properties(where: str, properties: Mapping[Any, Any]) -> dict[str, Value]:
    """Properties that a graph can hold; None counts as missing. ValueError names the place and the property."""
    checked: dict[str, Value] = {}
    for name, value in properties.items():
        if not isinstance(name, str) or not name or not _is_unicode(name):
            raise ValueError(f"{where}: {brief(name)} cannot be a property name")
        if value is None:
            continue
        try:
            checked[name] = checked_value(value)
        except ValueError as error:
            raise ValueError(f"{where}, property {name!r}: {error}") from None
    return checked


def checked_value(value: Any) -> Value:
    """A value as a graph holds it: lists as tuples of one kind, Python's dates as `Temporal`. ValueError if none."""
    if isinstance(value, list | tuple):
        return _checked_list([_checked_single(item) for item in value])
    return _checked_single(value)


def checked_text(where: str, value: Any) -> str:
    """A key, label or type. ValueError unless it is text, and not empty."""
    if not isinstance(value, str) or not value:
        raise ValueError(f"{where} must be text, not {brief(value)}")
    if not _is_unicode(value):
        raise ValueError(f"{where}: {brief(value)} is not valid Unicode text")
    return value


def checked_labels(where: str, labels: Iterable[Any]) -> tuple[str, ...]:
    """Labels, sorted, each once. ValueError for what is none, and for one that GraphWalk keeps for itself."""
    found = sorted({checked_text(f"{where}, label", label) for label in labels})
    for label in found:
        if label == _LEDGER or label.startswith(_OWN_PREFIX):
            raise ValueError(
                f"{where} has the label {label!r}; GraphWalk finds its own graphs in a Neo4j by {_LEDGER} and labels "
                f"that begin with {_OWN_PREFIX}, so rename it"
            )
    return tuple(found)


def checked_key(where: str, value: Any) -> str:
    """What a node is called, or the end of a relationship: text, or a whole number, which becomes text."""
    if type(value) is int:
        return str(_checked_single(value))
    return checked_text(where, value)


def brief(value: Any) -> str:
    """A value for a message, cut where it is long."""
    text = repr(value)
    return text if len(text) <= _LONGEST_QUOTE else text[:_LONGEST_QUOTE] + "…"


def _checked_single(value: Any) -> Value:
    if isinstance(value, dt.date | dt.time | dt.timedelta):
        return temporal_of(value)
    if type(value) not in _SINGLE:
        raise ValueError(
            f"a value must be text, a number, a boolean, a date, a time, a point or a list of these, not {brief(value)}"
        )
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise ValueError(f"{brief(value)} does not fit into 64 bits")
    if isinstance(value, str) and not _is_unicode(value):
        raise ValueError(f"{brief(value)} is not valid Unicode text")
    return value  # type: ignore[no-any-return]


def _checked_list(items: list[Value]) -> tuple[Value, ...]:
    kinds = {item.kind if isinstance(item, Temporal) else type(item).__name__ for item in items}
    if kinds == {"int", "float"}:
        return tuple(float(item) for item in items)  # type: ignore[arg-type]
    if len(kinds) > 1:
        raise ValueError(f"a list holds values of one kind, not of {', '.join(sorted(kinds))}")
    return tuple(items)


def _is_unicode(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= c <= "\udfff" for c in text)
