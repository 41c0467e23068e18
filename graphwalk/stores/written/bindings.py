"""What the variables of a query stand for, as far as its text tells: enough to find common mistakes in it.

The embedded engine answers many queries that break a rule of openCypher; here both engines get the same refusal.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal, NoReturn

from graphwalk.stores.written.cursor import Cursor
from graphwalk.stores.written.refusal import QueryRefused
from graphwalk.stores.written.words import DEEPEST_LOOP, LOOP_COPIES, MOST_COPIES

Kind = Literal["node", "relationship", "path", "list", "map", "number", "text", "boolean", "any"]
_LITERALS: dict[str, Kind] = {"text": "text", "number": "number"}


class Bindings(Cursor):
    kinds: dict[str, Kind]
    """Variable, in back-ticks → what it stands for; "any": not known."""
    walked: list[str]
    """Variables of relationships in the MATCH that is read."""
    copies: dict[str, int]
    """Variable, in back-ticks → how large its value may be by the text of the query; else 1, as those of patterns."""
    loops = 0
    """Lists that are being built or looked through, one within another."""
    most_loops = 0
    """The most of them in the expression that is read."""
    new = True
    """Whether a pattern may bring new variables."""
    aggregates = False
    """Whether an aggregate may stand here."""
    aggregated = False
    """Whether one did."""

    def bind(self, name: str, kind: Kind) -> None:
        """A variable in a pattern. QueryRefused where it stands for something else, or cannot be new here."""
        before = self.kinds.get(name)
        if before is None and not self.new:
            self.breaks("new_variable", name=name)
        if before not in (None, "any", kind) or (before is not None and kind == "path"):
            self.breaks("two_kinds", name=name, was=before, now=kind)
        if kind == "relationship":
            if name in self.walked:
                self.breaks("walked_twice", name=name)
            self.walked.append(name)
        self.kinds[name] = kind

    def kind(self, begin: int, end: int) -> Kind:
        """What the expression of these tokens gives: that of a literal or a variable; "any" for all others."""
        token = self.tokens[begin]
        if token.kind == "symbol" and self.partner.get(begin) == end - 1:
            if token.value == "(":
                return self.kind(begin + 1, end - 1)
            return "list" if token.value == "[" else "map"
        if end - begin != 1:
            return "any"
        if token.kind == "name" and token.value.lower() in ("true", "false"):
            return "boolean"
        if token.kind in ("name", "quoted"):
            return self.kinds.get(self.quoted(token.value), "any")
        return _LITERALS.get(token.kind, "any")

    @contextmanager
    def inner(self) -> Iterator[None]:
        """For a subquery or a list: what is bound in it is not bound behind it, and no aggregate stands in it."""
        kept = self.kinds, self.copies, self.walked, self.new, self.aggregates
        self.kinds, self.copies, self.walked = dict(self.kinds), dict(self.copies), []
        self.new, self.aggregates = True, False
        yield
        self.kinds, self.copies, self.walked, self.new, self.aggregates = kept

    @contextmanager
    def loop(self) -> Iterator[None]:
        """For what is done with each element of a list, or each row of a group. QueryRefused where they are nested."""
        self.loops += 1
        self.most_loops = max(self.most_loops, self.loops)
        if self.loops > DEEPEST_LOOP:
            raise QueryRefused("too_large", "query_too_many_loops", deepest=DEEPEST_LOOP)
        yield
        self.loops -= 1

    def copied(self, begin: int, end: int) -> int:
        """How large the value of the expression of these tokens may be. QueryRefused where that is too large."""
        parts = (token for token in self.tokens[begin:end] if token.kind != "symbol")
        sizes = (self.copies.get(self.quoted(t.value), 1) if t.kind in ("name", "quoted") else 1 for t in parts)
        found: int = max(1, sum(sizes)) * LOOP_COPIES**self.most_loops
        if found > MOST_COPIES:
            raise QueryRefused("too_large", "query_too_many_copies")
        return found

    @contextmanager
    def known_only(self) -> Iterator[None]:
        """For a pattern that is a condition: all its variables are bound already."""
        kept, self.new, self.walked = (self.new, self.walked), False, []
        yield
        self.new, self.walked = kept

    def breaks(self, rule: str, **values: str | None) -> NoReturn:
        """QueryRefused for a rule of Cypher, with the name of the rule in the message `query_rule`."""
        shown = {name: value.strip("`") if value else "" for name, value in values.items()}
        raise QueryRefused("query_error", "query_rule", rule=rule, **shown)
