"""Values that an engine has no type for, or whose equality it gets wrong (NaN), kept as text that comes back exactly.

    "\\0" + JSON:   \\0{"date": "2001-04-25"}   \\0{"float": "NaN"}   \\0[[1, 2], "a"]   \\0"text that begins so itself"

Equal values have equal texts, so that `=` finds them.
"""

import json
from collections.abc import Callable
from typing import Any

from graphwalk.types.temporals import KINDS
from graphwalk.types.values import Point, Temporal, Value

MARK = "\0"
ESCAPED = (MARK, "gw_")
"""What text begins with that is kept as tagged text, so that it is not taken for a mark, or for a name of ours."""
_FLOATS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


def tagged(value: Value) -> str:
    """The value as text; `untagged` undoes it."""
    return MARK + json.dumps(_coded(value), ensure_ascii=False, allow_nan=False)


def untagged(text: str) -> Value:
    """The value of a text that begins with MARK; what an engine made of such a text, which is none, loses the mark."""
    try:
        return _decoded(json.loads(text[1:]))
    except (ValueError, TypeError, RecursionError):
        return text.lstrip(MARK)


def decoded(value: Any, name: Callable[[str], str] = str) -> Any:
    """What a query returned, with tagged text undone in lists and maps too; lists become tuples.

    `name` is given text that begins with `gw_`, which stands for a name.
    """
    kind = value.__class__
    if kind is str:
        if value.startswith(ESCAPED):
            return untagged(value) if value[0] == MARK else name(value)
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
        case float() if value != value or value in (float("inf"), float("-inf")):
            return {"float": "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"}
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
    return bytes.fromhex(held) if kind == "bytes" else _FLOATS[held]
