"""Confine the Cypher that a model writes to one graph of a store.

The query is parsed by a grammar of what is offered (`cypher.lark`) and written anew from the tree: names in back-ticks,
texts as parameters, every node of every pattern with the label of the graph. What the grammar lacks never reaches a
server: procedures, LOAD CSV, SHOW, USE and writes are not forbidden, there is no way to express them.

    MATCH (a:Film)-->(b) WHERE a.key = "f7" RETURN labels(b)
    MATCH (a:`Film`:`gw_3f2a90c1d77e`)-->(b:`gw_3f2a90c1d77e`) WHERE `a`.`key` = $gw_t0 RETURN …

Relationships never lead from one graph to another, so that a path whose nodes are confined is in the graph.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partialmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn

from graphwalk.stores.cypher import RESERVED_PREFIX, Dialect, quote
from graphwalk.types.schema import Schema
from graphwalk.types.temporals import TEMPORAL_FUNCTIONS, read_temporal
from graphwalk.types.values import Temporal, shown

if TYPE_CHECKING:
    from lark import Lark, Token, UnexpectedInput

LONGEST_QUERY = 4_000
"""Characters."""
DEEPEST = 20
"""Brackets within brackets."""
DEEPEST_RULE = 100
"""Rules of the grammar within one another: CASE needs no brackets, and the stack of Python is finite."""
MOST_SUMS = 16
"""Additions in one query: a text or list that is added to itself doubles each time."""
LARGEST_RANGE = 10_000
"""Numbers in a range: lists of any length need no data, and fill the memory of a server."""
LONGEST_PATH = 1_000_000
"""Replaces a missing bound where the engine would end a path early: more relationships than a graph has."""
DEEPEST_LOOP = 2
"""Lists built, collected or looped over within one another: each may be as long as the longest range."""
MOST_COPIES = 50_000_000
"""Largest value that the text of a query may build. A server goes through a list of lists to its end, whatever its time
limit: `WITH [s, s, s, s, s, s, s, s] AS s` twenty times keeps it busy for years."""
LOOP_COPIES = 1_000
"""Assumed length of a list that is collected or looped over."""

# Functions that both engines have, that depend on their arguments alone and reach nothing else. Others are refused, so
# that a function that a server was extended with is never called.
AGGREGATES = frozenset({"avg", "collect", "count", "max", "min", "sum"})
FUNCTIONS = AGGREGATES | {
    *("endnode", "exists", "keys", "labels", "length", "nodes", "properties", "relationships", "startnode", "type"),
    *("coalesce", "head", "isempty", "last", "nullif", "range", "size", "tail"),
    *("left", "ltrim", "reverse", "right", "rtrim", "split", "substring", "tolower", "toupper", "trim"),
    *("toboolean", "tofloat", "tointeger", "tostring"),
    *("abs", "ceil", "floor", "round", "sign", "sqrt"),
}
QUANTIFIERS = frozenset({"all", "any", "none", "single"})
ARGUMENTS = {
    **dict.fromkeys(("nodes", "relationships", "length"), ("path",)),
    **dict.fromkeys(("type", "startnode", "endnode"), ("relationship",)),
    **dict.fromkeys(("keys", "properties"), ("node", "relationship", "map")),
    "labels": ("node",),
    "size": ("list", "text"),
}
"""Kinds of value that a function takes, for functions that do not take all."""
WRITES = frozenset({"create", "merge", "set", "delete", "detach", "remove", "foreach", "drop", "alter", "insert"})
LEFT_OUT = frozenset({"call", "load", "use", "show", "terminate", "explain", "profile", "cypher", "finish", "let"})

_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL)
_ESCAPES = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", "\\": "\\", "'": "'", '"': '"', "`": "`"}
_POSITION = re.compile(r"\s*(\(line \d+, column \d+.*\)|at line \d+, col \d+)")
"""A position in the query that was sent, which the model does not know."""
_PLAIN_LABELS = re.compile(r"(?:`[^`]*`:?)*")
"""Names that must all be there."""
_OURS = re.compile(r"[$'`]?\b(gw_t?\d+)\b['`]?")
"""A name that replaces a text or a column."""

_NAMED = {"PARAMETER": "$", "REGULAR_EXPRESSION": "=~", "NEGATED_LABEL": "!"}
"""Terminals that no rule has, so that their refusal names them."""
_JOINED = {
    "patterns": ("", ", ", ""),
    "chain": ("", "", ""),
    "predicate": ("", " ", ""),
    "properties": ("{", ", ", "}"),
    "map": ("{", ", ", "}"),
    "list": ("[", ", ", "]"),
    "slice": ("[", "..", "]"),
    "group": ("(", "", ")"),
    "skip": (" SKIP ", "", ""),
    "limit": (" LIMIT ", "", ""),
    "when": (" WHEN ", " THEN ", ""),
    "star": ("*", "", ""),
    "all_fields": (".*", "", ""),
    "field": (".", "", ""),
    "property": ("", ": ", ""),
    "types": (":", "|", ""),
    "has_labels": (":", "", ""),
    "label_group": ("(", "", ")"),
}
"""Rules whose parts are written one after the other: text before, between and after them."""

Kind = Literal["node", "relationship", "path", "list", "map", "number", "text", "boolean", "any"]
"""Kind of value of a variable or an expression, as far as the text of the query shows; "any": unknown."""
_LITERALS: Mapping[str, Kind] = {"list": "list", "map": "map", "number": "number", "text": "text"}


class QueryRefused(Exception):  # noqa: N818 - a model's mistake is a result, not an error of the program
    """`kind` is the class that results count: "syntax", "write_refused", "not_offered", "unknown_name", "query_error",
    "timeout" or "too_large". `message` is the name of a text in tool_messages.yaml, `values` its parameters.
    """

    def __init__(self, kind: str, message: str, /, **values: Any) -> None:
        super().__init__(f"{kind}: {message} {values}")
        self.kind = kind
        self.message = message
        self.values = values


@dataclass(frozen=True, slots=True)
class Translated:
    """A query for a store.

    `columns`: names of the result that replace others. `ordered`: the query asks for an order of its rows. `scope`: the
    label that only the query that is sent has.
    """

    cypher: str
    parameters: Mapping[str, str | Temporal]
    columns: Mapping[str, str]
    ordered: bool
    scope: str | None = None

    def reworded(self, problem: str) -> str:
        """Return an engine's error message with the names that the model wrote: the query that was sent has others."""
        text = _POSITION.sub("", problem.strip().splitlines()[0]).strip()
        if self.scope is not None:
            text = re.sub(f":?`?{self.scope}`?", "", text)
        own = {name: repr(shown(value)) for name, value in self.parameters.items()} | dict(self.columns)
        return _OURS.sub(lambda name: own.get(name[1], name[0]), text).replace(RESERVED_PREFIX, "")

    @contextmanager
    def rewording(self) -> Iterator[None]:
        """Reword what the engine refuses while the block runs."""
        try:
            yield
        except QueryRefused as refused:
            if "problem" not in refused.values:
                raise
            problem = self.reworded(refused.values["problem"])
            raise QueryRefused(refused.kind, refused.message, problem=problem) from refused


