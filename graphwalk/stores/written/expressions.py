"""Expressions, from OR down to single values."""

from collections.abc import Callable

from graphwalk.stores.written.calls import Calls
from graphwalk.stores.written.refusal import QueryRefused, not_offered
from graphwalk.stores.written.words import MOST_SUMS

_COMPARISONS = ("=", "<>", "<", ">", "<=", ">=")
_CONSTANTS = ("true", "false", "null")


class Expressions(Calls):
    sums = 0

    def expression(self) -> str:
        return self._joined("or", lambda: self._joined("xor", lambda: self._joined("and", self._negation)))

    def _joined(self, word: str, part: Callable[[], str]) -> str:
        found = part()
        while self.took_words(word):
            found += f" {word.upper()} {part()}"
        return found

    def _negation(self) -> str:
        found = ""
        while self.took_words("not"):
            found += "NOT "
        return found + self._comparison()

    def _comparison(self) -> str:
        found = self._sum()
        while True:
            if self.is_symbol("=~"):
                raise not_offered("=~")
            if self.is_symbol(*_COMPARISONS):
                found += f" {self.take().value} {self._sum()}"
            elif self.took_words("in"):
                found += f" IN {self._sum()}"
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
                return found

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
            found = "" if self.take().value == "+" else ("-" if found == "" else "")
        return found + self._postfixed()

    def _postfixed(self) -> str:
        found = self._value()
        while True:
            if self.is_symbol(".") and self.ahead().kind in ("name", "quoted"):
                self.take()
                found += f".{self.property_name()}"
            elif self.took_symbol("["):
                found += f"[{self._index()}{self.expect(']')}"
            elif self.took_symbol(":"):
                found = f"({found}{self.label_predicate()})"
            elif self.is_symbol("{") and found.endswith("`"):
                found += f" {self._projection_map()}"
            else:
                return found

    def _index(self) -> str:
        """`2`, `1..3`, `..3`, `'name'`."""
        found = "" if self.is_symbol("..") else self.expression()
        if self.took_symbol(".."):
            found += ".." + ("" if self.is_symbol("]") else self.expression())
        return found

    def _value(self) -> str:
        token = self.here
        if token.kind == "text":
            return self.parameter(self.take().value)
        if token.kind == "number":
            return self.take().value
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
            return self.chain()
        if self.took_symbol("("):
            return f"({self.expression()}{self.expect(')')}"
        return self.variable()

    def _list(self) -> str:
        """A list, `[x IN list WHERE … | …]`, or `[(a)-->(b) WHERE … | …]`."""
        self.expect("[")
        if self.is_pattern():
            found = self.chain()
        elif self.here.kind in ("name", "quoted") and self.is_word("in", steps=1):
            found = f"{self.variable()} {self.expect_words('in')} {self.expression()}"
        else:
            return f"[{self.expressions(']')}{self.expect(']')}"
        if self.took_words("where"):
            found += f" WHERE {self.expression()}"
        if self.took_symbol("|"):
            found += f" | {self.expression()}"
        return f"[{found}{self.expect(']')}"

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
