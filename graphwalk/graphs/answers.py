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


def parse_answer_json(text: str) -> Any:
    """Return the JSON value of a text, or None. NaN, infinities and huge numbers become text."""
    try:
        value = _DECODER.decode(text)
    except (ValueError, RecursionError, MemoryError):
        return None
    return value if _is_shallow(value) else None


def parse_object(text: str) -> dict[str, Any]:
    """Return the JSON object of a text as by `parse_json`; {} for another value."""
    value = parse_answer_json(text)
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
    if not text.startswith(("[", "{", "(")):
        return None
    if len(text) > _LONGEST_LITERAL or _OPERATORS.search(text):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the compiler warns about odd escapes in the text of a model
            tree = ast.parse(text, mode="eval")
            as_json = json.dumps(ast.literal_eval(tree), default=_members)
            repeats = any(_repeats_name(node) for node in ast.walk(tree) if isinstance(node, ast.Dict))
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None
    parsed = parse_answer(as_json)
    if parsed is None:
        return None
    return Parsed(parsed.value, parsed.repeats or repeats)


def _repeats_name(literal: ast.Dict) -> bool:
    """Return True for {"a": 1, "a": 2}, of which Python keeps the last."""
    names = [ast.literal_eval(key) for key in literal.keys if key is not None]
    return len(set(names)) < len(names)


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
    if isinstance(value, int | float):
        yield json.dumps(value)
    elif isinstance(value, str):
        form: bool | int | float | None = _TRUTH.get(value)
        if form is None:
            form = _number(value.strip())
        if form is not None:
            yield form


def _number(text: str) -> int | float | None:
    """Return the number that a text writes in the form of JSON; None for other texts and for 1e999."""
    if len(text) > _MOST_DIGITS:
        return None
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    fraction, exponent = match.groups()
    if fraction is None and exponent is None:
        return int(text)
    number = float(text)
    return number if math.isfinite(number) else None


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
    # Level by level, for recursion would fail where this is False.
    level: list[Any] = [value]
    for _ in range(_MOST_DEPTH):
        next_level: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                next_level.extend(item.values())
            elif isinstance(item, list):
                next_level.extend(item)
        if not next_level:
            return True
        level = next_level
    return False