def translate(query: str, schema: Schema, dialect: Dialect, *, cut: bool = False) -> Translated:
    """Return the query for a store. Raise QueryRefused if it is no Cypher, is not offered, or has unknown names.

    `dialect` writes the names of the graph as the store has them. `cut`: the store ends paths without a bound early.
    """
    from lark import UnexpectedInput

    if len(query) > LONGEST_QUERY:
        raise QueryRefused("too_large", "query_too_long", longest=LONGEST_QUERY)
    try:
        tree = _parser().parse(query)
    except UnexpectedInput as error:
        raise _unreadable(query, error) from None
    if _loops(tree) > DEEPEST_LOOP:
        raise QueryRefused("too_large", "query_too_many_loops", deepest=DEEPEST_LOOP)
    rewriter = _Rewriter(query, schema, dialect, cut)
    cypher = rewriter.write(tree)
    parameters = {name: value for value, name in rewriter.parameters.items()}
    return Translated(cypher, parameters, rewriter.columns, rewriter.ordered, dialect.scope)


# Parsing


@lru_cache(maxsize=1)
def _parser() -> "Lark":
    """Return the parser. It takes a third of a second to build, so that it is built when the first query is asked."""
    from lark import Lark

    class Classifier:
        always_accept = tuple(_NAMED)

        def process(self, stream: Iterator["Token"]) -> Iterator["Token"]:
            return iter(_classified(list(stream)))

    grammar = Path(__file__).with_name("cypher.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", lexer="basic", postlex=Classifier(), propagate_positions=True)


