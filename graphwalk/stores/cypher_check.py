"""Check Cypher that a file or a model brings, before any of it is run.

The check reads words, not a grammar. It skips texts and comments, and refuses every word that could be a clause which
writes, loads, calls or administers. A word is a name where no clause can begin: after `.`, `:` or `$`, and before a
sign that follows names only. In doubt the query is refused.
"""

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from graphwalk.errors import ToolMistake
from graphwalk.graphs.graph import OUR_PREFIX

WRITES = frozenset({"CREATE", "MERGE", "SET", "DELETE", "DETACH", "REMOVE", "FOREACH", "DROP", "INSERT"})
REACHES_OUT = frozenset({"LOAD", "CALL", "USE", "SHOW", "TERMINATE"})
_REFUSED = WRITES | REACHES_OUT
FIRST_WORDS = frozenset({"MATCH", "OPTIONAL", "UNWIND", "WITH", "RETURN", "CALL", "FOR", "LET", "FILTER", "WHEN"})
"""First words of a query that reads. Commands for databases, servers and users begin with others."""
PROCEDURES = frozenset(
    f"db.index.{kind}.query{entities}" for kind in ("fulltext", "vector") for entities in ("Nodes", "Relationships")
)
"""Procedures that Cypher of a file may call."""
NAMESPACES = frozenset({"date", "datetime", "duration", "localdatetime", "localtime", "point", "time", "vector"})
"""Of functions that are part of Cypher; those of plug-ins can run any query, or reach a network."""
_TOKEN = re.compile(
    r"(?P<space>\s+|//[^\n]*|/\*.*?\*/)"
    r"|(?P<text>'(?:[^'\\]++|\\.)*+'|\"(?:[^\"\\]++|\\.)*+\")"
    r"|(?P<quoted>`(?:[^`]++|``)*+`)"
    r"|(?P<open>['\"`\\\0]|/\*)"
    r"|(?P<word>[^\W\d]\w*)|(?P<number>\d+)|(?P<sign>\.\.|.)",
    re.DOTALL,
)
_AMBIGUOUS = re.compile(r"\\u[0-9a-fA-F]{4}|\r(?!\n)")
"""An escape, which Neo4j reads as the character it encodes and may end a text, and a return, which ends a comment for
one engine and not for another."""
_AFTER_NAMES = (".", ",", ")", "]", "}", ":", "=", "<", ">", "")
"""Signs that follow a name and never the first word of a clause; "": the end."""
_BEFORE_QUOTED = ("|", "&", "!", "(")
"""Signs before a name in back-ticks, which the embedded engine reads like any word."""
LONGEST_QUERY = 4_000
"""Characters of a model's query."""


class CypherNotAllowedError(ValueError):
    """Cypher that is not run. `kind`: "syntax", "write_refused" or "not_offered"; `at`: position of `word` in it."""

    def __init__(
        self, kind: Literal["syntax", "write_refused", "not_offered"], word: str, cypher: str, at: int, reason: str
    ) -> None:
        line = cypher.count("\n", 0, at) + 1
        super().__init__(f"{word} is not allowed here (line {line} of the query): {reason}")
        self.kind, self.word, self.at = kind, word, at


class Token(NamedTuple):
    """A token of a query: a group of `_TOKEN`, its text and its position.

    `name`: a word, or the name within back-ticks; `upper`: the same in capitals.
    """

    kind: str
    text: str
    at: int
    name: str
    upper: str


_END = Token("sign", "", -1, "", "")


def tokens_in(cypher: str) -> Iterator[Token]:
    """Yield the tokens of a text, without spaces and comments."""
    for match in _TOKEN.finditer(cypher):
        kind, text = match.lastgroup or "", match[0]
        if kind == "space":
            continue
        name = upper = text
        if kind == "quoted":  # `a``b` is the name a`b
            name = text[1:-1].replace("``", "`")
        if kind in ("word", "quoted"):
            # Folded first, as an engine may change the case of ſ, ı and K.
            upper = name.casefold().upper()
        yield Token(kind, text, match.start(), name, upper)


