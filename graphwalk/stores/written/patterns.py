"""Patterns: `(a:Film {key: 'f7'})<-[r:DIRECTED*1..2]-(b)`. Every node of one is confined to the graph."""

from abc import abstractmethod

from graphwalk.stores.written.bindings import Bindings
from graphwalk.stores.written.refusal import not_offered
from graphwalk.stores.written.words import LONGEST_PATH


class Patterns(Bindings):
    chained = (0, 0)
    """The tokens of the chain that was read last: the first, and the one behind it."""

    @abstractmethod
    def expression(self) -> str: ...

    def patterns(self) -> str:
        found = [self.path()]
        while self.took_symbol(","):
            found.append(self.path())
        return ", ".join(found)

    def path(self) -> str:
        """One path, named or not."""
        named = ""
        if self.here.kind in ("name", "quoted") and self.is_symbol("=", steps=1):
            name = self.variable()
            self.bind(name, "path")
            named = f"{name} {self.expect('=')} "
        for function in ("shortestPath", "allShortestPaths"):
            if self.took_words(function.lower()):
                self.expect("(")
                return f"{named}{function}({self.chain()}{self.expect(')')}"
        return named + self.chain()

    def chain(self) -> str:
        """Nodes and the relationships between them."""
        if not self.is_symbol("(") or self.is_symbol("(", steps=1):
            if self.is_symbol("("):
                raise not_offered("((")
            self.refuse()
        begin = self.at
        found = self.node()
        while self.is_relationship():
            found += self.relationship()
            found += self.node()
        if self.is_symbol("{", "+", "*") and found.endswith(")"):
            raise not_offered("((")
        self.chained = begin, self.at
        return found

    def condition(self) -> str:
        """A chain that is true or false, and brings no variables."""
        with self.known_only():
            return self.chain()

    def is_pattern(self) -> bool:
        """True where a bracket opens the first node of a chain, and not an expression."""
        return self.is_symbol("(") and self.is_relationship(self.partner[self.at] + 1 - self.at)

    def is_relationship(self, steps: int = 0) -> bool:
        if self.is_symbol("<", steps=steps):
            return self.is_symbol("-", steps=steps + 1) and self.is_symbol("-", "[", steps=steps + 2)
        return self.is_symbol("-", steps=steps) and self.is_symbol("-", "[", steps=steps + 1)

    def node(self) -> str:
        """`(a:Film {key: 'f7'})` with the label of the graph added."""
        self.expect("(")
        found = self._optional_variable()
        if found:
            self.bind(found, "node")
        found += self.dialect.confined(*(self._labels() if self.took_symbol(":") else ("", True)))
        found += self._conditions()
        return f"({found}{self.expect(')')}"

    def relationship(self) -> str:
        back = self.took_symbol("<")
        found = self.expect("-")
        if self.took_symbol("["):
            name, types, hops = self._optional_variable(), self._types(), self._hops()
            if name:
                self.bind(name, "list" if hops else "relationship")
            found += f"[{name}{types}{hops}{self._conditions()}{self.expect(']')}"
        found += self.expect("-")
        forth = self.took_symbol(">")
        if back and forth:  # either direction, which not every engine reads
            return found
        return ("<" if back else "") + found + (">" if forth else "")

    def label_predicate(self) -> str:
        """What stands behind the colon in `a:Film|Person`, as a condition."""
        labels, _ = self._labels()
        return f":{labels}"

    def properties_map(self) -> str:
        self.expect("{")
        found = []
        while not self.is_symbol("}"):
            found.append(f"{self.property_name()}{self.expect(':')} {self.expression()}")
            if not self.took_symbol(","):
                break
        return "{" + ", ".join(found) + self.expect("}")

    def _optional_variable(self) -> str:
        if self.here.kind in ("name", "quoted") and not self.is_word("where"):
            return self.variable()
        return ""

    def _conditions(self) -> str:
        found = f" {self.properties_map()}" if self.is_symbol("{") else ""
        if self.is_word("where"):
            raise not_offered("WHERE")
        return found

    def _labels(self) -> tuple[str, bool]:
        """A label expression, and whether it is plain: names that must all be there."""
        if self.is_symbol("(") and not self.is_symbol("|", "&", ":", steps=self.partner[self.at] + 1 - self.at):
            self.take()
            found = self._labels()
            self.expect(")")
            return found
        choices = [self._all_labels()]
        while self.took_symbol("|"):
            self.took_symbol(":")
            choices.append(self._all_labels())
        plain = len(choices) == 1 and all(label.startswith("`") for label in choices[0])
        return "|".join((":" if plain else "&").join(labels) for labels in choices), plain

    def _all_labels(self) -> list[str]:
        found = [self._one_label()]
        while self.took_symbol(":") or self.took_symbol("&"):
            found.append(self._one_label())
        return found

    def _one_label(self) -> str:
        if self.is_symbol("!"):
            raise not_offered("!")
        if self.took_symbol("("):
            return f"({self._labels()[0]}{self.expect(')')}"
        return self.dialect.label_name(self.names.check_label(self.name()))

    def _types(self) -> str:
        if not self.took_symbol(":"):
            return ""
        found = [self._type()]
        while self.took_symbol("|"):
            self.took_symbol(":")
            found.append(self._type())
        return ":" + "|".join(found)

    def _type(self) -> str:
        return self.dialect.type(self.names.check_type(self.name()))

    def _hops(self) -> str:
        """`*`, `*2`, `*1..3`: without a highest number it is bounded by time alone, on every store."""
        if not self.took_symbol("*"):
            return ""
        least = self.take().value if self.here.kind == "number" else ""
        if least and not self.took_symbol(".."):
            return f"*{least}"
        self.took_symbol("..")
        most = self.take().value if self.here.kind == "number" else (str(LONGEST_PATH) if self.cut else "")
        return f"*{least}..{most}" if least or most else "*"
