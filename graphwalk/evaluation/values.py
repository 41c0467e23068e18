"""Values written by a model: parsed without ever raising, and brought to one form for comparison."""

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
"""Deeper values are refused, so that whoever logs or compares an answer can use recursion."""
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
    """The JSON value of a text, None where it is none (or null). NaN, infinities and huge numbers become text."""
    try:
        value = (decoder or _DECODER).decode(text)
    except (ValueError, RecursionError, MemoryError):
        return None
    return value if _depth_within(value, _MOST_DEPTH) else None


def parse_answer(text: str) -> Any:
    """As `parse_json`; a number that Python would write otherwise stays text: `1.10`, `1e3` and `-0` may be keys."""
    return parse_json(text, _ANSWER_DECODER)


def parse_literal(text: str) -> Any:
    """The value of a Python literal as JSON would have it (tuples and sets become lists), None where it is none.

    Numbers are read as by `parse_answer`.
    """
    if len(text) > LONGEST_LITERAL or not _LITERAL_START.match(text) or _nesting(text) > _LITERAL_DEPTH:
        return None
    if _lacks_comma(text):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the compiler warns about odd escapes in the text of a model
            value = ast.literal_eval(_LITERAL_TOKEN.sub(_number_as_written, text.strip()))
        return _as_json(value, _MOST_DEPTH)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None


def normalise(value: Any) -> Hashable:
    """A form in which equal values of one type are equal: 3 and 3.0 are one, floats agree in 12 digits.

    Text equals no number and no boolean; upper and lower case differ.
    """
    if isinstance(value, bool):
        return ("boolean", value)
    if isinstance(value, float):
        return _rounded(value)
    if value is None or isinstance(value, str | int):
        return value
    return ("json", json.dumps(value, sort_keys=True, default=repr))


def value_forms(value: Any) -> Iterator[Any]:
    """A value as it is; then as text, or, for text, as the number or boolean that it names ("007" names none)."""
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


def _rounded(number: float) -> Hashable:
    if not math.isfinite(number):
        return str(number)
    return float(f"{number:.{_DIGITS}g}")  # 3.0 equals 3, and has its hash


def _integer(digits: str) -> int | str:
    return int(digits) if len(digits) <= _MOST_DIGITS else digits


def _float(digits: str) -> float | str:
    number = float(digits)
    return number if math.isfinite(number) else digits


def _integer_as_written(digits: str) -> int | str:
    return digits if digits == "-0" else _integer(digits)


def _float_as_written(digits: str) -> float | str:
    number = float(digits)
    return number if repr(number) == digits else digits


def _number_as_written(token: re.Match[str]) -> str:
    """The source of a number within a Python literal; parentheses keep it apart from strings beside it."""
    digits = token["number"]
    return token[0] if digits is None or isinstance(parse_answer(digits), int | float) else f'("{digits}")'


_DECODER = json.JSONDecoder(parse_constant=str, parse_int=_integer, parse_float=_float)
_ANSWER_DECODER = json.JSONDecoder(parse_constant=str, parse_int=_integer_as_written, parse_float=_float_as_written)


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
    """An upper bound of how deep a literal nests: deep ones crash some versions of Python's parser."""
    depth = deepest = 0
    for bracket in re.findall(r"[(\[{)\]}]|[-+~]{2,}", text):
        depth += len(bracket) if bracket in "([{" or len(bracket) > 1 else -1
        deepest = max(deepest, depth)
    return deepest


def _lacks_comma(text: str) -> bool:
    """True where two quoted texts adjoin, of which Python would make one."""
    end = None
    for string in _STRING.finditer(text):
        if end is not None and not text[end : string.start()].strip():
            return True
        end = string.end()
    return False


def _as_json(value: Any, depth: int) -> Any:
    """ValueError for what JSON has no form for."""
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
