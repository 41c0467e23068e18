"""Random queries, drawn from a grammar that is wider than what is offered, and then damaged."""

from collections.abc import Callable
from random import Random

from graphwalk.types.schema import NodeType, PropertyType, RelationshipType, Schema

SCHEMA = Schema(
    (
        NodeType("Film", (PropertyType("id"), PropertyType("key"), PropertyType("year"))),
        NodeType("Person", (PropertyType("key"), PropertyType("name"))),
    ),
    (RelationshipType("LIKES", (("Person", "Film"),), (PropertyType("days"),)),),
)
NODES = ("a", "b", "c")
ODD = ("r", "p", "x", "`a`", "`a b`", "ä", "count", "match", "gw_0")
OUTSIDE = (
    "CALL db.labels()",
    "CALL db.labels() YIELD label RETURN label",
    "CALL { MATCH (q) RETURN q } RETURN q",
    "CALL (a) { MATCH (q) RETURN q } RETURN q",
    "MATCH (q) CALL { WITH q DELETE q } IN TRANSACTIONS OF 5 ROWS",
    "CALL apoc.cypher.run('MATCH (n) RETURN n', {}) YIELD value RETURN value",
    "RETURN apoc.meta.data()",
    "LOAD CSV FROM 'file:///etc/passwd' AS line RETURN line",
    "USE neo4j MATCH (n) RETURN n",
    "USE graph.byName('neo4j') MATCH (n) RETURN n",
    "CYPHER 25 MATCH (n) RETURN n",
    "EXPLAIN MATCH (n) RETURN n",
    "PROFILE MATCH (n) RETURN n",
    "SHOW INDEXES",
    "SHOW DATABASES YIELD *",
    "MATCH (n) RETURN n NEXT MATCH (m) RETURN m",
    "MATCH (n:$('GraphWalkLoad')) RETURN n",
    "MATCH (n:$any(['GraphWalkLoad'])) RETURN n",
    "MATCH (n:%) RETURN n",
    "MATCH (n:!Film) RETURN n",
    "MATCH (n IS Film) RETURN n",
    "MATCH (n:Film|!Film) RETURN n",
    "MATCH (n) WHERE n:GraphWalkLoad RETURN n",
    "MATCH (n) WHERE n:$('GraphWalkLoad') RETURN n",
    "MATCH ((a)-->(b)){1,3} RETURN a",
    "MATCH (a)-->+(b) RETURN b",
    "MATCH (a) (()-->())* (b) RETURN b",
    "MATCH ANY SHORTEST (a)-->*(b) RETURN b",
    "MATCH p = SHORTEST 1 (a)-[:LIKES]->+(b) RETURN p",
    "MATCH (a)-[r WHERE r.days > 1]->(b) RETURN b",
    "MATCH (a WHERE a.year > 1) RETURN a",
    "RETURN COLLECT { MATCH (n) RETURN n }",
    "MATCH (n) RETURN n {.*, all: [(n)--(m) | m {.*}]}",
    "MATCH (n) FOREACH (x IN [n] | SET x.key = 1)",
    "MATCH (n) RETURN elementId(n), id(n)",
    "RETURN reduce(t = '', x IN ['a'] | t + x)",
    "RETURN $__, $`x`, $1",
    "MATCH (n) USING INDEX n:Film(key) RETURN n",
    "RETURN 1; RETURN 2",
    "MATCH (n) RETURN n /* */ // \n",
    "MATCH (n:Film`) RETURN n //`",
    "MATCH (n:`Film``) MATCH (m`) RETURN m",
    "MATCH (n:\\u0060Film\\u0060) RETURN n",
    "MATCH (n {key: 'x'}) RETURN n UNION MATCH (m) RETURN m AS n",
    "MATCH (n) WHERE n.key = '\\u0027}) MATCH (m) RETURN m //' RETURN n",
    "WITH 'a' AS x RETURN x + \"'\" + '\"' + '\\'",
)
_WORDS = "CALL USE WITH UNION RETURN MATCH WHERE CASE NOT EXISTS{ COUNT{ SKIP IN gw_0 gw_one `gw_one` GraphWalkLoad"
_SIGNS = "( ) [ ] { } ' \" ` \\ /* */ // ; | ! % & $ : .. =~ --> <-- -- <--> -[ ]-> * *1.. \\u0060 \\u0027"
_ODD_SIGNS = ("\0", "\u202e", "\u2028", "\ud800", "ı", "١", "9" * 40, "1e999", "0x1F")
PIECES = (*_WORDS.split(), *_SIGNS.split(), *_ODD_SIGNS)


