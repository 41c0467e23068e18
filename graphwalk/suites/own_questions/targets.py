"""Questions with answers in a file, and their targets: answers of the file, and rows of its queries."""

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple, Self

from pydantic import Field, model_validator

from graphwalk.config.agent import MOST_ROWS, AgentConfig
from graphwalk.config.strict import Strict, validate
from graphwalk.errors import ConfigError, StoreError, ToolMistake, counted, manual
from graphwalk.files.bulk import usable_rows
from graphwalk.graphs.graph import KEY, PropertyGraph
from graphwalk.graphs.values import SCALARS, Row, flat, shown
from graphwalk.stores.base import GraphStore
from graphwalk.stores.cypher_check import CypherNotAllowedError, check_cypher
from graphwalk.suites.rows import distinct

VALUE = "value"
"""Field of the rows of a target with single values."""


class OwnQuestion(Strict):
    """A question of the file, with exactly one of `answer`, `cypher` and `unanswerable`."""

    question: str = Field(min_length=1)
    answer: Any = None
    cypher: str | None = Field(default=None, min_length=1)
    unanswerable: bool = False
    id: str | None = Field(default=None, coerce_numbers_to_str=True)
    tags: tuple[str, ...] = ()

    @property
    def rows(self) -> list[Row]:
        items = self.answer if isinstance(self.answer, list) else [] if self.answer is None else [self.answer]
        return [item if isinstance(item, dict) else {VALUE: item} for item in items]

    @model_validator(mode="after")
    def _check_answer(self) -> Self:
        if sum((bool(self.rows), self.cypher is not None, self.unanswerable)) != 1:
            raise ValueError("give one of answer, cypher and unanswerable: true")
        cells = [value for row in self.rows for value in row.values() if value is not None]
        plain = all(isinstance(value, SCALARS) and (isinstance(value, str) or abs(value) < 2**63) for value in cells)
        if not plain or len({tuple(row) for row in self.rows}) > 1:
            raise ValueError("answer: expected a value, a list of values, or a list of rows with the same fields")
        return self


def read_questions(path: Path) -> dict[int, OwnQuestion]:
    """Return the questions by line. Raise ConfigError for another ending, or a line that cannot be used."""
    if path.suffix.lower() != ".jsonl":
        raise ConfigError(f"{path.name}: expected a .jsonl file")
    questions, lines = dict[int, OwnQuestion](), dict[str, int]()
    for line, row in usable_rows(path, ("question",), lambda row, line: (line, row)):
        question = validate(OwnQuestion, row, f"{path}: row {line}")
        if (first := lines.setdefault(question.id or question.question, line)) != line:
            raise ConfigError(f"{path}: line {line} repeats the id or question of line {first}")
        questions[line] = question
    return questions


class Target(NamedTuple):
    """A question with its right rows. `names`: key of a node in these → texts that name only it."""

    question: OwnQuestion
    rows: list[Row]
    names: dict[str, tuple[str, ...]]


async def find_targets(graph: PropertyGraph, engine: GraphStore, path: Path, agent: AgentConfig) -> list[Target]:
    """Return the questions of a file with their targets. Queries run on the engine, with the limits of write_cypher.

    Raise ConfigError with the questions whose target is wrong.
    """
    values, targets, mistakes = _GraphValues(graph), list[Target](), list[str]()
    for line, question in read_questions(path).items():
        try:
            rows = await _target(question, engine, values, agent)
        except ValueError as error:
            mistakes.append(f"  line {line}: {'cypher' if question.cypher else 'answer'}: {error}")
            continue
        names = {cell: names for row in rows for cell in row.values() if (names := values.other_names(cell))}
        targets.append(Target(question, rows, names))
    if mistakes:
        lines = [f"{path}: {counted(len(mistakes), 'mistake')}", *mistakes[:20]]
        raise ConfigError("\n".join(lines), hint=f"{manual('own_graph')} shows the format of the file")
    return targets