def _classified(tokens: list["Token"]) -> list["Token"]:
    """Tell apart what a parser with one token of look-ahead cannot: patterns, calls and loops."""
    types = [token.type for token in tokens] + [""] * 3
    opened: list[int] = []
    for at, token in enumerate(tokens):
        kind, following = types[at], types[at + 1]
        if kind in ("LPAR", "LSQB", "LBRACE"):
            opened.append(at)
            if len(opened) > DEEPEST:
                raise QueryRefused("too_large", "query_too_deep", deepest=DEEPEST)
            if kind == "LSQB" and following in ("NAME", "QUOTED") and types[at + 2] == "IN":
                token.type = "_LOOP"
        elif kind in ("RPAR", "RSQB", "RBRACE") and opened:
            opening = opened.pop()
            back = following == "LESSTHAN"
            dash = at + 1 + back
            called = opening > 0 and types[opening - 1] in ("NAME", "QUOTED", "SUBQUERY")
            if kind == "RPAR" and not called and types[dash] == "MINUS" and types[dash + 1] in ("MINUS", "LSQB"):
                tokens[opening].type, tokens[dash].type = "_NODE", "_REL"
                if back:
                    tokens[at + 1].type = "BACK"
        elif following == "LPAR" and kind in ("NAME", "QUOTED", "SUBQUERY"):
            token.type = "QUANTIFIER" if token.lower() in QUANTIFIERS else "FUNCTION"
            if token.lower() == "reduce":  # the only function with a syntax of its own
                raise _not_offered("reduce()")
        elif kind == "CASE" and following in ("DOT", "COMMA", "RPAR"):
            token.type = "NAME"
    return tokens


def _unreadable(query: str, error: "UnexpectedInput") -> QueryRefused:
    """Return the refusal for what the grammar lacks, by the token that it does not expect and what is before it."""
    token: Token | None = getattr(error, "token", None)
    if token is None or token.type == "$END":
        return _syntax(query, len(query) if token else error.pos_in_stream or 0)
    before = query[: token.start_pos].rstrip()
    for word in (token.lower(), re.split(r"\W", before)[-1].lower()):
        if word in WRITES:
            return QueryRefused("write_refused", "query_write", what=word.upper())
        if word in LEFT_OUT:
            return _not_offered(word.upper())
        if word in ("shortestpath", "allshortestpaths"):
            return _not_offered("shortestPath")
    if token.type in ("FUNCTION", "QUANTIFIER") and before.endswith("."):
        return _not_offered(re.split(r"[^\w.`]", before)[-1] + f"{token}()")
    if (before[-1:], str(token)) in (("(", "("), (")", "{"), (")", "+"), (")", "*")):
        return _not_offered("((")
    return _not_offered(_NAMED[token.type]) if token.type in _NAMED else _syntax(query, token.start_pos or 0)


def _loops(tree: Any, depth: int = 0) -> int:
    """Return how many loops are within one another: lists that are built, collected or gone through.

    Raise QueryRefused if rules are too deep within one another.
    """
    if depth > DEEPEST_RULE:
        raise QueryRefused("too_large", "query_too_deep", deepest=DEEPEST)
    found = [_loops(part, depth + 1) if hasattr(part, "children") else 0 for part in tree.children]
    match tree.data:
        case "comprehension" | "quantifier":
            source = 1 if tree.data == "comprehension" else 2
            return max(found[source], 1 + max(found[source + 1 :]))
        case "pattern_comprehension":
            return 1 + max(found)
        case "call" if tree.children[0].lower() == "collect":
            return 1 + max(found)
    return max(found, default=0)


def _syntax(query: str, at: int) -> QueryRefused:
    return QueryRefused("syntax", "query_syntax", at=at + 1, near=query[at : at + 30] or "the end", query=query)


