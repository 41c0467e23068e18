"""Values as the openCypher TCK writes them in its tables, as plain hashable Python.

    null true 1 1.5 NaN 'text' [1, 2] {a: 1} (:Label {p: 1}) [:TYPE {p: 1}] <(:A)-[:T]->(:B)>

The forms are those of `plain`, so that what an engine returns can be compared: 1 and 1.0 differ, as in the TCK.
"""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

_TOKEN = re.compile(
    r"\s*(?P<text>'(?:\\.|[^'\\])*')|\s*(?P<number>-?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?)"
    r"|\s*(?P<name>[A-Za-z_][A-Za-z0-9_]*|`[^`]*`)|\s*(?P<sign><-|->|[][(){}<>:,-])"
)
_WORDS: Mapping[str, Any] = {"null": None, "true": True, "false": False, "NaN": math.nan, "Infinity": math.inf}


def plain(value: Any, *, ordered: bool = True) -> Any:
    """A value of lists, maps and scalars with its kinds spelled out; `ordered`: the order of lists matters."""
    if value is None or isinstance(value, bool | str):
        return value if not isinstance(value, bool) else ("boolean", value)
    if isinstance(value, int):
        return ("integer", value)
    if isinstance(value, float):
        return ("float", "NaN" if math.isnan(value) else float(f"{value:.12g}"))
    if isinstance(value, Mapping):
        return ("map", frozenset((name, plain(item, ordered=ordered)) for name, item in value.items()))
    if isinstance(value, tuple):  # a node, relationship or path: made below, or by an engine
        kind, *parts = value
        return (kind, *(part if isinstance(part, str | frozenset) else plain(part, ordered=ordered) for part in parts))
    items = [plain(item, ordered=ordered) for item in value]
    return ("list", *(items if ordered else sorted(items, key=repr)))


def node(labels: Sequence[str], properties: Mapping[str, Any]) -> tuple[Any, ...]:
    return ("node", frozenset(labels), dict(properties))


def relationship(type_: str, properties: Mapping[str, Any]) -> tuple[Any, ...]:
    return ("relationship", type_, dict(properties))


def path(parts: Sequence[Any]) -> tuple[Any, ...]:
    """Nodes and relationships in turn; each relationship follows ">" or "<"."""
    return ("path", list(parts))


def read_value(text: str) -> Any:
    """The value of a table cell. ValueError where it is none."""
    reader = _Reader(text)
    value = reader.value()
    reader.end()
    return value


class _Reader:
    def __init__(self, text: str) -> None:
        self._text, self._place = text, 0

    def _peek(self) -> tuple[str, str]:
        """(kind, text) of the next token; ("", "") at the end."""
        found = _TOKEN.match(self._text, self._place)
        if found is None:
            if self._text[self._place :].strip():
                raise ValueError(f"not a value: {self._text!r}")
            return "", ""
        return found.lastgroup or "", found[found.lastgroup or 0]

    def _next(self) -> tuple[str, str]:
        kind, token = self._peek()
        found = _TOKEN.match(self._text, self._place)
        self._place = found.end() if found else self._place
        return kind, token

    def _take(self, sign: str) -> bool:
        if self._peek()[1] != sign:
            return False
        self._next()
        return True

    def _expect(self, sign: str) -> None:
        if not self._take(sign):
            raise ValueError(f"expected {sign} at {self._place} in {self._text!r}")

    def end(self) -> None:
        if self._peek()[1]:
            raise ValueError(f"more than one value: {self._text!r}")

    def value(self) -> Any:
        kind, token = self._next()
        if kind == "text":
            return re.sub(r"\\(.)", r"\1", token[1:-1])
        if kind == "number":
            return json.loads(token) if re.fullmatch(r"-?\d+", token) else float(token)
        if kind == "name" and token in _WORDS:
            return _WORDS[token]
        if token == "-" and self._peek()[1] in _WORDS:
            return -self.value()
        readers: dict[str, Callable[[], Any]] = {"[": self._list, "{": self._map, "(": self._node, "<": self._path}
        if token not in readers:
            raise ValueError(f"not a value: {self._text!r}")
        return readers[token]()

    def _list(self) -> Any:
        if self._take(":"):
            return self._relationship()
        items = []
        while not self._take("]"):
            items.append(self.value())
            self._take(",")
        return items

    def _map(self) -> dict[str, Any]:
        found = {}
        while not self._take("}"):
            _, name = self._next()
            self._expect(":")
            found[name.strip("`'")] = self.value()
            self._take(",")
        return found

    def _properties(self, end: str) -> dict[str, Any]:
        found = self._map() if self._take("{") else {}
        self._expect(end)
        return found

    def _node(self) -> Any:
        labels = []
        while self._take(":"):
            labels.append(self._next()[1].strip("`"))
        return node(labels, self._properties(")"))

    def _relationship(self) -> Any:
        type_ = self._next()[1].strip("`")
        return relationship(type_, self._properties("]"))

    def _path(self) -> Any:
        self._expect("(")
        parts = [self._node()]
        while not self._take(">"):
            back = self._take("<-")
            if not back:
                self._expect("-")
            self._expect("[")
            self._expect(":")
            step = self._relationship()
            self._expect("-" if back else "->")
            self._expect("(")
            parts += ["<" if back else ">", step, self._node()]
        return path(parts)
