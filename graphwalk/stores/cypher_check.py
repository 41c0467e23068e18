"""Check Cypher that a file or a model brings, before any of it is run.

The check reads words, not a grammar. It skips texts and comments, and refuses every word that could be a clause which
writes, loads, calls or administers. A word is a name where no clause can begin: after `.`, `:` or `$`, and before a
sign that follows names only. In doubt the query is refused.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from graphwalk.types.graph import OUR_PREFIX

WRITES = frozenset({"CREATE", "MERGE", "SET", "DELETE", "DETACH", "REMOVE", "FOREACH", "DROP", "INSERT"})
REACHES_OUT = frozenset({"LOAD", "CALL", "USE", "SHOW", "TERMINATE"})
FIRST_WORDS = frozenset({"MATCH", "OPTIONAL", "UNWIND", "WITH", "RETURN", "CALL", "FOR", "LET", "FILTER", "WHEN"})
"""First words of a query that reads. Commands for databases, servers and users begin with others."""
PROCEDURES = frozenset(
    {
        *("db.labels", "db.relationshipTypes", "db.propertyKeys", "db.awaitIndex", "db.awaitIndexes"),
        *("db.schema.visualization", "db.schema.nodeTypeProperties", "db.schema.relTypeProperties"),
        *("db.index.fulltext.queryNodes", "db.index.fulltext.queryRelationships"),
        *("db.index.vector.queryNodes", "db.index.vector.queryRelationships"),
    }
)
"""Procedures that only read the graph and its schema."""
NAMESPACES = frozenset({"date", "datetime", "duration", "localdatetime", "localtime", "point", "time", "vector"})
"""Of functions that are part of Cypher; those of plug-ins can run any query, or reach a network."""
_TOKEN = re.compile(
    r"(?P<space>\s+|//[^\n]*|/\*.*?\*/)"
    r"|(?P<text>'(?:[^'\\]++|\\.)*+'|\"(?:[^\"\\]++|\\.)*+\")"
    r"|(?P<quoted>`(?:[^`]++|``)*+`)"
    r"|(?P<open>['\"`]|/\*)"
    r"|(?P<word>[^\W\d]\w*)|(?P<number>\d+)|(?P<sign>\.\.|.)",
    re.DOTALL,
)
_LONE_RETURN = re.compile(r"\r(?!\n)")
"""The end of a comment for one engine, and not for another."""
_STATEMENT = re.compile(r"\{%.*?(?:%\}|\Z)|\{#.*?(?:#\}|\Z)", re.DOTALL)
_VALUE = re.compile(r"\{\{.*?(?:\}\}|\Z)", re.DOTALL)
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
_AFTER_NAMES = (".", ",", ")", "]", "}", ":", "=", "<", ">", "")
"""Signs that follow a name and never the first word of a clause; "": the end."""
_BEFORE_QUOTED = ("|", "&", "!", "(")
"""Signs before a name in back-ticks, which the embedded engine reads like any word."""


LONGEST_QUERY = 4_000
"""Characters of a model's query."""


class QueryRefused(Exception):  # noqa: N818 - a model's mistake is a result, not an error of the program
    """`kind` is the class that results count: "syntax", "write_refused", "not_offered", "query_error", "timeout" or
    "too_large". `message` is the name of a text in tool_messages.yaml, `values` its parameters.
    """

    def __init__(self, kind: str, message: str, /, **values: Any) -> None:
        super().__init__(f"{kind}: {message} {values}")
        self.kind = kind
        self.message = message
        self.values = values


class CypherNotAllowedError(ValueError):
    """Cypher that is not run. `kind`: "syntax", "write_refused" or "not_offered"; `at`: position of `word` in it."""

    def __init__(
        self, kind: Literal["syntax", "write_refused", "not_offered"], word: str, cypher: str, at: int, reason: str
    ) -> None:
        line = cypher.count("\n", 0, at) + 1
        super().__init__(f"{word} is not allowed here (line {line} of the query): {reason}")
        self.kind, self.word, self.at = kind, word, at


@dataclass(frozen=True, slots=True)
class Token:
    """A token of a query: its kind, its text, and its position."""

    kind: str
    text: str
    at: int

    @property
    def name(self) -> str:
        """Return a word, or the name within back-ticks."""
        return self.text[1:-1].replace("``", "`") if self.kind == "quoted" else self.text

    @property
    def upper(self) -> str:
        """Return the name in capitals, also where an engine would change the case of ſ, ı or K."""
        return self.name.casefold().upper() if self.kind in ("word", "quoted") else self.text


_END = Token("sign", "", -1)


def tokens_in(cypher: str) -> Iterator[Token]:
    """Yield the tokens of a text, without spaces and comments."""
    for match in _TOKEN.finditer(cypher):
        if match.lastgroup != "space":
            yield Token(match.lastgroup or "", match[0], match.start())


