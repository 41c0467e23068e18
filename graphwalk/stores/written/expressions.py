"""Expressions, from OR down to single values."""

import math
from collections.abc import Callable
from typing import NoReturn

from graphwalk.stores.written.calls import Calls
from graphwalk.stores.written.refusal import QueryRefused, not_offered
from graphwalk.stores.written.words import DEEPEST_EXPRESSION, MOST_SUMS

_COMPARISONS = ("=", "<>", "<", ">", "<=", ">=")
_CONSTANTS = ("true", "false", "null")


class Expressions(Calls):
    sums = 0

    depth = 0

    def expression(self) -> str:
        self.depth += 1
        if self.depth > DEEPEST_EXPRESSION:
            raise QueryRefused("too_large", "query_too_deep", deepest=DEEPEST_EXPRESSION)
        found = self._joined("or", lambda: self._joined("xor", lambda: self._joined("and", self._negation)))
        self.depth -= 1
        return found

    def where(self) -> str:
        """WHERE and its condition, where it stands here; else ""."""
        if not self.took_words("where"):
            return ""
        kept, self.aggregates = self.aggregates, False
        begin = self.at
        found = f" WHERE {self.expression()}"
        self.aggregates = kept
        if self.kind(begin, self.at) in ("node", "relationship", "path", "map", "number", "text"):
            self._no_condition(begin, "WHERE")
        return found

    def _joined(self, word: str, part: Callable[[], str]) -> str:
        begin = self.at
        found = part()
        while self.is_word(word):
            self._check_condition(begin, word)
            self.take()
            begin = self.at
            found += f" {word.upper()} {part()}"
            self._check_condition(begin, word)
        return found

    def _negation(self) -> str:
        times = 0
        while self.took_words("not"):
            times += 1
        begin = self.at
        found = self._comparison()
        if times:
            self._check_condition(begin, "not")
        return ("" if not times else "NOT " if times % 2 else "NOT NOT ") + found

    def _check_condition(self, begin: int, word: str) -> None:
        """QueryRefused where what was read from `begin` on is plainly neither true nor false."""
        if self.kind(begin, self.at) not in ("any", "boolean"):
            self._no_condition(begin, word.upper())

    def _no_condition(self, begin: int, word: str) -> NoReturn:
        text = self.query[self.tokens[begin].at : self.tokens[self.at - 1].end]
        self.breaks("no_condition", name=text, word=word)

    def _comparison(self) -> str:
        """`1 < n.year <= 3` means that both hold, and is written so: not every engine reads it."""
        found = [self._predicate()]
        operators: list[str] = []
        while self.is_symbol(*_COMPARISONS):
            operators.append(self.take().value)
            found.append(self._predicate())
        if not operators:
            return found[0][0]
        # A predicate binds closer than `=`, which not every engine knows.
        operands = [f"({text})" if predicate else text for text, predicate in found]
        pairs = [f"{operands[i]} {sign} {operands[i + 1]}" for i, sign in enumerate(operators)]
        return pairs[0] if len(pairs) == 1 else f"({' AND '.join(pairs)})"

    def _predicate(self) -> tuple[str, bool]:
        """A sum, and what is asked about it: `IN …`, `CONTAINS …`, `IS NULL`; whether something is asked."""
        first = found = self._sum()
        while True:
            if self.is_symbol("=~"):
                raise not_offered("=~")
            if self.took_words("in"):
                found += f" IN {self._members()}"
            elif self.took_words("contains"):
                found += f" CONTAINS {self._sum()}"
            elif self.took_words("starts", "with"):
                found += f" STARTS WITH {self._sum()}"
            elif self.took_words("ends", "with"):
                found += f" ENDS WITH {self._sum()}"
            elif self.took_words("is", "not", "null"):
                found += " IS NOT NULL"
            elif self.took_words("is", "null"):
                found += " IS NULL"
            else:
                return found, found != first

    def _members(self) -> str:
        """The list behind IN. The engine reads nothing else that begins with a square bracket."""
        begin = self.at
        found = self._sum()
        plain = not found.startswith("[") or (self.kind(begin, self.at) == "list" and " IN " not in found)
        return found if plain else f"({found})"

    def _sum(self) -> str:
        found = self._product()
        while self.is_symbol("+", "-") and not (self.is_symbol("-") and self.is_symbol(">", steps=1)):
            self.sums += 1
            if self.sums > MOST_SUMS:
                raise QueryRefused("too_large", "query_too_many_sums", most=MOST_SUMS)
            found += f" {self.take().value} {self._product()}"
        return found

    def _product(self) -> str:
        found = self._signed()
        while self.is_symbol("*", "/", "%", "^"):
            found += f" {self.take().value} {self._signed()}"
        return found

    def _signed(self) -> str:
        found = ""
        while self.is_symbol("+", "-"):
            if self.take().value == "-":
                found = "" if found else "-"
        return found + self._postfixed()

    def _postfixed(self) -> str:
        begin = self.at
        found = self._value()
        while True:
            if self.is_symbol(".") and self.ahead().kind in ("name", "quoted"):
                if (kind := self.kind(begin, self.at)) not in ("any", "node", "relationship", "map"):
                    self.breaks("no_properties", name=found, was=kind)
                self.take()
                found += f".{self.property_name()}"
            elif self.took_symbol("["):
                found += f"[{self._index()}{self.expect(']')}"
            elif self.took_symbol(":"):
                found += self.label_predicate()
            elif self.is_symbol("{") and found.endswith("`"):
                found += f" {self._projection_map()}"
            else:
                return found

    def _index(self) -> str:
        """`2`, `1..3`, `..3`, `'name'`; a name is that of a property, which the store may keep under another."""
        begin = self.at
        found = "" if self.is_symbol("..") else self.expression()
        if self.took_symbol(".."):
            return found + ".." + ("" if self.is_symbol("]") else self.expression())
        token = self.tokens[begin]
        if self.kind(begin, self.at) == "number":
            return found
        if self.kind(begin, self.at) == "text":
            return self.parameter(self.dialect.stored_property(token.value))
        return self.dialect.property_named(found)

    def _value(self) -> str:
        token = self.here
        if token.kind == "text":
            return self.parameter(self.take().value)
        if token.kind == "number":
            return self._number()
        if self.is_word(*_CONSTANTS):
            return self.take().value.upper()
        if self.is_symbol("["):
            return self._list()
        if self.is_symbol("{"):
            return self._map()
        if self.is_word("case") and not self.is_symbol(".", ",", ")", steps=1):
            return self._case()
        if (subquery := self.subquery()) is not None:
            return subquery
        if (called := self.call()) is not None:
            return called
        if self.is_pattern():
            return self.condition()
        if self.took_symbol("("):
            return f"({self.expression()}{self.expect(')')}"
        return self.variable()

    def _number(self) -> str:
        """As all engines read it: with a digit before the point, and not beyond the largest."""
        text = self.take().value
        if math.isinf(float(text)):
            self.breaks("too_large", name=text)
        return f"0{text}" if text.startswith(".") else text

    def _list(self) -> str:
        """A list, `[x IN list WHERE … | …]`, or `[(a)-->(b) WHERE … | …]`."""
        self.expect("[")
        if self.is_pattern():
            with self.inner(), self.loop():
                return f"[{self.chain()}{self._taken()}"
        if self.here.kind in ("name", "quoted") and self.is_word("in", steps=1):
            begin = self.at
            found, element = self.listed()
            size = self.copied(begin, self.at)
            with self.inner(), self.loop():
                self.kinds[element], self.copies[element] = "any", size
                return f"[{found}{self._taken()}"
        return f"[{self.expressions(']')}{self.expect(']')}"

    def _taken(self) -> str:
        """What stands behind the source of a list: ` WHERE … | …]`."""
        found = self.where()
        if self.took_symbol("|"):
            found += f" | {self.expression()}"
        return found + self.expect("]")

    def _map(self) -> str:
        self.expect("{")
        found = []
        while not self.is_symbol("}"):
            found.append(f"{self.map_key()}{self.expect(':')} {self.expression()}")
            if not self.took_symbol(","):
                break
        return "{" + ", ".join(found) + self.expect("}")

    def _projection_map(self) -> str:
        """What stands behind `n` in `n {.key, .*, films: …}`."""
        self.expect("{")
        found = []
        while not self.is_symbol("}"):
            if self.took_symbol("."):
                found.append("." + (self.take().value if self.is_symbol("*") else self.property_name()))
            else:
                found.append(f"{self.map_key()}{self.expect(':')} {self.expression()}")
            if not self.took_symbol(","):
                break
        return "{" + ", ".join(found) + self.expect("}")

    def _case(self) -> str:
        found = self.expect_words("case")
        if not self.is_word("when"):
            found += f" {self.expression()}"
        while self.took_words("when"):
            found += f" WHEN {self.expression()} {self.expect_words('then')} {self.expression()}"
        if self.took_words("else"):
            found += f" ELSE {self.expression()}"
        return f"{found} {self.expect_words('end')}"
