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
    {
        "db.index.fulltext.queryNodes",
        "db.index.fulltext.queryRelationships",
        "db.index.vector.queryNodes",
        "db.index.vector.queryRelationships",
    }
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
        self.kind = kind
        self.word = word
        self.at = at


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
    # Each token of the query has three before it, as the bracket in apoc.load.json("…"), and two after it.
    padded = [_END, _END, _END, *tokens, _END, _END]
    after_procedure = 0
    """The place behind the name of the last procedure."""
    for place, token in enumerate(tokens, 3):
        if token.text == ";":
            raise CypherNotAllowedError("syntax", ";", cypher, token.at, "there is one query only")
        if token.text == "(":
            is_in_namespace = padded[place - 2].text == "."  # apoc.load.json(
            if is_in_namespace and place != after_procedure:
                _check_function(padded, place, cypher)
        elif token.upper in _REFUSED and _may_begin_clause(padded, place):
            if token.upper != "CALL":
                raise _refused_clause(token, cypher)
            is_subquery = padded[place + 1].text in ("{", "(")
            if not is_subquery:
                after_procedure = _check_procedure(padded, place, cypher, procedures)
    return tokens


def _check_function(tokens: list[Token], bracket: int, cypher: str) -> None:
    """Raise CypherNotAllowedError if a function of a plug-in is called: apoc.load.json(…), but not date.truncate(…)."""
    namespace, _, name = tokens[bracket - 3 : bracket]
    if namespace.name.lower() in NAMESPACES:
        return
    function = f"{namespace.name}.{name.name}()"
    reason = "functions of plug-ins cannot be called"
    raise CypherNotAllowedError("not_offered", function, cypher, tokens[bracket].at, reason)


def _check_procedure(tokens: list[Token], call: int, cypher: str, allowed: frozenset[str]) -> int:
    """Return the place behind the procedure's name that follows CALL. Raise CypherNotAllowedError for another one."""
    name, after = _procedure_at(tokens, call + 1)
    if name not in allowed:
        reason = f"only {', '.join(sorted(allowed))} may be called" if allowed else "no procedure may be called"
        raise CypherNotAllowedError("not_offered", f"CALL {name}".rstrip(), cypher, tokens[call].at, reason)
    return after


def _refused_clause(token: Token, cypher: str) -> CypherNotAllowedError:
    """Return the error for a clause that begins with this word."""
    if token.upper in REACHES_OUT:
        reason = "it reaches beyond the graph (for a variable or a column, choose another name)"
        return CypherNotAllowedError("not_offered", token.upper, cypher, token.at, reason)
    reason = "it changes data, and this query only reads"
    return CypherNotAllowedError("write_refused", token.upper, cypher, token.at, reason)


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


def _may_begin_clause(tokens: list[Token], place: int) -> bool:
    """Return True unless the token is a name, for its place or for the signs beside it."""
    is_first = place == 3
    if is_first:
        return True
    dot, before, token, after = tokens[place - 2 : place + 2]
    # n.set, point().create, keys(n)[0].use
    if before.text == "." and (dot.kind in ("word", "quoted") or dot.text in (")", "]", "}")):
        return False
    # (n:A&`SET`), RETURN n AS `SET`
    if token.kind == "quoted" and (before.text in _BEFORE_QUOTED or before.upper == "AS"):
        return False
    # (n:Set), $set; and WITH set, other: no clause begins so
    return after.text not in _AFTER_NAMES and before.text not in (":", "$")
