"""Targets of your own questions: answers of the file, and rows of its queries."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from graphwalk.config.agent import MOST_ROWS, AgentConfig
from graphwalk.errors import StoreAwayError, StoreError
from graphwalk.evaluation.rows import compare_rows, distinct
from graphwalk.stores.base import GraphStore
from graphwalk.stores.cypher_check import CypherNotAllowedError, QueryRefused, check_cypher
from graphwalk.suites.ask.task import FreeQuestion, task_about
from graphwalk.suites.own_questions.dataset import VALUE, Dataset, OwnQuestion
from graphwalk.suites.own_questions.task import OwnQuestionTask
from graphwalk.tools.arguments import listed_names
from graphwalk.types.graph import KEY, PropertyGraph
from graphwalk.types.values import Row, flat, shown

_SIZE = "MATCH (n) RETURN count(n) AS nodes, COUNT { ()-->() } AS relationships"


async def holds_only(store: GraphStore, graph: PropertyGraph, agent: AgentConfig) -> bool:
    """Return True if the database of the store has no more than this graph, so that any query can be run there."""
    rows, _ = await store.first(_SIZE, {}, rows=1, seconds=agent.query_seconds)
    return rows == [{"nodes": graph.node_count, "relationships": graph.relationship_count}]


async def tasks_about(
    graph: PropertyGraph, engines: Sequence[GraphStore], dataset: Dataset, agent: AgentConfig, seed: int
) -> tuple[list[OwnQuestionTask], list[str]]:
    """Return the tasks of a file, and notes on targets that other sources do not confirm.

    Queries run on each engine, with the limits of write_cypher; the first one counts. Raise ConfigError with all
    mistakes of the file.
    """
    values, tasks, notes = _GraphValues(graph), list[OwnQuestionTask](), list[str]()
    for number, (place, question) in enumerate(dataset.questions.items(), 1):
        try:
            targets = await _targets(question, engines, values, agent)
        except ValueError as error:
            dataset.mistakes.append((place, f"{'cypher' if question.cypher else 'answer'}: {error}"))
            continue
        target = next(iter(targets.values()))
        others = [source for source, rows in targets.items() if not _are_equal(rows, target)]
        task = task_about(FreeQuestion(question=question.question), number, graph.digest, seed)
        own = {
            "suite": "own_questions",
            "template": "own_question",
            "task_id": question.id or task.task_id,
            "tags": question.tags,
            "cypher": question.cypher,
            "target": target,
            "target_size": len(target),
            "fields": tuple(target[0]) if target else (VALUE,),
            "names": {cell: names for row in target for cell in row.values() if (names := values.other_names(cell))},
        }
        tasks.append(OwnQuestionTask(**{**vars(task), **own}))
        if others:
            rows_of = " and ".join(others)
            notes.append(f"{own['task_id']}, {dataset.unit} {place}: the query gives other rows than {rows_of}")
    dataset.check()
    return tasks, notes


def _are_equal(rows: Sequence[Row], target: Sequence[Row]) -> bool:
    """Compare rows whose columns may have other names."""
    fields = tuple(target[0]) if target else ()
    alike = all(len(row) == len(fields) for row in rows)
    return (
        alike and compare_rows([dict(zip(fields, row.values(), strict=True)) for row in rows], target, fields).correct
    )


async def _targets(
    question: OwnQuestion, engines: Sequence[GraphStore], values: "_GraphValues", agent: AgentConfig
) -> dict[str, list[Row]]:
    """Return the target by its source, the one that counts first. Raise ValueError for a mistake."""
    if question.cypher is None:
        values.check(question.rows)
        return {"answer": distinct(question.rows)}
    target = values.target(await _rows(engines[0], question.cypher, agent))
    targets = {engines[0].kind: target}
    for engine in engines[1:]:
        try:
            targets[engine.kind] = values.target(await _rows(engine, question.cypher, agent))
        except _UnknownNameError:  # which Neo4j takes for a name without nodes
            if not target:
                raise
        except ValueError:  # engines do not support the same functions
            continue
    if not target:
        raise ValueError("it returns nothing")
    return targets | ({"answer": question.rows} if question.rows else {})


class _UnknownNameError(ValueError):
    """A query with a label, type or property that the graph lacks."""


async def _rows(engine: GraphStore, cypher: str, agent: AgentConfig) -> list[Row]:
    """Return the rows of a query, which only reads. Raise ValueError if it is refused, fails, is slow or too large."""
    seconds, most = agent.query_seconds, MOST_ROWS
    try:
        check_cypher(cypher)
        if engine.takes_queries:
            rows = (await engine.ask(cypher, seconds=seconds, rows=most + 1)).rows
        else:
            rows, _ = await engine.first(cypher, {}, rows=most + 1, seconds=seconds)
    except StoreAwayError:
        raise
    except QueryRefused as refused:
        names = {"get_schema": False, **refused.values}
        error_type = ValueError
        if refused.kind == "unknown_name":
            names |= listed_names(names["name"], names["names"])
            error_type = _UnknownNameError
        raise error_type(" ".join(agent.texts.message(refused.message, **names).split())) from refused
    except (StoreError, CypherNotAllowedError) as error:
        raise ValueError(" ".join(str(error).split())) from error
    if len(rows) > most:
        raise ValueError(f"it returns more than {most:,} rows")
    if any(sum(1 for _ in flat(row[name] for row in rows)) > most for name in (rows[0] if rows else ())):
        raise ValueError(f"its lists have more than {most:,} values")
    return rows


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