def check_cypher(cypher: str, *, procedures: frozenset[str] = PROCEDURES) -> list[Token]:
    """Return the tokens of Cypher that may be run. Raise CypherNotAllowedError for any other.

    `procedures`: those that it may call.
    """
    tokens = _complete_tokens(cypher)
    padded = [_END, _END, _END, *tokens, _END]
    after_procedure = 0
    """The place behind the name of the last procedure."""
    for place, token in enumerate(padded[3:-1], 3):
        if token.text not in ("(", ";") and token.upper not in _REFUSED:
            continue
        namespace, dot, before, _, after = padded[place - 3 : place + 2]
        if token.text == ";":
            raise CypherNotAllowedError("syntax", ";", cypher, token.at, "there is one query only")
        # date.truncate(…), apoc.load.json(…)
        if token.text == "(":
            is_in_namespace = dot.text == "." and place != after_procedure
            if is_in_namespace and namespace.name.lower() not in NAMESPACES:
                name = f"{namespace.name}.{before.name}()"
                reason = "functions of plug-ins cannot be called"
                raise CypherNotAllowedError("not_offered", name, cypher, token.at, reason)
            continue
        if place > 3 and _is_name(dot, before, token, after):
            continue
        if token.upper == "CALL":
            if after.text in ("{", "("):  # a subquery
                continue
            name, after_procedure = _procedure_at(padded, place + 1)
            if name not in procedures:
                reason = f"only {', '.join(sorted(procedures)) or 'no procedure'} may be called"
                raise CypherNotAllowedError("not_offered", f"CALL {name}", cypher, token.at, reason)
        elif token.upper in REACHES_OUT:
            reason = "it reaches beyond the graph (for a variable or a column, choose another name)"
            raise CypherNotAllowedError("not_offered", token.upper, cypher, token.at, reason)
        else:
            reason = "it changes data, and this query only reads"
            raise CypherNotAllowedError("write_refused", token.upper, cypher, token.at, reason)
    return tokens


def _complete_tokens(cypher: str) -> list[Token]:
    """Return the tokens of a text that both engines read alike, that is closed, and begins as a query does."""
    if match := _AMBIGUOUS.search(cypher):
        reason = "write the character itself, and \\n for the end of a line"
        raise CypherNotAllowedError("syntax", repr(match[0]), cypher, match.start(), reason)
    tokens = list(tokens_in(cypher))
    for token in tokens:
        if token.kind == "open":
            reason = "it is not closed, or has a meaning inside of a text only"
            raise CypherNotAllowedError("syntax", repr(token.text), cypher, token.at, reason)
    while tokens and tokens[-1].text == ";":
        tokens.pop()
    if not tokens or tokens[0].upper not in FIRST_WORDS | _REFUSED:
        word = tokens[0].text if tokens else "an empty query"
        reason = f"a query begins with one of {', '.join(sorted(FIRST_WORDS))}"
        raise CypherNotAllowedError("syntax", word, cypher, 0, reason)
    return tokens


def _procedure_at(tokens: list[Token], place: int) -> tuple[str, int]:
    """Return the name that begins at this place, db.index.fulltext.queryNodes, and the place behind it."""
    name = tokens[place].name
    place += 1
    while tokens[place].text == "." and tokens[place + 1].kind in ("word", "quoted"):
        name = f"{name}.{tokens[place + 1].name}"
        place += 2
    return name, place


def check_model_query(query: str) -> list[Token]:
    """Return the tokens of a query of a model. Raise ToolMistake if it may not be run."""
    if len(query) > LONGEST_QUERY:
        raise ToolMistake("too_large", "query_too_long", longest=LONGEST_QUERY)
    try:
        tokens = check_cypher(query, procedures=frozenset())
    except CypherNotAllowedError as error:
        if error.kind == "write_refused":
            raise ToolMistake("write_refused", "query_write", what=error.word) from None
        if error.kind == "not_offered":
            raise ToolMistake("not_offered", "query_not_offered", what=error.word) from None
        near = query[error.at : error.at + 30] or "the end"
        raise ToolMistake("syntax", "query_syntax", at=error.at + 1, near=near, query=query) from None
    for token in tokens:
        if token.text == "$":  # a parameter: a model has none
            raise ToolMistake("not_offered", "query_not_offered", what="$")
        if token.name.startswith(OUR_PREFIX):
            raise ToolMistake("not_offered", "query_not_offered", what=OUR_PREFIX)
    return tokens


def _is_name(dot: Token, before: Token, token: Token, after: Token) -> bool:
    """Return True if no clause can begin with this token. `dot`: the token before the one before it."""
    if before.text == "." and (dot.kind in ("word", "quoted") or dot.text in (")", "]", "}")):
        return True
    if token.kind == "quoted" and (before.text in _BEFORE_QUOTED or before.upper == "AS"):
        return True
    return after.text in _AFTER_NAMES or before.text in (":", "$")
