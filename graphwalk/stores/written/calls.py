"""Calls of functions, and conditions on lists and patterns: `labels(n)`, `any(x IN …)`, `EXISTS { … }`."""

from abc import abstractmethod

from graphwalk.stores.written.patterns import Patterns
from graphwalk.stores.written.refusal import QueryRefused, not_offered
from graphwalk.stores.written.words import FUNCTIONS, LARGEST_RANGE, QUANTIFIERS, SUBQUERIES


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
        if name.lower() not in FUNCTIONS | QUANTIFIERS:
            raise not_offered(f"{name}()")
        self.at += steps + 1
        return self._called(name.lower())

    def _called(self, name: str) -> str:
        """The call, whose opening bracket is behind us."""
        if name in QUANTIFIERS:
            listed = f"{self.variable()} {self.expect_words('in')} {self.expression()}"
            return f"{name}({listed} {self.expect_words('where')} {self.expression()}{self.expect(')')}"
        if name in ("size", "exists") and self.is_pattern():
            word = "COUNT" if name == "size" else "EXISTS"
            pattern = self.chain()
            self.expect(")")
            return f"{word} {{ {pattern} }}"
        if name == "range":
            return f"range({self._bounds()}{self.expect(')')}"
        if name == "count" and self.took_symbol("*"):
            return f"count(*{self.expect(')')}"
        distinct = "DISTINCT " if self.took_words("distinct") else ""
        called = f"{name}({distinct}{self.expressions(')')}{self.expect(')')}"
        own = {"labels": self.dialect.own_labels, "type": self.dialect.own_type, "keys": self.dialect.own_keys}
        return own.get(name, str)(called)

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
