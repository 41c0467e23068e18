"""Where a translation stands in the tokens of a query, and what it has found so far."""

from typing import NoReturn

from graphwalk.errors import ConfigError
from graphwalk.stores.cypher import Dialect, quote
from graphwalk.stores.written.names import Names
from graphwalk.stores.written.refusal import QueryRefused, not_offered
from graphwalk.stores.written.tokens import Token, read_tokens, syntax
from graphwalk.stores.written.words import CLAUSES, LEFT_OUT, WRITES
from graphwalk.types.values import Temporal


class Cursor:
    """Reads tokens from left to right; every method that reads a part returns that part as Cypher for the store.

    `dialect` is how the store writes the names of the graph. `cut`: it ends paths without a bound early.
    """

    def __init__(self, query: str, names: Names, dialect: Dialect, cut: bool) -> None:
        self.query = query
        self.names = names
        self.dialect = dialect
        self.cut = cut
        self.tokens, self.partner = read_tokens(query)
        self.at = 0
        self.parameters: dict[str | Temporal, str] = {}
        """Texts never stand in the query that is sent: they travel as parameters."""

    @property
    def here(self) -> Token:
        return self.tokens[self.at]

    def ahead(self, steps: int = 1) -> Token:
        return self.tokens[min(self.at + steps, len(self.tokens) - 1)]

    def is_symbol(self, *symbols: str, steps: int = 0) -> bool:
        token = self.ahead(steps)
        return token.kind == "symbol" and token.value in symbols

    def is_word(self, *words: str, steps: int = 0) -> bool:
        token = self.ahead(steps)
        return token.kind == "name" and token.value.lower() in words

    def take(self) -> Token:
        token = self.here
        self.at += 1
        return token

    def took_symbol(self, symbol: str) -> bool:
        if self.is_symbol(symbol):
            self.at += 1
            return True
        return False

    def took_words(self, *words: str) -> bool:
        """True where these words stand here one after the other, which are then behind us."""
        if all(self.is_word(word, steps=number) for number, word in enumerate(words)):
            self.at += len(words)
            return True
        return False

    def expect(self, symbol: str) -> str:
        if not self.took_symbol(symbol):
            self.refuse()
        return symbol

    def expect_words(self, *words: str) -> str:
        if not self.took_words(*words):
            self.refuse()
        return " ".join(words).upper()

    def refuse(self) -> NoReturn:
        """QueryRefused for what stands here."""
        token = self.here
        if token.kind == "name" and token.value.lower() in WRITES:
            raise QueryRefused("write_refused", "query_write", what=token.value.upper())
        if token.kind == "name" and token.value.lower() in LEFT_OUT:
            raise not_offered(token.value.upper())
        if token.kind == "parameter":
            raise not_offered("$")
        raise syntax(self.query, token.at)

    def name(self) -> str:
        """A name, as it was meant."""
        if self.here.kind not in ("name", "quoted"):
            self.refuse()
        return self.take().value

    def variable(self) -> str:
        if (
            self.here.kind == "name"
            and self.here.value.lower() in CLAUSES | WRITES | LEFT_OUT
            and not (self.is_symbol(".", ")", ",", "]", "}", steps=1) or self.is_word("as", steps=1))
        ):
            self.refuse()
        found = self.name()
        if found.startswith("gw_"):
            raise not_offered("gw_")
        return self.quoted(found)

    def property_name(self) -> str:
        """A property as the store has it, in back-ticks."""
        found = self.name()
        self.names.check_property(found)
        return self.quoted(self.dialect.stored_property(found))

    def map_key(self) -> str:
        """A key of a map is renamed like a property: a query may ask either for a field."""
        found = self.name()
        self.names.own.add(found)
        return self.quoted(self.dialect.stored_property(found))

    def quoted(self, name: str) -> str:
        try:
            return quote(name)
        except ConfigError:
            raise syntax(self.query, self.here.at) from None

    def parameter(self, value: str | Temporal) -> str:
        """A text, date or time as a parameter; the same one stays the same, so that equal expressions do."""
        name = self.parameters.setdefault(value, f"gw_t{len(self.parameters)}")
        return f"${name}"
