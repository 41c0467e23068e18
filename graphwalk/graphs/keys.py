"""What a node is called (its `key`), where the graph that it comes from has a property of that name too."""

from collections.abc import Mapping
from typing import TypeVar

V = TypeVar("V")

KEY = "key"
"""Under this name every store and every tool shows what a node is called, so that no property can have it."""


def apart_from_key(properties: Mapping[str, V], key: str) -> dict[str, V]:
    """The properties of a node without one called `key`.

    One that repeats what the node is called is dropped; any other goes on under the name `key_` (`key__`, … where that
    is taken).
    """
    if KEY not in properties:
        return dict(properties)
    rest = {name: value for name, value in properties.items() if name != KEY}
    if str(properties[KEY]) == key:
        return rest
    name = f"{KEY}_"
    while name in rest:
        name += "_"
    return {**rest, name: properties[KEY]}
