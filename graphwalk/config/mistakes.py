"""What is wrong with a field, in words for somebody who knows neither pydantic nor Python."""

import difflib
from collections.abc import Callable, Mapping, Set
from typing import Any

from graphwalk.resources import quote

_WHOLE, _NUMBER = "must be a whole number", "must be a number"
_WORDS: Mapping[str, str] = {
    "missing": "is missing",
    "int_type": _WHOLE,
    "int_parsing": _WHOLE,
    "int_parsing_size": "has too many digits",
    "int_from_float": _WHOLE,
    "float_type": _NUMBER,
    "float_parsing": _NUMBER,
    "finite_number": "must be a finite number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "string_type": "must be text",
    "string_unicode": "must be text",
    "path_type": "must be text",
    "tuple_type": "must be a list",
    "list_type": "must be a list",
    "dict_type": "must be a mapping of names to values",
    "mapping_type": "must be a mapping of names to values",
    "model_type": "must be a mapping of fields",
    "model_attributes_type": "must be a mapping of fields",
    "none_required": "must be empty",
}
_BOUNDS: Mapping[str, tuple[str, str]] = {
    "greater_than": ("must be greater than", "gt"),
    "greater_than_equal": ("must be at least", "ge"),
    "less_than": ("must be less than", "lt"),
    "less_than_equal": ("must be at most", "le"),
}
_PATTERNS: Mapping[str, str] = {
    "^[a-z][a-z0-9_]*$": "must begin with a small letter and hold small letters, digits and _ only",
    "^[a-zA-Z0-9_-]{1,64}$": "must be 1 to 64 letters, digits, _ and -",
    "^[A-Za-z0-9][A-Za-z0-9_.-]*$": "must begin with a letter or digit and hold letters, digits, _ . and - only",
}


def in_words(error: Any, known: Set[str] = frozenset()) -> str:
    """One of pydantic's errors; `known` are the names of all fields, for those that do not exist."""
    if error["type"] == "extra_forbidden":
        close = difflib.get_close_matches(str(error["loc"][-1]), known, n=1)
        return "there is no such field" + (f"; did you mean {close[0]}?" if close else "")
    if error["type"] in ("value_error", "assertion_error"):
        return str(error["msg"]).partition(", ")[2]
    given = error["input"]
    words = _words(error["type"], error.get("ctx", {})) or str(error["msg"])
    return words if error["type"] == "missing" else f"{words}, not {shown(given)}"


def _words(kind: str, context: Mapping[str, Any]) -> str | None:
    if kind in _BOUNDS:
        words, bound = _BOUNDS[kind]
        return f"{words} {context[bound]:g}"
    special: Mapping[str, Callable[[], str]] = {
        "literal_error": lambda: f"must be {str(context['expected']).replace(chr(39), '')}",
        "string_pattern_mismatch": lambda: _PATTERNS.get(context["pattern"], f"must match {context['pattern']}"),
        "string_too_short": lambda: "must not be empty",
        "too_short": lambda: f"needs at least {_counted(context['min_length'])}",
        "too_long": lambda: f"can have at most {_counted(context['max_length'])}",
    }
    return special[kind]() if kind in special else _WORDS.get(kind)


def _counted(entries: int) -> str:
    return "one entry" if entries == 1 else f"{entries} entries"


def shown(given: Any) -> str:
    """What was given, short; lists and mappings by what they are."""
    if given is None:
        return "empty"
    if isinstance(given, dict):
        return "a mapping of fields"
    if isinstance(given, list | tuple):
        return "an empty list" if not given else "a list"
    return str(quote(given))