class CypherTokens:
    """The tokens of a query, without comments. Raise CypherNotAllowedError for what engines may read in two ways."""

    def __init__(self, cypher: str) -> None:
        self.cypher = _ESCAPE.sub(_character, cypher)
        """With the characters of its unicode escapes, as Neo4j reads it."""
        self.tokens: list[Token] = []
        for match in _TOKEN.finditer(self.cypher):
            kind, text = match.lastgroup or "", match[0]
            if kind == "open":
                raise self.refused("syntax", text, match.start(), "it is not closed")
            if (kind == "space" and _LONE_RETURN.search(text)) or (kind == "sign" and text in "\\\0"):
                raise self.refused("syntax", repr(text), match.start(), "write it inside a text only")
            if kind != "space":
                self.tokens.append(Token(kind, text, match.start()))

    def __getitem__(self, place: int) -> Token:
        return self.tokens[place] if 0 <= place < len(self.tokens) else _END

    def __len__(self) -> int:
        return len(self.tokens)

    def refused(
        self, kind: Literal["syntax", "write_refused", "not_offered"], word: str, at: int, reason: str
    ) -> CypherNotAllowedError:
        return CypherNotAllowedError(kind, word, self.cypher, at, reason)

    def is_name(self, place: int) -> bool:
        """Return True if no clause can begin with this token."""
        before, token, after = self[place - 1], self[place], self[place + 1]
        if place == 0:
            return False
        if before.text == "." and (
            self[place - 2].kind in ("word", "quoted") or self[place - 2].text in (")", "]", "}")
        ):
            return True
        if token.kind == "quoted" and (before.text in _BEFORE_QUOTED or before.upper == "AS"):
            return True
        return after.text in _AFTER_NAMES or before.text in (":", "$")

    def dotted_name(self, place: int) -> str:
        """Return the names from this token on that dots join."""
        names = [self[place].name]
        while self[place + 1].text == "." and self[place + 2].kind in ("word", "quoted"):
            place += 2
            names.append(self[place].name)
        return ".".join(names)


def check_cypher(cypher: str, *, procedures: frozenset[str] = PROCEDURES) -> CypherTokens:
    """Return the tokens of Cypher that may be run. Raise CypherNotAllowedError for any other.

    `procedures`: those that it may call.
    """
    tokens = CypherTokens(cypher)
    while tokens[len(tokens) - 1].text == ";":
        tokens.tokens.pop()
    if tokens[0].upper not in FIRST_WORDS | WRITES | REACHES_OUT:
        reason = f"a query begins with one of {', '.join(sorted(FIRST_WORDS))}"
        raise tokens.refused("syntax", tokens[0].text or "an empty query", 0, reason)
    for place, token in enumerate(tokens.tokens):
        if token.text == ";":
            raise tokens.refused("syntax", ";", token.at, "there is one query only")
        if token.upper in REACHES_OUT and not tokens.is_name(place):
            _check_call(tokens, place, procedures)
        elif token.upper in WRITES and not tokens.is_name(place):
            raise tokens.refused("write_refused", token.upper, token.at, "it changes data, and this query only reads")
        elif token.text == "(" and tokens[place - 1].kind in ("word", "quoted"):
            _check_function(tokens, place - 1)
    return tokens


def check_model_query(query: str) -> CypherTokens:
    """Return the tokens of a query of a model. Raise QueryRefused if it may not be run."""
    if len(query) > LONGEST_QUERY:
        raise QueryRefused("too_large", "query_too_long", longest=LONGEST_QUERY)
    try:
        tokens = check_cypher(query, procedures=frozenset())
    except CypherNotAllowedError as error:
        if error.kind == "write_refused":
            raise QueryRefused("write_refused", "query_write", what=error.word) from None
        if error.kind == "not_offered":
            raise QueryRefused("not_offered", "query_not_offered", what=error.word) from None
        near = query[error.at : error.at + 30] or "the end"
        raise QueryRefused("syntax", "query_syntax", at=error.at + 1, near=near, query=query) from None
    for token in tokens.tokens:
        if token.text == "$" or token.name.startswith(OUR_PREFIX):
            raise QueryRefused("not_offered", "query_not_offered", what="$" if token.text == "$" else OUR_PREFIX)
    return tokens


def check_template(cypher: str) -> None:
    """Check the Cypher of a Jinja template, as far as it shows before names are put in."""
    check_cypher(_VALUE.sub(" x ", _STATEMENT.sub("", cypher)))


def _character(escape: re.Match[str]) -> str:
    character = chr(int(escape[1], 16))
    if character in "'\"`\\" or character < " " or "\ud800" <= character < "\ue000":
        reason = "write the character itself"
        raise CypherNotAllowedError("syntax", escape[0], escape.string, escape.start(), reason)
    return character


def _check_call(tokens: CypherTokens, place: int, procedures: frozenset[str]) -> None:
    """Raise CypherNotAllowedError unless the clause is CALL of a subquery or of one of the procedures."""
    token, after = tokens[place], tokens[place + 1]
    if token.upper != "CALL":
        reason = "it reaches beyond the graph (for a variable or a column, choose another name)"
        raise tokens.refused("not_offered", token.upper, token.at, reason)
    if after.text in ("{", "(") or tokens.dotted_name(place + 1) in procedures:
        return
    reason = "it is none of the procedures that only read the graph (docs/extending.md lists them)"
    raise tokens.refused("not_offered", f"CALL {tokens.dotted_name(place + 1)}", token.at, reason)


def _check_function(tokens: CypherTokens, last: int) -> None:
    """Raise CypherNotAllowedError for a function of a plug-in. `last`: the place of the last part of its name."""
    first = last
    while tokens[first - 1].text == "." and tokens[first - 2].kind in ("word", "quoted"):
        first -= 2
    name = tokens.dotted_name(first)
    called = tokens[first - 1].upper == "CALL" or tokens[first - 1].text == ":"
    if "." in name and not called and name.partition(".")[0].lower() not in NAMESPACES:
        raise tokens.refused("not_offered", f"{name}()", tokens[first].at, "functions of plug-ins cannot be called")
