"""Values written by a model: parse them without raising, and normalise them for comparison."""

import ast
import json
import math
import re
import warnings
from collections.abc import Hashable, Iterator
from typing import Any

_MOST_DIGITS = 300
"""Longer integers stay text: Python refuses to convert very long ones, and no answer has any."""
_MOST_BITS = 1000
_MOST_DEPTH = 40
"""Maximum nesting depth, so that logs and comparisons can use recursion."""
LONGEST_LITERAL = 200_000
"""Longer texts are not tried as Python literals, whose parser needs about a hundred bytes a character."""
_LITERAL_DEPTH = 100
_STRING = re.compile(r"""\"(?:[^\"\\\n]|\\.)*+[\"\\]?+|'(?:[^'\\\n]|\\.)*+['\\]?+""")
"""One that never ends is taken to the end of its line, so that the text is read once."""
_LITERAL_START = re.compile(r"\s*[\[{('\"\d-]")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d{1,4})?", re.ASCII)
_LITERAL_TOKEN = re.compile(rf"{_STRING.pattern}|(?P<number>{_NUMBER.pattern})(?![\w.])|[-+]\s*[\w.]+|[\w.]+", re.ASCII)
_DIGITS = 12
"""Significant digits in which two floats must agree."""
_TRUTH = {"true": True, "True": True, "false": False, "False": False}


def parse_json(text: str, decoder: json.JSONDecoder | None = None) -> Any:
    """Return the JSON value of a text, or None. NaN, infinities and huge numbers become text."""
    try:
        value = (decoder or _DECODER).decode(text)
    except (ValueError, RecursionError, MemoryError):
        return None
    return value if _depth_within(value, _MOST_DEPTH) else None


def parse_object(text: str) -> dict[str, Any]:
    """Return the JSON object of a text as by `parse_json`; {} for another value."""
    value = parse_json(text)
    return value if isinstance(value, dict) else {}


def parse_answer(text: str) -> Any:
    """Return the value as `parse_json`, with numbers like `1.10`, `1e3` and `-0`, which may be keys, as text."""
    return parse_json(text, _ANSWER_DECODER)


def parse_literal(text: str) -> Any:
    """Return the value of a Python literal as JSON (tuples and sets become lists), or None.

    Numbers are read as by `parse_answer`.
    """
    readable = len(text) <= LONGEST_LITERAL and _LITERAL_START.match(text)
    if not readable or _nesting(text) > _LITERAL_DEPTH or _lacks_comma(text):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the compiler warns about odd escapes in the text of a model
            value = ast.literal_eval(_LITERAL_TOKEN.sub(_number_as_written, text.strip()))
        return _as_json(value, _MOST_DEPTH)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None


def normalise(value: Any) -> Hashable:
    """Return a normal form: 3 and 3.0 are equal, floats agree in 12 digits.

    Text equals no number and no boolean; case matters.
    """
    if isinstance(value, bool):
        return ("boolean", value)
    if isinstance(value, float):
        # 3.0 equals 3, and has its hash
        return float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else str(value)
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


def _integer(digits: str) -> int | str:
    return int(digits) if len(digits) <= _MOST_DIGITS else digits


def _float(digits: str) -> float | str:
    number = float(digits)
    return number if math.isfinite(number) else digits


def _float_as_written(digits: str) -> float | str:
    number = float(digits)
    return number if repr(number) == digits else digits


def _number_as_written(token: re.Match[str]) -> str:
    """Return the source of a number in a Python literal, in parentheses to separate it from adjacent strings."""
    digits = token["number"]
    return token[0] if digits is None or isinstance(parse_answer(digits), int | float) else f'("{digits}")'


_DECODER = json.JSONDecoder(parse_constant=str, parse_int=_integer, parse_float=_float)
_ANSWER_DECODER = json.JSONDecoder(
    parse_constant=str,
    parse_int=lambda digits: digits if digits == "-0" else _integer(digits),
    parse_float=_float_as_written,
)


def _depth_within(value: Any, most: int) -> bool:
    level: list[Any] = [value]
    for _ in range(most):
        level = [
            item
            for container in level
            if isinstance(container, list | dict)
            for item in (container.values() if isinstance(container, dict) else container)
        ]
        if not level:
            return True
    return False


def _nesting(text: str) -> int:
    """Return an upper bound of the nesting depth of a literal: deep ones crash some versions of Python's parser."""
    depth = deepest = 0
    for bracket in re.findall(r"[(\[{)\]}]|[-+~]{2,}", text):
        depth += len(bracket) if bracket in "([{" or len(bracket) > 1 else -1
        deepest = max(deepest, depth)
    return deepest


def _lacks_comma(text: str) -> bool:
    """Return True if two quoted texts are adjacent, which Python would concatenate."""
    end = None
    for string in _STRING.finditer(text):
        if end is not None and not text[end : string.start()].strip():
            return True
        end = string.end()
    return False


def _as_json(value: Any, depth: int) -> Any:
    """Raise ValueError for a value without a JSON form."""
    if depth == 0:
        raise ValueError("nested too deeply")
    if isinstance(value, dict):
        return {str(key): _as_json(item, depth - 1) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        return [_as_json(item, depth - 1) for item in sorted(value, key=repr)]
    if isinstance(value, list | tuple):
        return [_as_json(item, depth - 1) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        raise ValueError("an integer too long to be written")
    if value is None or isinstance(value, str | int | float):
        return value
    raise ValueError(f"{type(value).__name__} has no JSON form")