def _not_offered(what: str) -> QueryRefused:
    return QueryRefused("not_offered", "query_not_offered", what=what)


# Writing


class _Variable(NamedTuple):
    kind: Kind
    size: int = 1
    """How large its value may be by the text of the query."""


class _Column(NamedTuple):
    """A column of WITH or RETURN, or `*`: its Cypher, its names for the model and in the query that is sent."""

    text: str
    names: list[str]
    quoted: str
    variables: Mapping[str, _Variable]


class _Rewriter:
    """Writes the tree of one query for a store, from left to right: `_rule` is given the children of each `rule`.

    The embedded engine answers many queries that break a rule of openCypher; here both engines get the same refusal.
    """

    def __init__(self, query: str, schema: Schema, dialect: Dialect, cut: bool) -> None:
        self.query, self.dialect, self.cut = query, dialect, cut
        self.labels = [node.label for node in schema.nodes if node.label]
        self.types = [relationship.type for relationship in schema.relationships]
        properties = [p for node in schema.nodes for p in node.properties]
        properties += [p for relationship in schema.relationships for p in relationship.properties]
        self.properties = sorted({property_.name for property_ in properties})
        self.map_keys: set[str] = set()
        self.parameters: dict[str | Temporal, str] = {}
        self.columns: dict[str, str] = {}
        """Name in the query that is sent → name that the model knows the column by."""
        self.column_names: list[str] = []
        """Of the projection that was written last."""
        self.ordered = False
        """The query asks for an order of the rows that the last projection gives."""
        self.variables: dict[str, _Variable] = {}
        """By name, in back-ticks."""
        self.walked: list[str] = []
        """Variables of relationships in the MATCH that is written."""
        self.binds = True
        """A pattern may bring new variables."""
        self.aggregates = self.aggregated = False
        """An aggregate is allowed here; the projection has one."""
        self.sums = 0

    def write(self, tree: Any) -> str:
        if tree is None:
            return ""
        if joined := _JOINED.get(tree.data):
            before, between, behind = joined
            return before + between.join(map(self.write, tree.children)) + behind
        found: str = getattr(self, f"_{tree.data}")(*tree.children)
        return found

    # Clauses

    def _start(self, *parts: Any) -> str:
        found, columns = [], set()
        for part in parts:
            found.append(self.write(part))
            columns.add(tuple(sorted(self.column_names)))
        if len(set(found[1::2])) > 1 or len(columns) > 1:
            self.breaks("unions" if len(set(found[1::2])) > 1 else "union_columns")
        self.ordered = self.ordered and len(parts) == 1
        return " ".join(found)

    def _union(self, word: Any) -> str:
        return "UNION" if word.type == "UNION" else "UNION ALL"

    def _query(self, *clauses: Any) -> str:
        self.variables, self.ordered = {}, False
        return " ".join(map(self.write, clauses))

    def _match(self, optional: Any, matched: Any) -> str:
        self.ordered = False
        return f"{'OPTIONAL ' if optional else ''}MATCH {self.write(matched)}"

    def _matched(self, patterns: Any, where: Any) -> str:
        self.walked = []
        return self.write(patterns) + self.write(where)

    def _unwind(self, source: Any, variable: Any) -> str:
        self.ordered = False
        found = self.write(source)
        self.variables[name := self.write(variable)] = _Variable("any", self.size(source))
        return f"UNWIND {found} AS {name}"

    def _with(self, projection: Any, where: Any) -> str:
        before, self.ordered = self.variables, False
        found, columns = self.projection(projection, named=True)
        after = {name: variable for column in columns for name, variable in column.variables.items()}
        self.variables = before | after  # WHERE sees both
        found = f"WITH {found}{self.write(where)}"
        self.variables = after
        return found

    def _return(self, projection: Any) -> str:
        return f"RETURN {self.projection(projection, named=False)[0]}"

    def _where(self, condition: Any) -> str:
        kept, self.aggregates = self.aggregates, False
        found = f" WHERE {self.truth(condition, 'WHERE', also='list')}"
        self.aggregates = kept
        return found

    def projection(self, tree: Any, *, named: bool) -> tuple[str, list[_Column]]:
        """Write what follows WITH or RETURN; `named`: every column needs a name."""
        distinct, items, order, skip, limit = tree.children
        self.aggregates, self.aggregated = True, False
        columns = [self.column(item, named) for item in items.children]
        self.column_names = [name for column in columns for name in column.names]
        if twice := next((name for name, times in Counter(self.column_names).items() if times > 1), None):
            self.breaks("twice", name=twice)
        written = (c.text if c.text == "*" else f"{c.text} AS {c.quoted}" for c in columns)
        found = ("DISTINCT " if distinct else "") + ", ".join(written)
        if order:
            known = {column.text: column.quoted for column in columns}
            orders = []
            for value, direction in (part.children for part in order.children):
                text = self.write(value)
                descends = direction and direction.type == "DESCENDING"
                orders.append(known.get(text, text) + (" DESC" if descends else ""))
            found += f" ORDER BY {', '.join(orders)}"
        self.ordered = bool(order) or (self.ordered and not distinct and not self.aggregated)
        self.aggregates = False
        return found + self.write(skip) + self.write(limit), columns

    def column(self, tree: Any, named: bool) -> _Column:
        """Return a column with a name that we know: engines name columns differently."""
        if tree.data == "star":
            if not (named or self.variables):
                self.breaks("no_variables")
            return _Column("*", list(map(_unquoted, self.variables)), "*", self.variables)
        value, alias = tree.children
        found, size = self.write(value), self.size(value)
        if value.data == "condition":
            self.breaks("pattern")
        text = self.text_of(value)
        if alias or value.data == "variable":
            quoted = self.write(alias) or found
            return _Column(found, [_unquoted(quoted)], quoted, {quoted: _Variable(self.kind(value), size)})
        if named:
            self.breaks("no_name", name=text)
        name = next((name for name, known in self.columns.items() if known == text), f"gw_{len(self.columns)}")
        self.columns[name] = text
        return _Column(found, [text], quote(name), {})

    # Patterns

    def _path(self, variable: Any, pattern: Any) -> str:
        return (f"{self.bind(variable, 'path')} = " if variable else "") + self.write(pattern)

    def _shortest(self, function: Any, chain: Any) -> str:
        return f"{'shortestPath' if function.lower() == 'shortestpath' else 'allShortestPaths'}({self.write(chain)})"

    def _condition(self, *parts: Any) -> str:
        """Write a chain that is true or false, and brings no variables."""
        kept, self.binds, self.walked = (self.binds, self.walked), False, []
        found = "".join(map(self.write, parts))
        self.binds, self.walked = kept
        return found

    def _node(self, variable: Any, labels: Any, properties: Any, where: Any) -> str:
        """Write a node pattern with the label of the graph."""
        expression = self.write(labels)
        scoped = self.dialect.confined(expression, plain=bool(_PLAIN_LABELS.fullmatch(expression)))
        return f"({self.bind(variable, 'node')}{scoped}{self.conditions(properties, where)})"

    _first_node = _node

    def _relationship(self, back: Any, inside: Any, forth: Any) -> str:
        found = f"-[{self.write(inside)}]-" if inside else "--"
        if back and forth:  # either direction, which not every engine reads
            return found
        return ("<" if back else "") + found + (">" if forth else "")

    def _inside(self, variable: Any, types: Any, hops: Any, properties: Any, where: Any) -> str:
        found = self.bind(variable, "list" if hops else "relationship")
        return found + self.write(types) + self.write(hops) + self.conditions(properties, where)

    def bind(self, variable: Any, kind: Kind) -> str:
        """Bind a variable of a pattern. Raise QueryRefused if it has another meaning, or cannot be new here."""
        if variable is None:
            return ""
        name = self.write(variable)
        before = self.variables.get(name)
        if before is None and not self.binds:
            self.breaks("new_variable", name=name)
        if before and (before.kind not in ("any", kind) or kind == "path"):
            self.breaks("two_kinds", name=name, was=before.kind, now=kind)
        if kind == "relationship":
            if name in self.walked:
                self.breaks("walked_twice", name=name)
            self.walked.append(name)
        self.variables[name] = _Variable(kind, before.size if before else 1)
        return name

    def conditions(self, properties: Any, where: Any) -> str:
        if where:
            raise _not_offered("WHERE")
        return f" {self.write(properties)}" if properties else ""

    def _labels(self, *terms: Any) -> str:
        """Write a label expression, without brackets around the whole, which not every engine reads."""
        [first, *others] = terms[0].children
        if len(terms) == 1 and not others and first.data == "label_group":
            return self.write(*first.children)
        between = ":" if len(terms) == 1 and all(label.data == "label" for label in terms[0].children) else "&"
        return "|".join(between.join(map(self.write, term.children)) for term in terms)

    def _label(self, name: Any) -> str:
        return self.dialect.label_name(_known(name, self.labels, "unknown_label"))

    def _type(self, name: Any) -> str:
        return self.dialect.type(_known(name, self.types, "unknown_type"))

    def _hops(self, least: Any, dots: Any, most: Any) -> str:
        """Write `*`, `*2`, `*1..3`; without a highest number the path is bounded by time alone, on every store."""
        if least and not dots:
            return f"*{least}"
        most = most or (LONGEST_PATH if self.cut else "")
        return f"*{least or ''}..{most}" if least or most else "*"

    def _property_name(self, name: Any) -> str:
        if _unquoted(name) not in self.map_keys:
            _known(name, self.properties, "query_unknown_property")
        return quote(self.dialect.stored_property(_unquoted(name)))

    # Expressions

    def _or(self, *parts: Any, word: str = "OR") -> str:
        return f" {word} ".join(self.truth(part, word) for part in parts)

    _xor = partialmethod(_or, word="XOR")
    _and = partialmethod(_or, word="AND")

    def _not(self, *parts: Any) -> str:
        return ("NOT NOT " if len(parts) % 2 else "NOT ") + self.truth(parts[-1], "NOT")

    def truth(self, value: Any, word: str, also: Kind = "boolean") -> str:
        """Write a condition, or an operand of OR, XOR, AND or NOT. Raise QueryRefused for another kind of value."""
        found = self.write(value)
        if self.kind(value) not in ("any", "boolean", also):
            self.breaks("no_condition", name=self.text_of(value), word=word)
        return found

    def _comparison(self, *parts: Any) -> str:
        """Write `1 < n.year <= 3` as two comparisons, since not every engine reads it."""
        # A predicate binds closer than `=`, which not every engine knows.
        operands = [f"({self.write(p)})" if p.data == "predicate" else self.write(p) for p in parts[::2]]
        pairs = [f"{operands[i]} {sign} {operands[i + 1]}" for i, sign in enumerate(parts[1::2])]
        return pairs[0] if len(pairs) == 1 else f"({' AND '.join(pairs)})"

    def _test(self, *parts: Any) -> str:
        words = " ".join(part.type for part in parts if hasattr(part, "type"))
        if words.startswith("IS"):
            return words
        found = self.write(parts[-1])
        if words == "IN" and found.startswith("[") and (self.kind(parts[-1]) != "list" or " IN " in found):
            found = f"({found})"  # The engine takes what follows `IN [` for a list of values.
        return f"{words} {found}"

    def _sum(self, *parts: Any) -> str:
        self.sums += len(parts) // 2
        if self.sums > MOST_SUMS:
            raise QueryRefused("too_large", "query_too_many_sums", most=MOST_SUMS)
        return self._product(*parts)

    def _product(self, *parts: Any) -> str:
        if any(part.data == "condition" for part in parts[::2]):
            self.breaks("pattern")
        return " ".join(part if isinstance(part, str) else self.write(part) for part in parts)

    def _signed(self, *parts: Any) -> str:
        return ("-" if parts.count("-") % 2 else "") + self.write(parts[-1])

    def _postfixed(self, value: Any, *suffixes: Any) -> str:
        found, kind = self.write(value), self.kind(value)
        for suffix in suffixes:
            if suffix.data == "field" and kind not in ("any", "node", "relationship", "map"):
                self.breaks("no_properties", name=found, was=kind)
            found, kind = found + self.write(suffix), "any"
        return found

    def _index(self, key: Any) -> str:
        """Write an index: a number, or the name of a property, which the store may keep under another."""
        if key.data == "text":
            return f"[{self.parameter(self.dialect.stored_property(self.unescaped(*key.children)))}]"
        found = self.write(key)
        return f"[{found if self.kind(key) == 'number' else self.dialect.property_named(found)}]"

    def _text(self, text: Any) -> str:
        return self.parameter(self.unescaped(text))

    def _number(self, text: Any) -> str:
        """Write a number as all engines read it: with a digit before the point, and not beyond the largest."""
        if math.isinf(float(text)):
            self.breaks("too_large", name=text)
        return f"0{text}" if text.startswith(".") else str(text)

    def _constant(self, word: Any) -> str:
        return str(word.type)

    def _variable(self, name: Any) -> str:
        if _unquoted(name).startswith("gw_"):
            raise _not_offered("gw_")
        return quote(_unquoted(name))

    def _comprehension(self, variable: Any, source: Any, where: Any, result: Any) -> str:
        element, listed, size = self.write(variable), self.write(source), self.size(source)
        with self.inner():
            self.variables[element] = _Variable("any", size)
            return f"[{element} IN {listed}{self.write(where)}{' | ' if result else ''}{self.write(result)}]"

    def _pattern_comprehension(self, chain: Any, where: Any, result: Any) -> str:
        with self.inner():
            return f"[{''.join(map(self.write, chain.children))}{self.write(where)} | {self.write(result)}]"

    def _entry(self, name: Any, value: Any) -> str:
        """Write an entry of a map, with its key renamed like a property: a query may ask either for a field."""
        self.map_keys.add(_unquoted(name))
        return f"{self._property_name(name)}: {self.write(value)}"

    def _map_projection(self, variable: Any, *parts: Any) -> str:
        return f"{self.write(variable)} {{{', '.join(map(self.write, parts))}}}"

    def _case(self, value: Any, *parts: Any) -> str:
        *whens, default = parts
        found = ("CASE " + self.write(value)).rstrip() + "".join(map(self.write, whens))
        return found + (f" ELSE {self.write(default)} END" if default else " END")

    def _subquery(self, word: Any, *parts: Any) -> str:
        if word.lower() == "collect":
            raise _not_offered("COLLECT {")
        with self.inner():
            return f"{word.upper()} {{ {' '.join(filter(None, map(self.write, parts)))} }}"

    def _quantifier(self, function: Any, variable: Any, source: Any, condition: Any) -> str:
        element, listed = self.write(variable), self.write(source)
        with self.inner():
            self.variables[element] = _Variable("any")
            return f"{function.lower()}({element} IN {listed} WHERE {self.write(condition)})"

    def _call(self, function: Any, distinct: Any, *arguments: Any) -> str:
        name = function.lower()
        if name in TEMPORAL_FUNCTIONS:
            return self.temporal(function, arguments)
        if name not in FUNCTIONS:
            raise _not_offered(f"{function}()")
        star = bool(arguments) and arguments[0].data == "star"
        if (distinct and name not in AGGREGATES) or (star and name != "count"):
            raise _syntax(self.query, function.end_pos + 1)
        if name in AGGREGATES:
            return self.aggregate(name, "DISTINCT " if distinct else "", arguments)
        if len(arguments) == 1:
            kind = self.kind(arguments[0])
            if kind not in ("any", *ARGUMENTS.get(name, (kind,))):
                self.breaks("argument", name=f"{name}()", was=kind)
            if arguments[0].data == "condition" and name == "size":
                raise _not_offered("size()")
            if arguments[0].data == "condition" and name == "exists":
                return f"EXISTS {{ {self.write(arguments[0])} }}"
        if name == "range":
            for argument in arguments:
                self.check_bound(argument)
        called = f"{name}({', '.join(map(self.write, arguments))})"
        own = {"labels": self.dialect.own_labels, "type": self.dialect.own_type, "keys": self.dialect.own_keys}
        return own.get(name, str)(called)

    def temporal(self, function: Any, arguments: Sequence[Any]) -> str:
        """Pass `date('2001-04-25')` as a parameter: a store may have another form for dates."""
        if len(arguments) != 1 or arguments[0].data != "text":
            raise QueryRefused("query_error", "query_temporal", name=str(function))
        try:
            value = read_temporal(self.unescaped(*arguments[0].children), TEMPORAL_FUNCTIONS[function.lower()])
        except ValueError as error:
            raise QueryRefused("query_error", "query_error", problem=str(error)) from None
        return self.parameter(value)

    def aggregate(self, name: str, distinct: str, arguments: Sequence[Any]) -> str:
        if not self.aggregates:
            self.breaks("aggregate", name=f"{name}()")
        self.aggregates, self.aggregated = False, True
        found = ", ".join(map(self.write, arguments))
        self.aggregates = True
        return f"{name}({distinct}{found})"

    def check_bound(self, tree: Any) -> None:
        """Raise QueryRefused unless a bound of a range is a small number, the size or length of something, or a sum."""
        if tree.data in ("sum", "signed"):
            for part in tree.children:
                if not isinstance(part, str):
                    self.check_bound(part)
        elif tree.data == "number" and tree.children[0].type == "INTEGER":
            if float(tree.children[0]) > LARGEST_RANGE:
                raise QueryRefused("too_large", "query_large_range", largest=LARGEST_RANGE)
        elif tree.data != "call" or tree.children[0].lower() not in ("size", "length"):
            raise _not_offered("range()")

    # Names, values and rules

    def parameter(self, value: str | Temporal) -> str:
        """Pass a text, date or time as a parameter; the same one stays the same, so that equal expressions do."""
        return f"${self.parameters.setdefault(value, f'gw_t{len(self.parameters)}')}"

    def unescaped(self, text: Any) -> str:
        def character(escape: re.Match[str]) -> str:
            code = escape[1]
            number = int(code[1:], 16) if len(code) > 1 else 0xD800
            if code not in _ESCAPES and (number > 0x10FFFF or 0xD800 <= number < 0xE000):
                raise _syntax(self.query, text.start_pos)
            return _ESCAPES.get(code) or chr(number)

        return _ESCAPE.sub(character, text[1:-1])

    def text_of(self, tree: Any) -> str:
        return self.query[tree.meta.start_pos : tree.meta.end_pos]

    def kind(self, tree: Any) -> Kind:
        """Return the kind of a literal or a variable; "any" for all other expressions."""
        if tree.data == "group":
            return self.kind(tree.children[0])
        if tree.data == "variable":
            return self.variables.get(self.write(tree), _Variable("any")).kind
        if tree.data == "constant":
            return "any" if tree.children[0].type == "NULL" else "boolean"
        return "list" if tree.data.endswith("comprehension") else _LITERALS.get(tree.data, "any")

    def size(self, tree: Any) -> int:
        """Return how large the value of an expression may be. Raise QueryRefused if that is too large."""
        sizes = [self.variables.get(self.write(v), _Variable("any")).size for v in tree.find_data("variable")]
        literals = sum(1 for _ in tree.find_pred(lambda part: part.data in ("constant", "number", "text")))
        found: int = max(1, sum(sizes) + literals) * LOOP_COPIES ** _loops(tree)
        if found > MOST_COPIES:
            raise QueryRefused("too_large", "query_too_many_copies")
        return found

    @contextmanager
    def inner(self) -> Iterator[None]:
        """Open the scope of a subquery or a list: its variables end with it, and it has no aggregates of its own."""
        kept = self.variables, self.walked, self.binds, self.aggregates, self.aggregated, self.ordered
        self.variables, self.walked, self.binds, self.aggregates = dict(self.variables), [], True, False
        yield
        self.variables, self.walked, self.binds, self.aggregates, self.aggregated, self.ordered = kept

    def breaks(self, rule: str, **values: str) -> NoReturn:
        """Raise QueryRefused for a rule of Cypher, with the name of the rule in the message `query_rule`."""
        named = {name: value.strip("`") for name, value in values.items()}
        raise QueryRefused("query_error", "query_rule", rule=rule, **named)


def _unquoted(name: str) -> str:
    return name[1:-1].replace("``", "`") if name.startswith("`") else str(name)


def _known(name: str, names: Sequence[str], message: str) -> str:
    """Return a name of the graph. Raise QueryRefused for others: an engine would find nothing, without a reason."""
    if _unquoted(name) not in names:
        raise QueryRefused("unknown_name", message, name=_unquoted(name), names=names)
    return _unquoted(name)