class Writer:
    """Draws queries on `SCHEMA`, or on other names."""

    def __init__(self, draw: Random, labels: tuple[str, ...], types: tuple[str, ...], names: tuple[str, ...]) -> None:
        self.draw, self.labels, self.types, self.names = draw, labels, types, names
        self.bound: list[str] = []

    def one(self, *choices: str | Callable[[], str]) -> str:
        found = self.draw.choice(choices)
        return found if isinstance(found, str) else found()

    def maybe(self, text: Callable[[], str], times: float = 0.4) -> str:
        return text() if self.draw.random() < times else ""

    def variable(self) -> str:
        """Mostly one that is bound."""
        return self.draw.choice(self.bound if self.bound and self.draw.random() < 0.98 else ODD)

    def new(self, *names: str) -> str:
        self.bound.append(self.draw.choice(names if self.draw.random() < 0.98 else ODD))
        return self.bound[-1]

    def name(self) -> str:
        return self.draw.choice(self.names)

    def labelled(self) -> str:
        label = self.draw.choice(self.labels)
        return ":" + self.one(label, f"{label}|{self.labels[0]}", f"{label}&{self.labels[-1]}", f"({label}|{label})")

    def node(self) -> str:
        return f"({self.maybe(lambda: self.new(*NODES), 0.7)}{self.maybe(self.labelled)}{self.maybe(self.properties, 0.2)})"

    def properties(self) -> str:
        return f" {{{self.name()}: {self.value(self.draw.randrange(2))}}}"

    def hops(self) -> str:
        return self.one("*", "*1..2", "*0..1", "*..2", "*2")

    def relationship(self) -> str:
        typed = self.maybe(lambda: ":" + self.draw.choice(self.types))
        inner = self.maybe(
            lambda: f"[{self.maybe(lambda: self.new(f'r{len(self.bound)}'))}{typed}{self.maybe(self.hops, 0.3)}]", 0.7
        )
        return self.one(f"-{inner}->", f"<-{inner}-", f"-{inner}-", f"<-{inner}->")

    def chain(self, most: int = 3) -> str:
        return self.node() + "".join(self.relationship() + self.node() for _ in range(self.draw.randrange(most)))

    def walk(self) -> str:
        return self.node() + self.relationship() + self.node()

    def path(self) -> str:
        return self.one(
            self.chain,
            self.chain,
            lambda: f"{self.new(f'p{len(self.bound)}')} = {self.chain()}",
            lambda: f"p{len(self.bound)} = shortestPath({self.walk()})",
        )

    def value(self, depth: int) -> str:
        """An expression."""
        if depth <= 0:
            return self.one(
                self.variable, lambda: f"{self.variable()}.{self.name()}", "1", "'x'", "null", "true", "2.5"
            )
        more = depth - 1
        return self.one(
            lambda: self.value(0),
            lambda: (
                f"{self.value(more)} {self.one(*'+-*/=<>', '<>', 'AND', 'OR', 'XOR', 'IN', 'CONTAINS')} {self.value(more)}"
            ),
            lambda: f"NOT {self.value(more)}",
            lambda: f"({self.value(more)})",
            lambda: f"[{self.value(more)}, {self.value(more)}]{self.maybe(lambda: '[0]')}",
            lambda: f"{{{self.name()}: {self.value(more)}}}",
            lambda: f"{self.variable()}['{self.name()}']",
            lambda: f"{self.variable()} {{.*, .{self.name()}}}",
            lambda: f"{self.variable()}{self.labelled()}",
            lambda: (
                f"{self.one('count', 'collect', 'min', 'sum')}({self.maybe(lambda: 'DISTINCT ')}{self.value(more)})"
            ),
            lambda: (
                f"{self.one('labels', 'keys', 'properties', 'type', 'nodes', 'size', 'toString')}({self.variable()})"
            ),
            lambda: f"{self.one('startNode', 'endNode')}({self.variable()}).{self.name()}",
            lambda: f"[x IN {self.value(more)} WHERE {self.value(more)} | {self.value(more)}]",
            lambda: f"[(){self.one('-->', '--')}{self.inner()} | {self.value(more)}]",
            lambda: f"{self.one('EXISTS', 'COUNT')} {{ {self.one('', 'MATCH ')}{self.inner()} }}",
            lambda: f"{self.one('any', 'all', 'none')}(x IN {self.value(more)} WHERE {self.value(more)})",
            lambda: f"CASE WHEN {self.value(more)} THEN {self.value(more)} ELSE {self.value(more)} END",
            lambda: f"exists({self.condition()})",
            self.condition,
        )

    def where(self) -> str:
        compared = f"{self.value(1)} {self.one('=', '<', '<>', 'IN', 'CONTAINS')} {self.value(1)}"
        return f" WHERE {self.one(compared, f'NOT {compared}', self.condition, lambda: self.value(2))}"

    def inner(self) -> str:
        """A pattern in a subquery or a list: what is new in it is gone behind it."""
        kept = list(self.bound)
        found = f"{self.chain()}{self.maybe(self.where)}"
        self.bound = kept
        return found

    def condition(self) -> str:
        """A pattern that brings nothing new."""
        return f"({self.variable()}){self.one('-->', '--', '<-[:LIKES*..2]-')}({self.maybe(self.variable)})"

    def columns(self) -> str:
        items = [self.one(self.variable, f"{self.value(2)} AS x{n}") for n in range(self.draw.randint(1, 3))]
        items = self.draw.choice([items, ["*"], ["*", *items[1:]], [*items, self.value(1)]])
        order = self.maybe(lambda: f" ORDER BY {self.value(1)}{self.one('', ' DESC')}", 0.3)
        return ", ".join(items) + order + self.maybe(lambda: " LIMIT 5", 0.2)

    def clause(self) -> str:
        return self.one(
            lambda: f"MATCH {self.path()}{self.maybe(self.where)}",
            lambda: f"MATCH {self.path()}, {self.path()}{self.maybe(self.where)}",
            lambda: f"OPTIONAL MATCH {self.path()}{self.maybe(self.where)}",
            lambda: f"UNWIND {self.value(2)} AS {self.new('x')}",
            lambda: f"WITH {self.maybe(lambda: 'DISTINCT ')}{self.columns()}{self.maybe(self.where)}",
        )

    def query(self) -> str:
        self.bound = []
        first = self.path()
        clauses = " ".join(self.clause() for _ in range(self.draw.randint(0, 2)))
        single = f"MATCH {first} {clauses} RETURN {self.maybe(lambda: 'DISTINCT ')}{self.columns()}"
        return single + self.maybe(lambda: f" UNION {self.one('', 'ALL ')}{self.query()}", 0.1)

    def damaged(self) -> str:
        """A query, or one from outside of what is offered, with pieces put in, cut out and swapped."""
        text = self.one(self.query, lambda: self.draw.choice(OUTSIDE))
        for _ in range(self.draw.randrange(4)):
            begin, end = sorted(self.draw.randrange(len(text) + 1) for _ in range(2))
            piece = self.draw.choice(PIECES)
            words = text.split(" ")
            self.draw.shuffle(words)
            text = self.one(
                text[:begin] + piece + text[begin:],
                text[:begin] + text[end:],
                text[:begin] + piece + text[end:],
                " ".join(words),
                text[:begin] + self.draw.choice(OUTSIDE) + text[begin:],
            )
        return text
