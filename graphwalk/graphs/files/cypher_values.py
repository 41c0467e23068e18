"""Names and values as Cypher writes them, and read back: 'text', 1, 2.5, true, date('2001-04-25'), […]."""

import math
import re

from graphwalk.errors import ConfigError
from graphwalk.graphs.files.json_values import checked_point
from graphwalk.graphs.files.text_values import TEMPORAL_NAMES
from graphwalk.types.temporals import read_temporal
from graphwalk.types.values import Point, Temporal, Value

_FUNCTION_OF = {kind: name for name, kind in TEMPORAL_NAMES.items()}
_STRING = r"'(?:[^'\\]|\\.)*'"
_SINGLE = re.compile(
    rf"(?P<string>{_STRING})|(?P<function>[a-z]+)\((?P<argument>{_STRING}|\{{[^{{}}]*\}})\)|(?P<word>[^\s,'`{{}}()\[\]]+)"
)
_POINT = re.compile(r"\{srid: (\d{1,9}), x: ([^\s,]+), y: ([^\s,]+?)(?:, z: ([^\s,]+))?\}")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_NOT_PRINTABLE = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]")
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", "'": "'", "\\": "\\"}
_WORDS: dict[str, Value | None] = {
    "true": True,
    "false": False,
    "null": None,
    "NaN": math.nan,
    "Infinity": math.inf,
    "-Infinity": -math.inf,
}


def quoted(name: str) -> str:
    """A label, type or property name in back-ticks. ConfigError for one with line breaks or control characters."""
    if _NOT_PRINTABLE.search(name):
        raise ConfigError(f"Cypher cannot hold the control characters in {name!r}", hint="save the graph as JSON")
    return "`" + name.replace("`", "``") + "`"


def literal(value: Value | None) -> str:
    """A value as Cypher writes it. ConfigError for bytes, which it cannot write."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace("'", "\\'")
        return "'" + _NOT_PRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", escaped) + "'"
    if isinstance(value, tuple | list):
        return "[" + ", ".join(literal(item) for item in value) + "]"
    if isinstance(value, Temporal):
        return f"{_FUNCTION_OF[value.kind]}('{value.text}')"
    if isinstance(value, Point):
        return value.text
    if isinstance(value, bytes):
        raise ConfigError("Cypher has no way to write bytes", hint="save the graph as JSON, GraphML or CSV")
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return repr(value).replace("e+", "e")


def read_literal(text: str, position: int) -> tuple[Value | None, int]:
    """The value that begins at a position, and the position behind it. ValueError if there is none."""
    if not text.startswith("[", position):
        return _read_single(text, position)
    items: list[Value | None] = []
    position += 1
    while not text.startswith("]", position):
        item, position = _read_single(text, position)
        items.append(item)
        position += 2 if text.startswith(", ", position) else 0
    return tuple(items), position + 1


def unescaped(text: str) -> str:
    """What a string of Cypher says, without its quotes. ValueError for an escape that is not known."""

    def one(match: re.Match[str]) -> str:
        code = match[1]
        if len(code) == 5:
            return chr(int(code[1:], 16))
        if code not in _ESCAPED:
            raise ValueError(f"unknown escape \\{code}")
        return _ESCAPED[code]

    return _ESCAPE.sub(one, text)


def _read_single(text: str, position: int) -> tuple[Value | None, int]:
    match = _SINGLE.match(text, position)
    if match is None:
        raise ValueError(f"cannot read the properties from {text[position : position + 40]!r} on")
    if match["string"] is not None:
        value: Value | None = unescaped(match["string"][1:-1])
    elif match["function"] is not None:
        value = _call(match["function"], match["argument"])
    else:
        value = _word(match["word"])
    return value, match.end()


def _call(function: str, argument: str) -> Value:
    point = _POINT.fullmatch(argument)
    if function == "point" and point is not None:
        return checked_point(int(point[1]), [float(number) for number in point.groups()[1:] if number is not None])
    if function not in TEMPORAL_NAMES or not argument.startswith("'"):
        raise ValueError(f"{function}({argument[:40]}) is not a value")
    return read_temporal(unescaped(argument[1:-1]), TEMPORAL_NAMES[function])


def _word(word: str) -> Value | None:
    if word in _WORDS:
        return _WORDS[word]
    try:
        number = int(word) if word.lstrip("-").isdecimal() and word.isascii() else float(word)
    except ValueError:
        number = math.inf
    if math.isinf(number) or "_" in word:
        raise ValueError(f"{word[:40]!r} is not a value")
    return number
