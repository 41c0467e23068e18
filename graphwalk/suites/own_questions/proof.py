"""Proofs of answers to your own questions with a Cypher query (docs/method.md, Proven).

The query runs on what the results show. If it returns the target there, the answer is supported; it is proven if no
other match of the query is possible. This is known for a plain query only: one path in one MATCH, values that are
compared as equal in braces, and columns without functions:

    MATCH (:Ship {name: 'Sea Holly'})-[:HOME_PORT]->(h:Harbour) RETURN h.name
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from graphwalk.analysis.observed import ObservedGraph, observed_graph, shows_whole_schema
from graphwalk.analysis.possible_graph import PossibleGraph
from graphwalk.background import run_in_background
from graphwalk.errors import GraphwalkError
from graphwalk.graphs.graph import KEY, Node, PropertyGraph, Relationship
from graphwalk.graphs.values import SCALARS
from graphwalk.models.trajectory import Trajectory
from graphwalk.stores.cypher_check import Token, tokens_in
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.own_questions.suite import OwnQuestionTask
from graphwalk.suites.own_questions.targets import read_target
from graphwalk.suites.questions.graph_index import GraphIndex, PartlyKnown, equal
from graphwalk.suites.rows import row_set

_LOGGER = logging.getLogger("graphwalk")
_SECONDS = 5.0
"""Timeout of the query on what was seen."""
_LATER_CLAUSES = ("ORDER", "LIMIT", "SKIP", "UNION", "MATCH", "WITH")
"""Words that begin another clause, where a plain query has columns."""


@dataclass(frozen=True)
class _NodePattern:
    label: str | None
    properties: Mapping[str, Any]


@dataclass(frozen=True)
class _LinkPattern:
    types: tuple[str, ...]
    """Empty: any."""
    direction: Literal["outgoing", "incoming", "both"]
    properties: Mapping[str, Any]


@dataclass(frozen=True)
class PathPattern:
    """The path of a plain query: one node more than relationships."""

    nodes: tuple[_NodePattern, ...]
    links: tuple[_LinkPattern, ...]


def unproven_because(task: OwnQuestionTask, trajectory: Trajectory) -> str | None:
    """Return "" if a right answer is proven, else why it is not; None if that is unknown."""
    if task.cypher is None or not task.target:
        return None
    prompt = "\n".join(message.content or "" for message in trajectory.prompt)
    observed = observed_graph(trajectory.results_read, prompt)
    if not observed.understood or observed.hides_directions or observed.hides_properties:
        return None
    seen = _seen_graph(observed)
    try:
        rows = run_in_background(_rows(task.cypher, seen))
    except (GraphwalkError, ValueError):
        _LOGGER.debug("the query of %s failed on what was seen", task.task_id, exc_info=True)
        return None
    if row_set(rows, task.fields) != row_set(task.target, task.fields):
        return "the query of the question has other rows on what the results show"

    pattern = path_pattern(task.cypher)
    if pattern is None or not shows_whole_schema(prompt):
        return None
    if observed.infers_directions and not observed.has_one_label_each:
        return None
    possible = PossibleGraph(observed, prompt, _values_of(pattern))
    index = possible.index()
    if index is None:
        return None
    if not _Matches(pattern, observed, index).another_is_possible():
        return ""
    return "the results leave open whether the query of the question has more matches"


async def _rows(cypher: str, graph: PropertyGraph) -> list[dict[str, Any]]:
    """Return the rows of a query on a graph as a target has them."""
    async with EmbeddedDatabase() as memory:
        store = await memory.load(graph)
        rows = (await store.ask(cypher, seconds=_SECONDS, rows=1000)).rows
    return read_target(graph, rows)


def _seen_graph(observed: ObservedGraph) -> PropertyGraph:
    """Return what results show, with lists."""
    nodes = []
    for node in observed.nodes.values():
        properties = {}
        for name, value in node.properties.items():
            if isinstance(value, list):
                properties[name] = tuple(value)
            elif isinstance(value, SCALARS):
                properties[name] = value
        nodes.append(replace(node, properties=properties))
    return PropertyGraph.from_rows(nodes, observed.graph().relationships())


def _values_of(pattern: PathPattern) -> dict[str, Any]:
    """Return the labels and values of a pattern by names, as the parameters of a question have them.

    Of (:Ship {name: 'Tern'})-[:HOME_PORT]->(h:Harbour) they are {"0_label": "Ship", "0_name_value": "Tern",
    "1_label": "Harbour"}.
    """
    values: dict[str, Any] = {}
    for number, node in enumerate(pattern.nodes):
        if node.label is not None:
            values[f"{number}_label"] = node.label
        for name, value in node.properties.items():
            values[KEY if name == KEY else f"{number}_{name}_value"] = value
    return values


class _Matches:
    """The matches of a path, in a graph with everything that may be there."""

    def __init__(self, pattern: PathPattern, observed: ObservedGraph, index: GraphIndex) -> None:
        self._pattern = pattern
        self._observed = observed
        self._index = index
        self._incoming: dict[str, list[Relationship]] = {}
        for links in index.outgoing.values():
            for link in links:
                self._incoming.setdefault(link.target, []).append(link)

    def another_is_possible(self) -> bool:
        """Return True if a match has a node, a relationship or a value that no result shows.

        A walk along the path: `ends` are pairs of a node and whether all of the way to it was seen.
        """
        first, *others = self._pattern.nodes
        ends = set()
        for key in self._index.nodes:
            if self._may_match(key, first):
                ends.add((key, self._is_seen(key, first)))
        for link_pattern, node_pattern in zip(self._pattern.links, others, strict=True):
            following = set()
            for key, is_way_seen in ends:
                for link, other in self._links_from(key, link_pattern):
                    if self._may_match(other, node_pattern):
                        is_link_seen = not isinstance(link.properties, PartlyKnown)
                        is_seen = is_way_seen and is_link_seen and self._is_seen(other, node_pattern)
                        following.add((other, is_seen))
            ends = following
        return any(not is_seen for _, is_seen in ends)

    def _may_match(self, key: str, pattern: _NodePattern) -> bool:
        if pattern.label is not None and not self._index.has_label(key, pattern.label):
            return False
        properties = self._index.nodes[key].properties
        for name, value in pattern.properties.items():
            if name == KEY:
                if key != value:
                    return False
            elif isinstance(properties, PartlyKnown) and pattern.label is not None:
                if not properties.may_be(pattern.label, name, value):
                    return False
            elif not equal(properties.get(name), value):
                return False
        return True

    def _is_seen(self, key: str, pattern: _NodePattern) -> bool:
        node: Node | None = self._observed.nodes.get(key)
        if node is None or (pattern.label is not None and pattern.label not in node.labels):
            return False
        known = {**node.properties, KEY: key}
        return all(equal(known.get(name), value) for name, value in pattern.properties.items())

    def _links_from(self, key: str, pattern: _LinkPattern) -> Iterable[tuple[Relationship, str]]:
        """Yield the relationships that may match, each with its other end."""
        if pattern.direction != "incoming":
            for link in self._index.outgoing[key]:
                if self._link_may_match(link, pattern):
                    yield link, link.target
        if pattern.direction != "outgoing":
            for link in self._incoming.get(key, ()):
                if self._link_may_match(link, pattern):
                    yield link, link.source

    @staticmethod
    def _link_may_match(link: Relationship, pattern: _LinkPattern) -> bool:
        if pattern.types and link.type not in pattern.types:
            return False
        return all(equal(link.properties.get(name), value) for name, value in pattern.properties.items())


class _OtherQueryError(ValueError):
    """The query is not a plain one."""


def path_pattern(cypher: str) -> PathPattern | None:
    """Return the path of a plain query, None for any other query."""
    try:
        return _Reader(list(tokens_in(cypher))).read()
    except _OtherQueryError:
        return None


@dataclass
class _Reader:
    """Reads `MATCH path RETURN columns`, and refuses everything else."""

    tokens: Sequence[Token]
    place: int = 0

    def read(self) -> PathPattern:
        # MATCH (:Ship {name: 'Tern'})-[:HOME_PORT]->(h)
        self._word("MATCH")
        nodes = [self._node()]
        links = []
        while self._next() in ("-", "<"):
            links.append(self._link())
            nodes.append(self._node())
        # RETURN DISTINCT h.name AS harbour, h;
        self._word("RETURN")
        token = self._token
        if token is not None and token.upper == "DISTINCT":
            self.place += 1
        self._check_columns(self.tokens[self.place :])
        return PathPattern(tuple(nodes), tuple(links))

    @staticmethod
    def _check_columns(tokens: Sequence[Token]) -> None:
        """Allow names, `name.property` and AS: no function, no comparison, no other clause."""
        if not tokens:
            raise _OtherQueryError
        for token in tokens:
            if token.kind == "word" and token.upper in _LATER_CLAUSES:
                raise _OtherQueryError
            if token.kind not in ("word", "quoted") and token.text not in (".", ",", ";"):
                raise _OtherQueryError

    @property
    def _token(self) -> Token | None:
        """The token at the place, None at the end."""
        return self.tokens[self.place] if self.place < len(self.tokens) else None

    def _next(self) -> str:
        token = self._token
        return "" if token is None else token.text

    def _take(self, text: str) -> None:
        if self._next() != text:
            raise _OtherQueryError
        self.place += 1

    def _word(self, upper: str) -> None:
        token = self._token
        if token is None or token.upper != upper:
            raise _OtherQueryError
        self.place += 1

    def _name(self) -> str:
        token = self._token
        if token is None or token.kind not in ("word", "quoted"):
            raise _OtherQueryError
        self.place += 1
        return token.name

    def _variable(self) -> None:
        if self._next() not in (":", ")", "]", "{"):
            self._name()

    def _node(self) -> _NodePattern:
        """Read (v:Label {name: 'value'}), of which any part may be missing."""
        self._take("(")
        self._variable()
        label = None
        if self._next() == ":":
            self._take(":")
            label = self._name()
        properties = self._properties()
        self._take(")")
        return _NodePattern(label, properties)

    def _link(self) -> _LinkPattern:
        """Read -[v:TYPE|OTHER {name: 1}]->, <-[…]-, -[…]- or the same without brackets."""
        is_incoming = self._next() == "<"
        if is_incoming:
            self._take("<")
        self._take("-")
        types: list[str] = []
        properties: Mapping[str, Any] = {}
        if self._next() == "[":
            self._take("[")
            self._variable()
            if self._next() == ":":
                self._take(":")
                types.append(self._name())
                while self._next() == "|":
                    self._take("|")
                    types.append(self._name())
            properties = self._properties()
            self._take("]")
        self._take("-")
        is_outgoing = self._next() == ">"
        if is_outgoing:
            self._take(">")
        if is_incoming == is_outgoing:
            return _LinkPattern(tuple(types), "both", properties)
        return _LinkPattern(tuple(types), "incoming" if is_incoming else "outgoing", properties)

    def _properties(self) -> dict[str, Any]:
        """Read {name: 'value', year: 1999}; nothing is none."""
        properties: dict[str, Any] = {}
        if self._next() != "{":
            return properties
        self._take("{")
        while self._next() != "}":
            if properties:
                self._take(",")
            name = self._name()
            self._take(":")
            properties[name] = self._literal()
        self._take("}")
        return properties

    def _literal(self) -> Any:
        token = self._token
        if token is None:
            raise _OtherQueryError
        self.place += 1
        # 'Tern', not 'Sea\'s End'
        if token.kind == "text" and "\\" not in token.text:
            return token.text[1:-1]
        # 1999, not 19.5, which is three tokens
        if token.kind == "number" and self._next() in (",", "}"):
            return int(token.text)
        if token.kind == "word" and token.upper in ("TRUE", "FALSE"):
            return token.upper == "TRUE"
        raise _OtherQueryError
