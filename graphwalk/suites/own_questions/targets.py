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
from graphwalk.graphs.graph import KEY, Node, PropertyGraph
from graphwalk.graphs.values import Row, flat, shown
from graphwalk.stores.base import GraphStore
from graphwalk.stores.cypher_check import CypherNotAllowedError, check_cypher
from graphwalk.suites.rows import distinct

VALUE = "value"
"""Field of the rows of a target with single values."""
_MOST_MISTAKES = 20
"""Mistakes of a file of questions that an error lists."""


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
        """Return the rows of `answer`, none without it."""
        if self.answer is None:
            return []
        # "answer": "Bergen" means the same as "answer": ["Bergen"]
        items = self.answer if isinstance(self.answer, list) else [self.answer]
        return [_as_row(item) for item in items]

    @model_validator(mode="after")
    def _check_answer(self) -> Self:
        rows = self.rows
        if sum((bool(rows), self.cypher is not None, self.unanswerable)) != 1:
            raise ValueError("give one of answer, cypher and unanswerable: true")
        columns = {tuple(row) for row in rows}
        is_table = all(_has_plain_cells(row) for row in rows) and len(columns) <= 1
        if not is_table:
            raise ValueError("answer: expected a value, a list of values, or a list of rows with the same fields")
        return self


def _as_row(item: Any) -> Row:
    # {"harbour": "Bergen", "ships": 3} is a row, "Bergen" a single value.
    return item if isinstance(item, dict) else {VALUE: item}


def _has_plain_cells(row: Row) -> bool:
    """Return True if each cell is null, a text, a boolean, or a number that fits into 64 bits."""
    for value in row.values():
        if value is None or isinstance(value, str):
            continue
        if not isinstance(value, int | float) or not abs(value) < 2**63:
            return False
    return True


def read_questions(path: Path) -> dict[int, OwnQuestion]:
    """Return the questions by line. Raise ConfigError for another ending, or a line that cannot be used."""
    if path.suffix.lower() != ".jsonl":
        raise ConfigError(f"{path.name}: expected a .jsonl file")
    questions: dict[int, OwnQuestion] = {}
    first_lines: dict[str, int] = {}
    for line, row in usable_rows(path, ("question",), lambda row, line: (line, row)):
        question = validate(OwnQuestion, row, f"{path}: row {line}")
        first_line = first_lines.setdefault(question.id or question.question, line)
        if first_line != line:
            raise ConfigError(f"{path}: line {line} repeats the id or question of line {first_line}")
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
    values = _GraphValues(graph)
    targets: list[Target] = []
    mistakes: list[str] = []
    for line, question in read_questions(path).items():
        try:
            rows = await _target(question, engine, values, agent)
        except ValueError as error:
            field = "cypher" if question.cypher else "answer"
            mistakes.append(f"  line {line}: {field}: {error}")
            continue
        targets.append(Target(question, rows, values.other_names_in(rows)))
    if mistakes:
        heading = f"{path}: {counted(len(mistakes), 'mistake')}"
        raise ConfigError(
            "\n".join([heading, *mistakes[:_MOST_MISTAKES]]), hint=f"{manual('own_graph')} shows the format of the file"
        )
    return targets


async def _target(question: OwnQuestion, engine: GraphStore, values: "_GraphValues", agent: AgentConfig) -> list[Row]:
    """Return the rows of an answer, or of a query, which only reads.

    Raise ValueError for a mistake, and for a query that is refused, fails or is slow.
    """
    if question.cypher is None:
        values.check(question.rows)
        return distinct(question.rows)
    most_rows = MOST_ROWS + 1  # one more than a target may have tells that there are too many
    try:
        check_cypher(question.cypher)
        if engine.takes_queries:
            answer = await engine.ask(question.cypher, seconds=agent.query_seconds, rows=most_rows)
            rows = list(answer.rows)
        else:
            rows, _ = await engine.first(question.cypher, {}, rows=most_rows, seconds=agent.query_seconds)
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
        """Key of a node → its texts: {"h1": {"h1", "Bergen", "NOBGO"}}."""
        self._key_by_signature: dict[str, str] = {}
        for node in graph.nodes():
            self._add_node(node)
        for link in graph.relationships():
            values = [shown(value) for value in link.properties.values()]
            self._texts.update([link.type], link.properties, flat(values))

        self._owners = Counter[str]()
        """Text → number of nodes that have it."""
        for names in self._names.values():
            self._owners.update(names)

    def _add_node(self, node: Node) -> None:
        properties = shown(dict(node.properties))
        texts = {value for value in node.properties.values() if isinstance(value, str)}
        self._names[node.key] = texts | {node.key}
        self._key_by_signature.setdefault(_signature(node.labels, properties), node.key)
        self._texts.update([node.key], node.labels, properties, flat(properties.values()))

    def check(self, rows: Iterable[Row]) -> None:
        """Raise ValueError for rows with a text that is nowhere in the graph."""
        missing = []
        for row in rows:
            for value in row.values():
                if isinstance(value, str) and value not in self._texts:
                    missing.append(repr(value))
        if missing:
            raise ValueError(f"no key, value or name in the graph is {' or '.join(missing)}")

    def other_names_in(self, rows: Iterable[Row]) -> dict[str, tuple[str, ...]]:
        """Return the keys of nodes in rows, each with the texts that name this node and no other."""
        names_by_key = {}
        for row in rows:
            for value in row.values():
                names = self._other_names(value)
                if names:
                    names_by_key[value] = names
        return names_by_key

    def _other_names(self, key: Any) -> tuple[str, ...]:
        # Of {"h1": {"h1", "Bergen", "closed"}}, "Bergen" names only h1 if no other node has this text.
        names = self._names.get(key, ()) if isinstance(key, str) else ()
        return tuple(sorted(name for name in names if name != key and self._owners[name] == 1))

    def target(self, rows: Iterable[Row]) -> list[Row]:
        """Return rows, of one column its values and the members of its lists; a node is its key, null no value.

        Raise ValueError for a relationship, a path or a map.
        """
        plain_rows = [self._plain_row(row) for row in rows]
        if not plain_rows or len(plain_rows[0]) != 1:
            return distinct(plain_rows)

        # [{"collect(s.name)": ["Ada", "Bo"]}] are the values "Ada" and "Bo".
        cells: list[Any] = []
        for row in plain_rows:
            cells += row.values()
        return distinct({VALUE: value} for value in flat(cells) if value is not None)

    def _plain_row(self, row: Row) -> Row:
        return {name: self._plain(value) for name, value in row.items()}

    def _plain(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._plain(item) for item in value]
        if not isinstance(value, dict):
            return value

        # A node: {"labels": ["Harbour"], "properties": {"key": "h1", "name": "Bergen"}}
        if value.keys() == {"labels", "properties"}:
            key = value["properties"].get(KEY)
            if key in self._names:
                return key
            # A database of yours does not store our keys; its nodes are recognised by what they hold.
            return self._key_by_signature.get(_signature(value["labels"], value["properties"]))
        raise ValueError("it returns a relationship, a path or a map; return nodes or values")


def _signature(labels: Iterable[str], properties: Row) -> str:
    """Return a text that is equal for a node in a query and in the graph, which renames a property `key`."""
    own = {name: value for name, value in properties.items() if name.rstrip("_") != KEY}
    return json.dumps([sorted(labels), own], sort_keys=True)
