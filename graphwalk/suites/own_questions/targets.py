"""Targets of your own questions: answers of the file, and rows of its queries."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Any

from graphwalk.config.prompts import shipped_prompts
from graphwalk.errors import StoreAwayError, StoreError, did_you_mean
from graphwalk.evaluation.values import normalise
from graphwalk.stores.base import GraphStore
from graphwalk.stores.cypher_check import CypherNotAllowedError, QueryRefused, check_cypher
from graphwalk.suites.own_questions.dataset import Dataset, OwnQuestion
from graphwalk.suites.own_questions.task import OwnQuestionTask
from graphwalk.tools.arguments import listed_names
from graphwalk.tools.observed import KEY
from graphwalk.types.graph import PropertyGraph
from graphwalk.types.values import Row, shown

MOST_ROWS = 1_000
"""Rows of a target."""
_MOST_NAMES = 20_000
"""Texts of a graph among which a similar one is looked for."""


async def tasks_about(
    graph: PropertyGraph, stores: Sequence[GraphStore], dataset: Dataset, query_seconds: float, seed: int
) -> list[OwnQuestionTask]:
    """Return the tasks of a file. Queries run on each store; the target is that of the first.

    Raise ConfigError with all mistakes of the file.
    """
    texts, tasks = GraphTexts(graph), []
    for number, (place, question) in enumerate(dataset.questions, 1):
        try:
            gold, remark = await _target(question, stores, texts, query_seconds)
        except ValueError as error:
            dataset.mistakes.append((place, f"{'cypher' if question.cypher else 'answer'}: {error}"))
            continue
        identity = sha256(f"{graph.digest}\x1f{question.question}".encode("utf-8", "replace")).hexdigest()[:12]
        tasks.append(
            OwnQuestionTask(
                task_id=question.id or f"own-{identity}",
                template="own_question",
                question=question.question,
                parameters={},
                gold=gold,
                gold_size=len(gold),
                seed=seed,
                graph_digest=graph.digest,
                number=number,
                fields=tuple(gold[0]) if gold and isinstance(gold[0], dict) else (),
                names={value: names for value in _cells(gold) if (names := texts.other_names(value))},
                unanswerable=question.unanswerable,
                tags=question.tags,
                cypher=question.cypher,
                remark=remark,
            )
        )
    dataset.check()
    return tasks


async def _target(
    question: OwnQuestion, stores: Sequence[GraphStore], texts: "GraphTexts", seconds: float
) -> tuple[list[Any], str]:
    """Return the target, and a remark if other stores or the file differ from it. Raise ValueError for a mistake."""
    if question.cypher is None:
        if problems := list(filter(None, map(texts.problem, _cells(question.items)))):
            raise ValueError("; ".join(problems))
        return _distinct(question.items), ""
    targets = {"the answer of the file": question.items} if question.items else {}
    for store in stores:
        try:
            targets[store.kind] = texts.target(await _rows(store, question.cypher, seconds))
        except ValueError:
            if store is stores[0]:
                raise
    target = targets[stores[0].kind]
    others = [name for name, items in targets.items() if _plain(items) != _plain(target)]
    return target, f"the query gives other rows than {' and '.join(others)}" if others else ""


async def _rows(store: GraphStore, cypher: str, seconds: float) -> list[Row]:
    """Return the rows of a query, which only reads. Raise ValueError if it is refused, fails or is slow."""
    try:
        if store.takes_queries:
            return (await store.ask(cypher, seconds=seconds, rows=MOST_ROWS + 1)).rows
        check_cypher(cypher)
        return (await store.first(cypher, {}, rows=MOST_ROWS + 1, seconds=seconds))[0]
    except StoreAwayError:
        raise
    except QueryRefused as refused:
        values = {"look_closer": False, **refused.values}
        values |= listed_names(values["name"], values["names"]) if refused.kind == "unknown_name" else {}
        raise ValueError(" ".join(shipped_prompts().message(refused.message, **values).split())) from refused
    except (StoreError, CypherNotAllowedError) as error:
        raise ValueError(" ".join(str(error).split())) from error


class GraphTexts:
    """Texts of a graph: keys, values, labels, types and names of properties."""

    def __init__(self, graph: PropertyGraph) -> None:
        self._names: dict[str, tuple[str, ...]] = {}
        self._keys: dict[str, str] = {}
        self._all: set[str] = set()
        for node in graph.nodes():
            values = dict.fromkeys([node.key, *(value for value in node.properties.values() if isinstance(value, str))])
            self._names[node.key] = tuple(values)
            self._keys.setdefault(_signature(node.labels, shown(dict(node.properties))), node.key)
            self._all |= {*values, *node.labels, *node.properties, *_texts(node.properties.values())}
        for link in graph.relationships():
            self._all |= {link.type, *link.properties, *_texts(link.properties.values())}
        self._owners = Counter(name for names in self._names.values() for name in names)

    def problem(self, value: Any) -> str | None:
        """Return what is wrong with a value of an answer: it is a text that is nowhere in the graph."""
        if not isinstance(value, str) or value in self._all:
            return None
        close = did_you_mean(value, self._all if len(self._all) <= _MOST_NAMES else ())
        return f"{value!r} is no key, value or name in the graph{close}"

    def other_names(self, key: Any) -> tuple[str, ...]:
        """Return the texts that name the node with this key and no other node."""
        names = self._names.get(key, ()) if isinstance(key, str) else ()
        return tuple(name for name in names if name != key and self._owners[name] == 1)

    def target(self, rows: Sequence[Row]) -> list[Any]:
        """Return values for one column, of lists their members, and else rows; a node is its key, null no value.

        Raise ValueError without a value, for too many rows, and for a relationship, a path or a map.
        """
        plain = [{name: self._value(value) for name, value in row.items()} for row in rows]
        if plain and len(plain[0]) == 1:
            values = [item for value in _cells(plain) for item in (value if isinstance(value, list) else [value])]
            plain = [value for value in values if value is not None]
        if not plain or len(plain) > MOST_ROWS:
            raise ValueError(f"it returns more than {MOST_ROWS:,} rows" if plain else "it returns nothing")
        return _distinct(plain)

    def _value(self, value: Any) -> Any:
        if isinstance(value, dict) and value.keys() == {"labels", "properties"}:
            key = value["properties"].get(KEY)
            return key if key in self._names else self._keys[_signature(value["labels"], value["properties"])]
        if isinstance(value, dict):
            raise ValueError("it returns a relationship, a path or a map; return nodes or values")
        return [self._value(item) for item in value] if isinstance(value, list) else value


def _signature(labels: Iterable[str], properties: Row) -> str:
    """Return a text that is equal for a node in a query and in the graph, which renames a property `key`."""
    own = {name: value for name, value in properties.items() if name.rstrip("_") != KEY}
    return json.dumps([sorted(labels), own], sort_keys=True)


def _texts(values: Iterable[Any]) -> Iterator[str]:
    """Yield the texts among values and in their lists, dates as text."""
    for value in map(shown, values):
        yield from (item for item in (value if isinstance(value, list) else [value]) if isinstance(item, str))


def _cells(items: Iterable[Any]) -> list[Any]:
    return [value for item in items for value in (item.values() if isinstance(item, dict) else [item])]


def _distinct(items: Iterable[Any]) -> list[Any]:
    """Return values or rows once each, in one order."""
    by_text = {json.dumps(item, sort_keys=True): item for item in items}
    return [by_text[text] for text in sorted(by_text)]


def _plain(items: Iterable[Any]) -> set[str]:
    """Return values or rows for a comparison, without names of columns."""
    return {repr([normalise(value) for value in _cells([item])]) for item in items}
