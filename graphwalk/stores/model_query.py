"""Write a query of a model with the names that the embedded engine stores.

    MATCH (f:Film)-[*]->(g) RETURN f.name, labels(g)
    MATCH (f:`Film`)-[*..1000000]->(g) RETURN f.`gw__name` AS `f.name`, labels(g)

The text stays as it is, but for names, dates, and paths without a longest length, which the engine would end early.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from graphwalk.errors import ConfigError
from graphwalk.stores.cypher import quote
from graphwalk.stores.cypher_check import CypherNotAllowedError, CypherTokens, QueryRefused, Token, check_cypher
from graphwalk.stores.embedded_graph import EmbeddedDialect
from graphwalk.types.schema import Schema
from graphwalk.types.temporals import TEMPORAL_FUNCTIONS, read_temporal
from graphwalk.types.values import Temporal

LONGEST_QUERY = 4_000
"""Characters."""
LONGEST_PATH = 1_000_000
"""More relationships than a graph has."""
_BEFORE_LISTS = frozenset(
    {
        *("AND", "BY", "CASE", "CONTAINS", "DISTINCT", "ELSE", "IN", "IS", "NOT", "OR", "RETURN", "THEN", "UNWIND"),
        *("WHEN", "WHERE", "WITH", "XOR"),
    }
)
"""Words before `[` that are no value."""
_AFTER_COLUMNS = frozenset({"ORDER", "SKIP", "OFFSET", "LIMIT", "UNION"})
_OPENING, _CLOSING = "([{", ")]}"


@dataclass(frozen=True, slots=True)
class WrittenQuery:
    """A query for the engine. `ordered`: it specifies an order of rows."""

    cypher: str
    parameters: dict[str, Temporal]
    ordered: bool


def write_query(query: str, schema: Schema, dialect: EmbeddedDialect) -> WrittenQuery:
    """Return the query for the engine. Raise QueryRefused if it may not be run, or has names that the graph lacks."""
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
    writer = _Writer(tokens, schema, dialect)
    try:
        cypher = "".join(writer.clauses())
    except ConfigError as error:
        raise QueryRefused("query_error", "query_error", problem=str(error)) from None
    return WrittenQuery(cypher, writer.parameters, writer.ordered)


@dataclass
class _Writer:
    tokens: CypherTokens
    schema: Schema
    dialect: EmbeddedDialect
    parameters: dict[str, Temporal] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.opened_by, self.closed_by = self._brackets()
        properties = [property_ for node in self.schema.nodes for property_ in node.properties]
        properties += [property_ for relationship in self.schema.relationships for property_ in relationship.properties]
        self.properties = sorted({property_.name for property_ in properties})
        self.map_keys = {self.tokens[place].name for place in range(len(self.tokens)) if self._is_key(place)}
        self.top_level = [place for place in range(len(self.tokens)) if self.opened_by[place] < 0]
        self.ordered = any(self._word(place) == "ORDER" for place in self.top_level)

    def _brackets(self) -> tuple[list[int], dict[int, int]]:
        """Return for every token the place of the bracket around it (-1: none), and opening → closing bracket."""
        opened, around, closed_by = [-1], list[int](), dict[int, int]()
        for place, token in enumerate(self.tokens.tokens):
            if token.kind == "sign" and token.text in _CLOSING and len(opened) > 1:
                closed_by[opened.pop()] = place
            around.append(opened[-1])
            if token.kind == "sign" and token.text in _OPENING:
                opened.append(place)
        if len(opened) > 1:
            at = self.tokens[opened[-1]].at
            near = self.tokens.cypher[at : at + 30]
            raise QueryRefused("syntax", "query_syntax", at=at + 1, near=near, query=self.tokens.cypher)
        return around, closed_by

    def _word(self, place: int) -> str:
        """Return the word in capitals, "" for a name after a dot or colon and for other tokens."""
        name = self.tokens[place - 1].text in (".", ":", "$")
        return self.tokens[place].upper if self.tokens[place].kind == "word" and not name else ""

    def _is_named(self, place: int) -> bool:
        return self.tokens[place].kind in ("word", "quoted")

    def _is_key(self, place: int) -> bool:
        """Return True for a key of a map."""
        before, after = self.tokens[place - 1].text, self.tokens[place + 1].text
        is_first = self._is_named(place) and before in ("{", ",") and after == ":"
        return is_first and self.tokens[self.opened_by[place]].text == "{"

    def _is_type(self, place: int) -> bool:
        """Return True in the brackets of a relationship."""
        opened = self.opened_by[place]
        return self.tokens[opened].text == "[" and self.tokens[opened - 1].text == "-"

    def clauses(self) -> Iterator[str]:
        """Yield the text of the query, with a name for every column whose text is changed."""
        place = 0
        while place < len(self.tokens):
            if self._word(place) != "RETURN" or self.opened_by[place] >= 0:
                text, place = self._part(place)
                yield text
                continue
            end = next((p for p in self.top_level if p > place and self._word(p) in _AFTER_COLUMNS), len(self.tokens))
            first = place + 2 if self._word(place + 1) == "DISTINCT" else place + 1
            yield self._text(place, first)
            commas = [p for p in self.top_level if first <= p < end and self.tokens[p].text == ","]
            for start, stop in zip([first, *(p + 1 for p in commas)], [*commas, end], strict=True):
                yield self._column(start, stop) + (self._text(stop, stop + 1) if stop < end else "")
            place = end

    def _column(self, start: int, end: int) -> str:
        text, last = self._text(start, end), self.tokens[end - 1]
        original = self.tokens.cypher[self.tokens[start].at : last.at + len(last.text)]
        named = any(self._word(place) == "AS" for place in self.top_level if start <= place < end)
        return text if named or text.strip() == original or "\\" in original else f"{text} AS {quote(original)}"

    def _text(self, start: int, end: int) -> str:
        parts = []
        while start < end:
            text, start = self._part(start)
            parts.append(text)
        return "".join(parts)

    def _part(self, place: int) -> tuple[str, int]:
        """Return the text of this token, or of the call or index that it begins, and the place after it."""
        token, before, after = self.tokens[place], self.tokens[place - 1], self.tokens[place + 1]
        gap = " " if place and token.at > before.at + len(before.text) else ""
        if self._is_named(place):
            lower = token.name.lower()
            if after.text == "(" and lower in TEMPORAL_FUNCTIONS and before.text != ".":
                return gap + self._temporal(place), place + 4
            if after.text == "(" and lower in ("labels", "type", "keys") and before.text != ".":
                end = self.closed_by[place + 1]
                own = {"labels": self.dialect.own_labels, "type": self.dialect.own_type, "keys": self.dialect.own_keys}
                return gap + own[lower](f"{lower}({self._text(place + 2, end)})"), end + 1
            return gap + self._name(place), place + 1
        is_value = self._is_named(place - 1) and self._word(place - 1) not in _BEFORE_LISTS
        if token.text == "[" and (is_value or before.text in (")", "]")):
            return gap + self._index(place), self.closed_by[place] + 1
        if token.text == "*" and self._is_type(place):
            return self._hops(place)
        if token.text == "$":
            raise QueryRefused("not_offered", "query_not_offered", what="$")
        return gap + token.text, place + 1

    def _name(self, place: int) -> str:
        """Return a name as the engine stores it. Raise QueryRefused if the graph lacks the name."""
        token, before, after = self.tokens[place], self.tokens[place - 1], self.tokens[place + 1]
        number = before.text == "." and self.tokens[place - 2].kind == "number"
        if self._is_key(place) or (before.text == "." and after.text != "(" and not number):
            if token.name not in self.map_keys:
                _check_known(token.name, self.properties, "query_unknown_property")
            return _stored_name(token, quote(self.dialect.stored_property(token.name)))
        if self._is_label(place):
            if self._is_type(place):
                _check_known(token.name, [r.type for r in self.schema.relationships], "unknown_type")
                return _stored_name(token, self.dialect.type(token.name))
            _check_known(token.name, [n.label for n in self.schema.nodes if n.label], "unknown_label")
            return _stored_name(token, self.dialect.label_name(token.name))
        if token.name.startswith("gw_"):
            raise QueryRefused("not_offered", "query_not_offered", what="gw_")
        return token.text

    def _is_label(self, place: int) -> bool:
        """Return True for a label or type: `:A`, and the others in `:A|B` and `:(A&!B)`."""
        before, opened = self.tokens[place - 1].text, self.opened_by[place]
        if before == ":":
            return not self._is_key(place - 2)
        if before == "(":
            return self.tokens[place - 2].text in (":", "&", "!")
        in_list = self.tokens[opened].text == "[" and not self._is_type(place)
        return before in ("|", "&", "!") and not in_list and self.tokens[opened - 1].upper != "REDUCE"

    def _hops(self, place: int) -> tuple[str, int]:
        """Write `*`, `*2`, `*1..3`, with a longest length for paths that have none."""
        end = place + 1
        while self.tokens[end].kind == "number" or self.tokens[end].text == "..":
            end += 1
        text = "".join(token.text for token in self.tokens.tokens[place:end])
        longest = LONGEST_PATH if text.endswith("..") else f"..{LONGEST_PATH}" if text == "*" else ""
        return f"{text}{longest}", end

    def _index(self, place: int) -> str:
        """Write an index: a number, or the name of a property."""
        end = self.closed_by[place]
        inner = [self.tokens[p] for p in range(place + 1, end) if self.opened_by[p] == place]
        text = self._text(place + 1, end)
        if any(token.text == ".." for token in inner) or all(token.kind == "number" for token in inner):
            return f"[{text}]"
        return f"[{self.dialect.property_named(text)}]"

    def _temporal(self, place: int) -> str:
        """Pass `date('2001-04-25')` as a parameter: the store has another form for dates."""
        name, text = self.tokens[place].name, self.tokens[place + 2]
        if text.kind != "text" or self.tokens[place + 3].text != ")":
            raise QueryRefused("query_error", "query_temporal", name=name)
        try:
            value = read_temporal(text.text[1:-1], TEMPORAL_FUNCTIONS[name.lower()])
        except ValueError as error:
            raise QueryRefused("query_error", "query_error", problem=str(error)) from None
        self.parameters[parameter := f"gw_t{len(self.parameters)}"] = value
        return f"${parameter}"


def _stored_name(token: Token, quoted: str) -> str:
    """Return the stored name in back-ticks, or the text of the query if it is the same name."""
    return token.text if quoted == quote(token.name) else quoted


def _check_known(name: str, names: Sequence[str], message: str) -> None:
    """Raise QueryRefused for a name that the graph lacks: the engine would find nothing, without a reason."""
    if name not in names:
        values: dict[str, Any] = {"name": name, "names": names}
        raise QueryRefused("unknown_name", message, **values)
