"""Targets of your own questions: answers of the file, and rows of its queries."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from graphwalk.config.agent import MOST_ROWS, AgentConfig
from graphwalk.errors import ConfigError, StoreAwayError, StoreError, counted
from graphwalk.evaluation.rows import distinct
from graphwalk.files.bulk import MOST_LISTED
from graphwalk.stores.base import GraphStore
from graphwalk.stores.cypher_check import CypherNotAllowedError, QueryRefused, check_cypher
from graphwalk.suites.own_questions.dataset import VALUE, OwnQuestion, read_questions
from graphwalk.suites.own_questions.task import OwnQuestionTask
from graphwalk.tools.arguments import listed_names
from graphwalk.types.graph import KEY, PropertyGraph
from graphwalk.types.values import Row, flat, shown


async def tasks_about(
    graph: PropertyGraph, engine: GraphStore, path: Path, agent: AgentConfig, seed: int
) -> list[OwnQuestionTask]:
    """Return the tasks of a file. Queries run on the engine, with the limits of write_cypher.

    Raise ConfigError with the questions whose target is wrong.
    """
    values, tasks, mistakes = _GraphValues(graph), list[OwnQuestionTask](), list[str]()
    for line, question in read_questions(path).items():
        try:
            target = await _target(question, engine, values, agent)
        except ValueError as error:
            mistakes.append(f"  line {line}: {'cypher' if question.cypher else 'answer'}: {error}")
            continue
        digest = hashlib.sha256(f"{graph.digest}\x1f{question.question}".encode("utf-8", "replace")).hexdigest()
        task = OwnQuestionTask(
            task_id=question.id or f"ask-{digest[:12]}",
            suite="own_questions",
            template="own_question",
            question=question.question,
            parameters={},
            target=target,
            target_size=len(target),
            seed=seed,
            graph_digest=graph.digest,
            fields=tuple(target[0]) if target else (VALUE,),
            names={cell: names for row in target for cell in row.values() if (names := values.other_names(cell))},
            tags=question.tags,
            cypher=question.cypher,
        )
        tasks.append(task)
    if mistakes:
        lines = [f"{path}: {counted(len(mistakes), 'mistake')}", *mistakes[:MOST_LISTED]]
        raise ConfigError("\n".join(lines), hint="docs/own_graph.md shows the format of the file")
    return tasks


async def _target(question: OwnQuestion, engine: GraphStore, values: "_GraphValues", agent: AgentConfig) -> list[Row]:
    """Return the rows of an answer or of a query. Raise ValueError for a mistake."""
    if question.cypher is None:
        values.check(question.rows)
        return distinct(question.rows)
    target = values.target(await _rows(engine, question.cypher, agent))
    if not target:
        raise ValueError("it returns nothing")
    if len(target) > MOST_ROWS:
        raise ValueError(f"it returns more than {MOST_ROWS:,} rows")
    return target


async def _rows(engine: GraphStore, cypher: str, agent: AgentConfig) -> list[Row]:
    """Return the rows of a query, which only reads, and one more than allowed at most.

    Raise ValueError if it is refused, fails or is slow.
    """
    seconds, most = agent.query_seconds, MOST_ROWS + 1
    try:
        check_cypher(cypher)
        if engine.takes_queries:
            return list((await engine.ask(cypher, seconds=seconds, rows=most)).rows)
        rows, _ = await engine.first(cypher, {}, rows=most, seconds=seconds)
        return rows
    except StoreAwayError:
        raise
    except QueryRefused as refused:
        names = {"get_schema": False, **refused.values}
        if refused.kind == "unknown_name":
            names |= listed_names(names["name"], names["names"])
        raise ValueError(" ".join(agent.texts.message(refused.message, **names).split())) from refused
    except (StoreError, CypherNotAllowedError) as error:
        raise ValueError(" ".join(str(error).split())) from error


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
