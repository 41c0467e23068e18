"""Values written by a model: parse them without raising, and normalise them for comparison."""

import ast
import json
import math
import re
import warnings
from collections.abc import Hashable, Iterator
from typing import Any, NamedTuple

_MOST_DIGITS = 300
"""Longer integers stay text: Python refuses to convert very long ones, and no answer has any."""
_MOST_DEPTH = 40
"""Maximum nesting depth, so that logs and comparisons can use recursion."""
_LONGEST_LITERAL = 200_000
"""Longer texts are not tried as Python literals, whose parser needs about a hundred bytes a character."""
_OPERATORS = re.compile(r"[-+~]{20}|(?:\bnot\s+){20}")
"""Repeated operators, which overflow the stack of Python's parser in some versions."""
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d{1,4})?", re.ASCII)
_TRUTH = {"true": True, "True": True, "false": False, "False": False}


def parse_json(text: str) -> Any:
    """Return the JSON value of a text, or None. NaN, infinities and huge numbers become text."""
    try:
        value = _DECODER.decode(text)
    except (ValueError, RecursionError, MemoryError):
        return None
    return value if _is_shallow(value) else None


def parse_object(text: str) -> dict[str, Any]:
    """Return the JSON object of a text as by `parse_json`; {} for another value."""
    value = parse_json(text)
    return value if isinstance(value, dict) else {}


class Parsed(NamedTuple):
    """A value. `repeats`: an object in it has a name twice, of which the last counts."""

    value: Any
    repeats: bool = False


def parse_answer(text: str) -> Parsed | None:
    """Return the JSON value of a text, with numbers like `1.10`, `1e3` and `-0`, which may be keys, as text."""
    repeats = False

    def as_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal repeats
        members = dict(pairs)
        repeats |= len(members) < len(pairs)
        return members

    try:
        value = json.loads(
            text, object_pairs_hook=as_object, parse_constant=str, parse_int=_as_written, parse_float=_as_written
        )
    except (ValueError, RecursionError, MemoryError):
        return None
    return Parsed(value, repeats) if _is_shallow(value) else None


def parse_literal(text: str) -> Parsed | None:
    """Return the value of a Python list, tuple, set or dictionary as JSON: tuples and sets become lists."""
    if not text.startswith(("[", "{", "(")) or len(text) > _LONGEST_LITERAL or _OPERATORS.search(text):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the compiler warns about odd escapes in the text of a model
            tree = ast.parse(text, mode="eval")
            value = json.dumps(ast.literal_eval(tree), default=_members)
            dicts = (node for node in ast.walk(tree) if isinstance(node, ast.Dict))
            keys = ([ast.literal_eval(key) for key in node.keys if key is not None] for node in dicts)
            repeats = any(len(set(names)) < len(names) for names in keys)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None
    parsed = parse_answer(value)
    return parsed and Parsed(parsed.value, parsed.repeats or repeats)


def _members(value: Any) -> list[Any]:
    """Return the members of a set in one order. Raise TypeError for a value without a JSON form."""
    if isinstance(value, set):
        return sorted(value, key=repr)
    raise TypeError(f"{type(value).__name__} has no JSON form")


def normalise(value: Any) -> Hashable:
    """Return a normal form: 3 and 3.0 are equal; text equals no number and no boolean; case matters."""
    if isinstance(value, bool):
        return ("boolean", value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if value is None or isinstance(value, str | int):
        return value
    return ("json", json.dumps(value, sort_keys=True, default=repr))


def value_forms(value: Any) -> Iterator[Any]:
    """Yield a value unchanged, then as text, or, for text, as the number or boolean it names ("007" names none)."""
    yield value
    if not isinstance(value, str):
        if isinstance(value, int | float):
            yield json.dumps(value)
    elif value in _TRUTH:
        yield _TRUTH[value]
    elif len(text := value.strip()) <= _MOST_DIGITS and (match := _NUMBER.fullmatch(text)):
        number = float(text) if match[1] or match[2] else int(text)
        if math.isfinite(number):
            yield number


def _as_written(digits: str) -> float | str:
    """Return the number of a text, or the text if Python would write the number otherwise."""
    if len(digits) > _MOST_DIGITS:
        return digits
    number = int(digits) if digits.removeprefix("-").isdecimal() else float(digits)
    return number if repr(number) == digits else digits


_DECODER = json.JSONDecoder(
    parse_constant=str,
    parse_int=lambda digits: int(digits) if len(digits) <= _MOST_DIGITS else digits,
    parse_float=lambda digits: float(digits) if math.isfinite(float(digits)) else digits,
)


def _is_shallow(value: Any) -> bool:
    level: list[Any] = [value]
    for _ in range(_MOST_DEPTH):
        level = [
            item
            for container in level
            if isinstance(container, list | dict)
            for item in (container.values() if isinstance(container, dict) else container)
        ]
        if not level:
            return True
    return False
