"""What a value that a model gives may stand for: as it is, or read another way."""

import json
import math
import re
from collections.abc import Iterator

from graphwalk.types.values import Value

_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
_LONGEST_NUMBER = 400
_INT64 = 2**63


def other_readings(value: Value) -> Iterator[Value]:
    """What a value may have been meant as: text for a number or a boolean, a number or a boolean for text."""
    if not isinstance(value, str):
        yield json.dumps(value)
    elif len(value) <= _LONGEST_NUMBER and _NUMBER.fullmatch(value):
        number = float(value)
        yield int(value) if value.strip().lstrip("+-").isdecimal() else number
    elif value in ("true", "false"):
        yield value == "true"


def as_parameter(value: Value) -> Value | None:
    """The value as both databases take it; None if no property can be equal to it."""
    if isinstance(value, str):
        return value if _encodable(value) else None
    if isinstance(value, int) and not isinstance(value, bool) and not -_INT64 <= value < _INT64:
        try:
            return float(value)
        except OverflowError:
            return None
    return None if isinstance(value, float) and not math.isfinite(value) else value


def kind_of_value(value: Value) -> str:
    """text, number or boolean, for messages."""
    if isinstance(value, bool):
        return "boolean"
    return "text" if isinstance(value, str) else "number"


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
