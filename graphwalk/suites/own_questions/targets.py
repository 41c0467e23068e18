"""Targets of your own questions: answers of the file, and rows of its queries."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from graphwalk.config.prompts import shipped_prompts
from graphwalk.errors import StoreAwayError, StoreError
from graphwalk.evaluation.rows import row_set
from graphwalk.stores.base import GraphStore
from graphwalk.stores.cypher_check import CypherNotAllowedError, QueryRefused, check_cypher
from graphwalk.suites.ask.task import FreeQuestion, task_about
from graphwalk.suites.own_questions.dataset import VALUE, Dataset, OwnQuestion
from graphwalk.suites.own_questions.task import OwnQuestionTask
from graphwalk.tools.arguments import listed_names
from graphwalk.tools.observed import KEY
from graphwalk.types.graph import PropertyGraph
from graphwalk.types.values import Row, shown

MOST_ROWS = 1_000
"""Rows of a target."""


async def tasks_about(
    graph: PropertyGraph, stores: Sequence[GraphStore], dataset: Dataset, seconds: float, seed: int
) -> list[OwnQuestionTask]:
    """Return the tasks of a file. Queries run for `seconds` on each store; the target is that of the first.

    Raise ConfigError with all mistakes of the file.
    """
    texts, tasks = _GraphTexts(graph), []
    for number, (place, question) in enumerate(dataset.questions.items(), 1):
        try:
            gold, remark = await _target(question, stores, texts, seconds)
        except ValueError as error:
            dataset.mistakes.append((place, f"{'cypher' if question.cypher else 'answer'}: {error}"))
            continue
        task = task_about(FreeQuestion(question=question.question), number, graph.digest, seed)
        of_question = {"task_id": question.id or task.task_id, "tags": question.tags, "cypher": question.cypher}
        of_target = {"gold": gold, "gold_size": len(gold), "fields": tuple(gold[0]) if gold else (VALUE,)}
        names = {value: names for row in gold for value in row.values() if (names := texts.other_names(value))}
        common = {"suite": "own_questions", "template": "own_question", "names": names, "remark": remark}
        tasks.append(OwnQuestionTask(**{**vars(task), **of_question, **of_target, **common}))
    dataset.check()
    return tasks


async def _target(
    question: OwnQuestion, stores: Sequence[GraphStore], texts: "_GraphTexts", seconds: float
) -> tuple[list[Row], str]:
    """Return the target, and a remark if another store or the file differs. Raise ValueError for a mistake."""
    if question.cypher is None:
        texts.check(question.rows)
        return _distinct(question.rows), ""
    targets = {"answer": question.rows} if question.rows else {}
    for store in stores:
        try:
            targets[store.kind] = texts.target(await _rows(store, question.cypher, seconds))
        except ValueError:
            if store is stores[0]:
                raise
    first = targets[stores[0].kind]
    others = [
        name for name, rows in targets.items() if row_set(rows, tuple(rows[0])) != row_set(first, tuple(first[0]))
    ]
    return first, f"the query gives other rows than {' and '.join(others)}" if others else ""


async def _rows(store: GraphStore, cypher: str, seconds: float) -> list[Row]:
    """Return the rows of a query, which only reads. Raise ValueError if it is refused, fails or is slow."""
    try:
        check_cypher(cypher)
        if store.takes_queries:
            return (await store.ask(cypher, seconds=seconds, rows=MOST_ROWS + 1)).rows
        return (await store.first(cypher, {}, rows=MOST_ROWS + 1, seconds=seconds))[0]
    except StoreAwayError:
        raise
    except QueryRefused as refused:
        values = {"look_closer": False, **refused.values}
        values |= listed_names(values["name"], values["names"]) if refused.kind == "unknown_name" else {}
        raise ValueError(" ".join(shipped_prompts().message(refused.message, **values).split())) from refused
    except (StoreError, CypherNotAllowedError) as error:
        raise ValueError(" ".join(str(error).split())) from error


class _GraphTexts:
    """Texts of a graph: keys, values, labels, types and names of properties."""

    def __init__(self, graph: PropertyGraph) -> None:
        self._names: dict[str, set[str]] = {}
        self._keys: dict[str, str] = {}
        self._all: set[str] = set()
        for node in graph.nodes():
            properties = shown(dict(node.properties))
            self._names[node.key] = {node.key, *(value for value in node.properties.values() if isinstance(value, str))}
            self._keys.setdefault(_signature(node.labels, properties), node.key)
            self._all |= {node.key, *node.labels, *properties, *_texts(properties.values())}
        for link in graph.relationships():
            self._all |= {link.type, *link.properties, *_texts(map(shown, link.properties.values()))}
        self._owners = Counter(name for names in self._names.values() for name in names)

    def check(self, rows: Iterable[Row]) -> None:
        """Raise ValueError for rows with a text that is nowhere in the graph."""
        cells = [value for row in rows for value in row.values()]
        if missing := [repr(value) for value in cells if isinstance(value, str) and value not in self._all]:
            raise ValueError(f"no key, value or name in the graph is {' or '.join(missing)}")

    def other_names(self, key: Any) -> tuple[str, ...]:
        """Return the texts that name the node with this key and no other node."""
        names = self._names.get(key, ()) if isinstance(key, str) else ()
        return tuple(sorted(name for name in names if name != key and self._owners[name] == 1))

    def target(self, rows: Sequence[Row]) -> list[Row]:
        """Return rows, of one column its values and the members of its lists; a node is its key, null no value.

        Raise ValueError without a value, for too many rows, and for a relationship, a path or a map.
        """
        plain = [{name: self._value(value) for name, value in row.items()} for row in rows]
        if plain and len(plain[0]) == 1:
            cells = [value for row in plain for value in row.values()]
            values = [item for value in cells for item in (value if isinstance(value, list) else [value])]
            plain = [{VALUE: value} for value in values if value is not None]
        if not plain or len(plain) > MOST_ROWS:
            raise ValueError(f"it returns more than {MOST_ROWS:,} rows" if plain else "it returns nothing")
        return _distinct(plain)

    def _value(self, value: Any) -> Any:
        if isinstance(value, dict) and value.keys() == {"labels", "properties"}:
            key = value["properties"].get(KEY)
            return key if key in self._names else self._keys.get(_signature(value["labels"], value["properties"]))
        if isinstance(value, dict):
            raise ValueError("it returns a relationship, a path or a map; return nodes or values")
        return [self._value(item) for item in value] if isinstance(value, list) else value


def _signature(labels: Iterable[str], properties: Row) -> str:
    """Return a text that is equal for a node in a query and in the graph, which renames a property `key`."""
    own = {name: value for name, value in properties.items() if name.rstrip("_") != KEY}
    return json.dumps([sorted(labels), own], sort_keys=True)


def _texts(values: Iterable[Any]) -> set[str]:
    """Return the texts among values and in their lists."""
    items = [item for value in values for item in (value if isinstance(value, list) else [value])]
    return {item for item in items if isinstance(item, str)}


def _distinct(rows: Iterable[Row]) -> list[Row]:
    """Return rows once each, in one order."""
    by_text = {json.dumps(row, sort_keys=True): row for row in rows}
    return [by_text[text] for text in sorted(by_text)]
