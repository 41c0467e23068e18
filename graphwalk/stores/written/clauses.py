"""Clauses: MATCH, UNWIND, WITH, RETURN, and UNION between whole queries."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from graphwalk.stores.written.bindings import Kind
from graphwalk.stores.written.expressions import Expressions

Projecting = Literal["with", "return", "inner"]
"""Which clause names columns: WITH, the last RETURN, or one within a subquery."""


@dataclass(frozen=True, slots=True)
class Item:
    """One column, or `*`: its expression, its name as the model knows it and in the query that is sent, and what it
    stands for."""

    text: str
    name: str
    column: str
    kinds: Mapping[str, Kind]
    copies: Mapping[str, int]

    @property
    def names(self) -> list[str]:
        return [name[1:-1].replace("``", "`") for name in self.kinds] if self.text == "*" else [self.name]

    @property
    def written(self) -> str:
        return self.text if self.text == "*" else f"{self.text} AS {self.column}"


class Clauses(Expressions):
    columns: dict[str, str]
    """Name in the query that is sent → name that the query as written gives the column."""
    ordered = False
    sorted_rows = False
    """The clause before this one was a WITH that put the rows in an order."""

    def whole(self) -> str:
        """The whole text, which must be one query."""
        self.columns = {}
        first, names = self._single()
        found = [first]
        unions = set()
        while self.took_words("union"):
            unions.add(word := "UNION ALL" if self.took_words("all") else "UNION")
            single, others = self._single()
            if len(unions) > 1 or names != others:
                self.breaks("unions" if len(unions) > 1 else "union_columns")
            found += [word, single]
        if self.took_symbol(";") and self.here.kind != "end":
            self.refuse()
        if self.here.kind != "end":
            self.refuse()
        self.ordered = self.ordered and len(found) == 1
        return " ".join(found)

    def matches(self) -> str:
        """The inside of `EXISTS { … }`: a pattern, or clauses whose RETURN, where there is one, is the last."""
        if self.is_symbol("(") or self.is_symbol("=", steps=1):
            return self._matched()
        clauses = []
        while not self.is_symbol("}"):
            clauses.append(f"RETURN {self._projection('inner')[0]}" if self.took_words("return") else self._clause())
        return " ".join(clauses)

    def _single(self) -> tuple[str, list[str]]:
        """A query without UNION, and the names of its columns."""
        self.kinds, self.copies, self.walked, self.sorted_rows = {}, {}, [], False
        found = []
        while not self.took_words("return"):
            found.append(self._clause())
        projection, names = self._projection("return")
        return " ".join([*found, f"RETURN {projection}"]), sorted(names)

    def _clause(self) -> str:
        """One clause before RETURN."""
        self.sorted_rows = False
        if self.took_words("match"):
            return f"MATCH {self._matched()}"
        if self.took_words("optional", "match"):
            return f"OPTIONAL MATCH {self._matched()}"
        if self.took_words("unwind"):
            found, size = self._sized()
            found = f"UNWIND {found} {self.expect_words('as')} {(name := self.variable())}"
            self.kinds[name], self.copies[name] = "any", size
            return found
        if self.took_words("with"):
            return self._with()
        return self.refuse()

    def _with(self) -> str:
        before = self.kinds
        found, _ = self._projection("with")
        after = self.kinds
        self.kinds = before | after  # WHERE sees both
        found = f"WITH {found}{self.where()}"
        self.kinds = after
        return found

    def _matched(self) -> str:
        self.walked = []
        return self.patterns() + self.where()

    def _projection(self, clause: Projecting) -> tuple[str, list[str]]:
        """What WITH and RETURN have behind them, and the names of the columns."""
        self.aggregates, self.aggregated = True, False
        distinct = self.took_words("distinct")
        items = [self._star(clause)] if self.took_symbol("*") else [self._item(clause)]
        while self.took_symbol(","):
            items.append(self._item(clause))
        columns = [name for item in items for name in item.names]
        if twice := next((name for name, times in Counter(columns).items() if times > 1), None):
            self.breaks("twice", name=twice)
        found = ("DISTINCT " if distinct else "") + ", ".join(item.written for item in items)
        order = self._order({item.text: item.column for item in items})
        kept = self.sorted_rows and not distinct and not self.aggregated
        self.sorted_rows = bool(order)
        if clause == "return":
            self.ordered = bool(order) or kept
        self.aggregates = False
        if self.took_words("skip") or self.took_words("offset"):
            found += f"{order} SKIP {self.expression()}"
            order = ""
        found += order + (f" LIMIT {self.expression()}" if self.took_words("limit") else "")
        if clause == "with":
            self.kinds = {name: kind for item in items for name, kind in item.kinds.items()}
            self.copies = {name: size for item in items for name, size in item.copies.items()}
        return found, columns

    def _star(self, clause: Projecting) -> Item:
        if clause == "return" and not self.kinds:
            self.breaks("no_variables")
        return Item("*", "", "*", self.kinds, self.copies)

    def _item(self, clause: Projecting) -> Item:
        """An expression, and its name in the result. One without a name is given one that we know: engines differ."""
        begin, pattern = self.at, self.is_pattern()
        found, size = self._sized()
        if pattern and self.chained == (begin, self.at):
            self.breaks("pattern")
        kind = self.kind(begin, self.at)
        text = self.query[self.tokens[begin].at : self.tokens[self.at - 1].end]
        if self.took_words("as"):
            column = self.variable()
            return Item(found, self.tokens[self.at - 1].value, column, {column: kind}, {column: size})
        if found.startswith("`") and self.at == begin + 1:
            return Item(found, self.tokens[begin].value, found, {found: kind}, {found: size})
        if clause == "with":
            self.breaks("no_name", name=text)
        column = next((name for name, known in self.columns.items() if known == text), f"gw_{len(self.columns)}")
        self.columns[column] = text
        return Item(found, text, self.quoted(column), {}, {})

    def _sized(self) -> tuple[str, int]:
        """An expression, and how large its value may be."""
        begin, outer = self.at, self.most_loops
        self.most_loops = self.loops
        found = self.expression()
        size = self.copied(begin, self.at)
        self.most_loops = max(outer, self.most_loops)
        return found, size

    def _order(self, columns: Mapping[str, str]) -> str:
        """ORDER BY, where it stands here; what is a column already is named as such."""
        if not self.took_words("order", "by"):
            return ""
        orders = [self._ordering(columns)]
        while self.took_symbol(","):
            orders.append(self._ordering(columns))
        return " ORDER BY " + ", ".join(orders)

    def _ordering(self, columns: Mapping[str, str]) -> str:
        found = self.expression()
        found = columns.get(found) or found
        if self.took_words("desc") or self.took_words("descending"):
            return f"{found} DESC"
        if not self.took_words("asc"):
            self.took_words("ascending")
        return found
