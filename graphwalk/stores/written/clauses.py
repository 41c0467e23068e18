"""Clauses: MATCH, UNWIND, WITH, RETURN, and UNION between whole queries."""

from collections.abc import Mapping

from graphwalk.stores.written.expressions import Expressions


class Clauses(Expressions):
    columns: dict[str, str]
    """Name in the query that is sent → name that the query as written gives the column."""
    ordered = False

    def whole(self) -> str:
        """The whole text, which must be one query."""
        self.columns = {}
        found = [self._single()]
        while self.took_words("union"):
            found.append("UNION ALL" if self.took_words("all") else "UNION")
            found.append(self._single())
        if self.took_symbol(";") and self.here.kind != "end":
            self.refuse()
        if self.here.kind != "end":
            self.refuse()
        self.ordered = self.ordered and len(found) == 1
        return " ".join(found)

    def matches(self) -> str:
        """The inside of `EXISTS { … }`: a pattern, or clauses whose RETURN, where there is one, is the last."""
        if self.is_symbol("(") or self.is_symbol("=", steps=1):
            found = self.patterns()
            return f"{found} WHERE {self.expression()}" if self.took_words("where") else found
        clauses = []
        while not self.is_symbol("}"):
            clauses.append(f"RETURN {self._projection(named=False)}" if self.took_words("return") else self._clause())
        return " ".join(clauses)

    def _single(self) -> str:
        found = []
        while not self.took_words("return"):
            found.append(self._clause())
        return " ".join([*found, f"RETURN {self._projection(named=True)}"])

    def _clause(self) -> str:
        """One clause before RETURN."""
        if self.took_words("match"):
            return f"MATCH {self._matched()}"
        if self.took_words("optional", "match"):
            return f"OPTIONAL MATCH {self._matched()}"
        if self.took_words("unwind"):
            return f"UNWIND {self.expression()} {self.expect_words('as')} {self.variable()}"
        if self.took_words("with"):
            found = f"WITH {self._projection(named=False)}"
            return f"{found} WHERE {self.expression()}" if self.took_words("where") else found
        return self.refuse()

    def _matched(self) -> str:
        found = self.patterns()
        return f"{found} WHERE {self.expression()}" if self.took_words("where") else found

    def _projection(self, *, named: bool) -> str:
        """What WITH and RETURN have behind them; `named`: every column of the result gets a name that we know."""
        found = "DISTINCT " if self.took_words("distinct") else ""
        items = [("*", "")] if self.took_symbol("*") else [self._item(0, named)]
        while self.took_symbol(","):
            items.append(self._item(len(items), named))
        found += ", ".join(f"{item} AS {column}" if column else item for item, column in items)
        order = self._order(dict(items))
        found += order
        self.ordered = bool(order) if named else self.ordered
        if self.took_words("skip") or self.took_words("offset"):
            found += f" SKIP {self.expression()}"
        return f"{found} LIMIT {self.expression()}" if self.took_words("limit") else found

    def _item(self, number: int, named: bool) -> tuple[str, str]:
        """An expression, and its name in the result; "" where it is one."""
        begin = self.here.at
        found = self.expression()
        text = self.query[begin : self.tokens[self.at - 1].end]
        if self.took_words("as"):
            return found, self.variable()
        if not named or self.tokens[self.at - 1].at == begin:
            return found, found if found.startswith("`") else ""  # engines differ in what they call it
        column = f"gw_{number}"
        self.columns.setdefault(column, text)
        return found, self.quoted(column)

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