async def _target(question: OwnQuestion, engine: GraphStore, values: "_GraphValues", agent: AgentConfig) -> list[Row]:
    """Return the rows of an answer, or of a query, which only reads.

    Raise ValueError for a mistake, and for a query that is refused, fails or is slow.
    """
    if question.cypher is None:
        values.check(question.rows)
        return distinct(question.rows)
    seconds, most = agent.query_seconds, MOST_ROWS + 1
    try:
        check_cypher(question.cypher)
        if engine.takes_queries:
            rows = list((await engine.ask(question.cypher, seconds=seconds, rows=most)).rows)
        else:
            rows, _ = await engine.first(question.cypher, {}, rows=most, seconds=seconds)
    except ToolMistake as mistake:
        text = agent.texts.message(mistake.message, get_schema=False, **mistake.values)
        raise ValueError(" ".join(text.split())) from mistake
    except (StoreError, CypherNotAllowedError) as error:
        raise ValueError(" ".join(str(error).split())) from error
    target = values.target(rows)
    if not target:
        raise ValueError("it returns nothing")
    if len(target) > MOST_ROWS:
        raise ValueError(f"it returns more than {MOST_ROWS:,} rows")
    return target


def read_target(graph: PropertyGraph, rows: Iterable[Row]) -> list[Row]:
    """Return the rows of a query on this graph as a target. Raise ValueError for a relationship, a path or a map."""
    return _GraphValues(graph).target(rows)


class _GraphValues:
    """Texts and nodes of a graph, to check and to read targets."""

    def __init__(self, graph: PropertyGraph) -> None:
        self._texts: set[Any] = set()
        """Keys, values, labels, types and names of properties."""
        self._names: dict[str, set[str]] = {}
        self._keys: dict[str, str] = {}
        for node in graph.nodes():
            properties = shown(dict(node.properties))
            self._names[node.key] = {node.key, *(value for value in node.properties.values() if isinstance(value, str))}
            self._keys.setdefault(_signature(node.labels, properties), node.key)
            self._texts.update([node.key], node.labels, properties, flat(properties.values()))
        for link in graph.relationships():
            self._texts.update([link.type], link.properties, flat(map(shown, link.properties.values())))
        self._owners = Counter(name for names in self._names.values() for name in names)

    def check(self, rows: Iterable[Row]) -> None:
        """Raise ValueError for rows with a text that is nowhere in the graph."""
        cells = [value for row in rows for value in row.values()]
        if missing := [repr(value) for value in cells if isinstance(value, str) and value not in self._texts]:
            raise ValueError(f"no key, value or name in the graph is {' or '.join(missing)}")

    def other_names(self, key: Any) -> tuple[str, ...]:
        """Return the texts that name the node with this key and no other node."""
        names = self._names.get(key, ()) if isinstance(key, str) else ()
        return tuple(sorted(name for name in names if name != key and self._owners[name] == 1))

    def target(self, rows: Iterable[Row]) -> list[Row]:
        """Return rows, of one column its values and the members of its lists; a node is its key, null no value.

        Raise ValueError for a relationship, a path or a map.
        """
        plain = [{name: self._plain(value) for name, value in row.items()} for row in rows]
        if plain and len(plain[0]) == 1:
            cells = flat(value for row in plain for value in row.values())
            plain = [{VALUE: value} for value in cells if value is not None]
        return distinct(plain)

    def _plain(self, value: Any) -> Any:
        if isinstance(value, dict) and value.keys() == {"labels", "properties"}:
            key = value["properties"].get(KEY)
            return key if key in self._names else self._keys.get(_signature(value["labels"], value["properties"]))
        if isinstance(value, dict):
            raise ValueError("it returns a relationship, a path or a map; return nodes or values")
        return [self._plain(item) for item in value] if isinstance(value, list) else value


def _signature(labels: Iterable[str], properties: Row) -> str:
    """Return a text that is equal for a node in a query and in the graph, which renames a property `key`."""
    own = {name: value for name, value in properties.items() if name.rstrip("_") != KEY}
    return json.dumps([sorted(labels), own], sort_keys=True)
