"""The tokens of a query. Comments and white space leave none; every bracket knows its partner."""

import re
from dataclasses import dataclass
from typing import Literal

from graphwalk.stores.written.refusal import QueryRefused
from graphwalk.stores.written.words import DEEPEST, LONGEST_QUERY

Kind = Literal["name", "quoted", "text", "number", "parameter", "symbol", "end"]

_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/)
      | (?P<number>(?:[0-9]+\.[0-9]+|\.[0-9]+|[0-9]+)(?:[eE][+-]?[0-9]+)?(?![\w]))
      | (?P<name>[^\W\d]\w*)
      | (?P<quoted>`(?:[^`\\\0]|``)+`)
      | (?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
      | (?P<parameter>\$\w*)
      | (?P<symbol><>|<=|>=|=~|\.\.|\|\||/(?!\*)|[-+*%^=<>()\[\]{}.,:;|&!])
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL)
_ESCAPES = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", "\\": "\\", "'": "'", '"': '"', "`": "`"}
_PARTNER = {")": "(", "]": "[", "}": "{"}


@dataclass(frozen=True, slots=True)
class Token:
    """`value` is a name without back-ticks, a text without quotes. `at` and `end` count characters from 0."""

    kind: Kind
    value: str
    at: int
    end: int


def read_tokens(query: str) -> tuple[list[Token], dict[int, int]]:
    """The tokens, with one at the end, and for the number of each opening bracket that of its closing one.

    QueryRefused "syntax" where the text is too long, has a character that is no Cypher, or unpaired brackets.
    """
    if len(query) > LONGEST_QUERY:
        raise QueryRefused("too_large", "query_too_long", longest=LONGEST_QUERY)
    tokens: list[Token] = []
    at = 0
    while at < len(query):
        found = _TOKEN.match(query, at)
        if found is None or found.lastgroup is None:
            raise syntax(query, at)
        if found.lastgroup != "space":
            tokens.append(Token(found.lastgroup, _value(found, query), at, found.end()))  # type: ignore[arg-type]
        at = found.end()
    tokens.append(Token("end", "", len(query), len(query)))
    return tokens, _pairs(tokens, query)


def syntax(query: str, at: int) -> QueryRefused:
    """The query cannot be read from character `at` on."""
    return QueryRefused("syntax", "query_syntax", at=at + 1, near=query[at : at + 30] or "the end", query=query)


def _value(found: re.Match[str], query: str) -> str:
    text = found.group()
    if found.lastgroup == "quoted":
        return text[1:-1].replace("``", "`")
    if found.lastgroup == "text":
        return _ESCAPE.sub(lambda escape: _unescaped(escape, query, found.start()), text[1:-1])
    return text


def _unescaped(escape: re.Match[str], query: str, at: int) -> str:
    code = escape.group(1)
    if len(code) > 1:
        number = int(code[1:], 16)
        if number > 0x10FFFF or 0xD800 <= number < 0xE000:
            raise syntax(query, at)
        return chr(number)
    if code not in _ESCAPES:
        raise syntax(query, at)
    return _ESCAPES[code]


def _pairs(tokens: list[Token], query: str) -> dict[int, int]:
    pairs: dict[int, int] = {}
    open_: list[int] = []
    for number, token in enumerate(tokens):
        if token.kind != "symbol":
            continue
        if token.value in "([{":
            open_.append(number)
            if len(open_) > DEEPEST:
                raise QueryRefused("too_large", "query_too_deep", deepest=DEEPEST)
        elif token.value in _PARTNER:
            if not open_ or tokens[open_[-1]].value != _PARTNER[token.value]:
                raise syntax(query, token.at)
            pairs[open_.pop()] = number
    if open_:
        raise syntax(query, tokens[open_[-1]].at)
    return pairs
