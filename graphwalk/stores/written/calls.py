"""Calls of functions, and conditions on lists and patterns: `labels(n)`, `any(x IN …)`, `EXISTS { … }`."""

from abc import abstractmethod
from contextlib import nullcontext

from graphwalk.stores.written.patterns import Patterns
from graphwalk.stores.written.refusal import QueryRefused, not_offered
from graphwalk.stores.written.words import (
    AGGREGATES,
    ARGUMENTS,
    FUNCTIONS,
    LARGEST_RANGE,
    QUANTIFIERS,
    SUBQUERIES,
    TEMPORALS,
)
from graphwalk.types.temporals import read_temporal


class Calls(Patterns):
    @abstractmethod
    def matches(self) -> str:
        """The clauses of a subquery."""

    def expressions(self, closing: str) -> str:
        """Any number of expressions with commas between them, up to `closing`."""
        found = []
        while not self.is_symbol(closing):
            found.append(self.expression())
            if not self.took_symbol(","):
                break
        return ", ".join(found)

    def subquery(self) -> str | None:
        """`EXISTS { … }` and `COUNT { … }`; None where something else stands here."""
        if not (self.is_word(*SUBQUERIES) and self.is_symbol("{", steps=1)):
            return None
        word = self.take().value.upper()
        if word == "COLLECT":
            raise not_offered("COLLECT {")
        with self.inner():
            return f"{word} {self.expect('{')} {self.matches()} {self.expect('}')}"

    def call(self) -> str | None:
        """A function that is offered; None where no function is called."""
        if self.here.kind not in ("name", "quoted"):
            return None
        steps = 1
        while self.is_symbol(".", steps=steps) and self.ahead(steps + 1).kind in ("name", "quoted"):
            steps += 2
        if not self.is_symbol("(", steps=steps):
            return None
        if self.is_word("shortestpath", "allshortestpaths"):
            raise not_offered("shortestPath")
        if self.is_word("not"):
            self.refuse()
        name = self.query[self.here.at : self.ahead(steps - 1).end]
        if name.lower() in TEMPORALS:
            self.at += steps + 1
            return self._temporal(name)
        if name.lower() not in FUNCTIONS | QUANTIFIERS:
            raise not_offered(f"{name}()")
        self.at += steps + 1
        return self._called(name.lower())

    def _temporal(self, name: str) -> str:
        """`date('2001-04-25')`: a value like any text, since stores that know no dates keep them in their own way."""
        if self.here.kind != "text" or not self.is_symbol(")", steps=1):
            raise QueryRefused("query_error", "query_temporal", name=name)
        try:
            value = read_temporal(self.take().value, TEMPORALS[name.lower()])
        except ValueError as error:
            raise QueryRefused("query_error", "query_error", problem=str(error)) from None
        self.expect(")")
        return self.parameter(value)

    def _called(self, name: str) -> str:
        """The call, whose opening bracket is behind us."""
        if name in QUANTIFIERS:
            listed, element = self.listed()
            with self.inner(), self.loop():
                self.kinds[element] = "any"
                return f"{name}({listed} {self.expect_words('where')} {self.expression()}{self.expect(')')}"
        if name == "size" and self.is_pattern():
            raise not_offered("size()")
        if name == "exists" and self.is_pattern():
            pattern = self.condition()
            self.expect(")")
            return f"EXISTS {{ {pattern} }}"
        if name == "range":
            return f"range({self._bounds()}{self.expect(')')}"
        if name in AGGREGATES:
            return self._aggregate(name)
        begin = self.at
        called = f"{name}({self.expressions(')')}"
        kind = self.kind(begin, self.at) if self.at > begin else "any"
        if kind not in ("any", *ARGUMENTS.get(name, (kind,))):
            self.breaks("argument", name=f"{name}()", was=kind)
        called += self.expect(")")
        own = {"labels": self.dialect.own_labels, "type": self.dialect.own_type, "keys": self.dialect.own_keys}
        return own.get(name, str)(called)

    def _aggregate(self, name: str) -> str:
        if not self.aggregates:
            self.breaks("aggregate", name=f"{name}()")
        self.aggregates, self.aggregated = False, True
        distinct = "DISTINCT " if self.took_words("distinct") else ""
        with self.loop() if name == "collect" else nullcontext():
            of = "*" if name == "count" and self.took_symbol("*") else self.expressions(")")
        self.aggregates = True
        return f"{name}({distinct}{of}{self.expect(')')}"

    def listed(self) -> tuple[str, str]:
        """`x IN list`, and x."""
        element = self.variable()
        return f"{element} {self.expect_words('in')} {self.expression()}", element

    def _bounds(self) -> str:
        """The numbers of a range: small ones, or what size and length say of something that is there."""
        found = []
        while not self.is_symbol(")"):
            if self.is_symbol(",", "+", "-"):
                found.append(self.take().value)
            elif self.here.kind == "number" and self.here.value.isdecimal():
                if len(self.here.value) > 9 or int(self.here.value) > LARGEST_RANGE:
                    raise QueryRefused("too_large", "query_large_range", largest=LARGEST_RANGE)
                found.append(self.take().value)
            elif self.is_word("size", "length") and (called := self.call()) is not None:
                found.append(called)
            else:
                raise not_offered("range()")
        return " ".join(found)
