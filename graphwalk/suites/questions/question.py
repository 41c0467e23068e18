"""A question about one graph, and its right rows by two oracles.

The oracles are the question's Cypher in the store, and its evaluator on the graph in memory. Without an evaluator, the
Cypher results of the store and of the embedded engine are compared.
"""

import logging
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

from graphwalk.errors import ConfigError, OracleError, StoreError
from graphwalk.graphs.graph import value_order
from graphwalk.graphs.values import Row, Value, shown, shown_rows
from graphwalk.stores.base import GraphStore
from graphwalk.stores.cypher import Identifiers, render_cypher
from graphwalk.stores.loading import ChangedNames
from graphwalk.suites.questions.catalogue import IDENTIFIER_ROLES, QuestionKind
from graphwalk.suites.questions.graph_index import EntityType, GraphIndex
from graphwalk.suites.questions.kinds import PythonPart
from graphwalk.suites.rows import distinct, row_key, same_rows

_LOGGER = logging.getLogger("graphwalk")
_MOST_ROWS = 20
"""Rows listed in a message."""


class CannotHost(ConfigError):  # noqa: N818 - not always an error: own graphs are asked what they can host
    """Error for a question that cannot be asked about a graph, with the reason."""


@dataclass(frozen=True)
class Question:
    """A question about one graph; `parameters` are raw values of the graph."""

    kind: QuestionKind
    index: GraphIndex
    parameters: dict[str, Value]

    @cached_property
    def part(self) -> PythonPart | None:
        """Return the evaluator with these parameters; None if Cypher is the only oracle."""
        python: Any = self.kind.python
        return None if python is None else python(**self.parameters)

    @cached_property
    def answer_properties(self) -> tuple[str, ...]:
        """Return the properties that are answer fields, without names that the kind already uses."""
        owner = self.kind.answer_properties_of
        if owner is None:
            return ()
        entity: EntityType = "node" if self.kind.parameters[owner].role == "label" else "relationship"
        names = self.index.property_names(entity, str(self.parameters[owner]))
        return tuple(name for name in names if name not in self.kind.answer_fields)

    @property
    def answer_fields(self) -> tuple[str, ...]:
        """Return the columns of the query."""
        return (*self.kind.answer_fields, *self.answer_properties)

    @property
    def identifiers(self) -> Identifiers:
        """Return the names that the Cypher template inserts."""
        parameters = self.kind.parameters.items()
        named = {name: self.parameters[name] for name, p in parameters if p.role in IDENTIFIER_ROLES}
        return {**cast("dict[str, str | int]", named), "answer_properties": self.answer_properties, "paper": False}

    def names_in(self, store: GraphStore) -> ChangedNames | None:
        """Return the names that a store changed in its copy of the graph; None if it has the graph of the question."""
        return None if store.graph is None or store.graph is self.index.graph else store.changed_names

    def identifiers_in(self, store: GraphStore) -> Identifiers:
        """Return the names that the Cypher template inserts, as they are in a store."""
        names, identifiers = self.names_in(store), dict(self.identifiers)
        if names is None:
            return identifiers
        by_role = {"label": names.labels, "relationship_type": names.types, "property": names.properties}
        for name, parameter in self.kind.parameters.items():
            if parameter.role in by_role:
                text = str(identifiers[name])
                identifiers[name] = by_role[parameter.role].get(text, text)
        identifiers["answer_properties"] = tuple(names.properties.get(name, name) for name in self.answer_properties)
        return identifiers

    @property
    def values(self) -> dict[str, Value]:
        """Return the parameters of the Cypher query."""
        values = {}
        for name, parameter in self.kind.parameters.items():
            if parameter.role not in IDENTIFIER_ROLES:
                values[name] = self.parameters[name]
        return values

    @property
    def cypher(self) -> str:
        """Return the unscoped query, which runs on a database that contains only this graph."""
        return render_cypher(self.kind.cypher, self.identifiers)

    @cached_property
    def candidates(self) -> int | None:
        """Return the number of possible rows of an answer, or None if the kind does not define it."""
        sizes = []
        for name in self.kind.candidates:
            parameter = self.kind.parameters[name]
            value = str(self.parameters[name])
            if parameter.role == "label":
                sizes.append(len(self.index.keys_of(value)))
            elif parameter.role == "relationship_type":
                relationships = self.index.relationships_of.get(value, ())
                sizes.append(len({(relationship.source, relationship.target) for relationship in relationships}))
            else:
                values = self.index.values("node", str(self.parameters[parameter.of or ""]), value)
                sizes.append(len({value_order(value) for value in values}))
        return math.prod(sizes) if sizes else None

    def count_ways(self) -> int:
        """Estimate the work of an oracle: the possible start nodes plus the walks from them."""
        index, values, parameters = self.index, self.parameters, self.kind.parameters
        first = {parameter.role: name for name, parameter in reversed(parameters.items())}
        if "label" not in first:
            relationships = index.relationships_of.get(str(values.get(first.get("relationship_type", ""))), ())
            return len(relationships) or index.graph.node_count
        starts = index.keys_of(str(values[first["label"]]))
        if "key" in first:
            starts = [str(values[first["key"]])]
        elif "value" in first and parameters[of := str(parameters[first["value"]].of)].of == first["label"]:
            starts = index.keys_with(str(values[first["label"]]), str(values[of]), values[first["value"]])
        steps = 1 if self.part is None else self.part.steps
        walks = index.walks(max(steps, int(str(values.get(first.get("hops", ""), 1)))))
        return len(starts) + sum(walks[key] for key in starts)


async def cypher_rows(question: Question, store: GraphStore, *, paper: bool = False) -> list[Row]:
    """Return the rows that the store finds with the query of the kind; `paper`: as it is in the paper."""
    query = store.render(question.kind.cypher, {**question.identifiers_in(store), "paper": paper})
    rows = shown_rows(await store.run(query, question.values))
    names = question.names_in(store)
    if names is None:
        return rows
    original_of = {safe: name for name, safe in names.properties.items()}
    renamed_rows = []
    for row in rows:
        renamed_rows.append({original_of.get(field, field): value for field, value in row.items()})
    return renamed_rows


async def correct_rows(question: Question, embedded: GraphStore, most: int | None = None) -> list[Row]:
    """Return all correct rows of the evaluator once, including ties, else of the embedded engine, in ascending order.

    Return at most `most` + 1 rows of the evaluator.

    Raise ConfigError if the engine refuses the Cypher, or the columns differ from the answer fields, and CannotHost if
    the evaluator fails.
    """
    mistake = question.kind.mistake
    fields = ", ".join(question.answer_fields)
    if question.part is not None:
        try:
            rows = distinct((shown(row) for row in question.part.rows(question.index)), most)
        except Exception as error:  # code of another package may raise anything
            _LOGGER.exception("the Python part of the question %s failed", question.kind.name)
            raise CannotHost(f"its Python part failed: {type(error).__name__}: {error}") from error
        if rows and rows[0].keys() != set(question.answer_fields):
            raise mistake(f"the Python part returns {', '.join(rows[0])}, expected {fields}", "answer_fields")
        return rows
    try:
        rows = await cypher_rows(question, embedded)
    except StoreError as error:
        raise mistake(error.message, "cypher") from error
    for row in rows:
        if row.keys() != set(question.answer_fields):
            raise mistake(f"the query returns {', '.join(row)}, expected {fields}", "cypher")
        for name, value in row.items():
            if not isinstance(value, str | int | float | None):
                raise mistake(f"{name} is not a string, number, boolean or null", "cypher")
    return distinct(rows)


async def agreed_rows(
    question: Question, store: GraphStore, embedded: GraphStore, right: list[Row] | None = None
) -> list[Row]:
    """Return the correct rows if both oracles agree. `right`: those of `correct_rows`, if they were computed before.

    `embedded` has the same graph on the embedded engine. Raise OracleError with the rows that only one of them finds.
    """
    rows = await cypher_rows(question, store)
    expected = await correct_rows(question, embedded) if right is None else right
    if agree(question, rows, expected):
        return expected
    other = "the embedded engine" if question.part is None else "the evaluator"
    graph = question.index.graph
    file = question.kind.file.path
    keys = {row_key(row) for row in rows}
    expected_keys = {row_key(row) for row in expected}
    only = [row for row in distinct(rows) if row_key(row) not in expected_keys]
    only_other = [row for row in distinct(expected) if row_key(row) not in keys]
    raise OracleError(
        f"Cypher ({store.kind} store) and {other} differ on {question.kind.name}\n"
        f"graph: digest {graph.digest}, seed {graph.seed}\n"
        f"parameters: {shown(question.parameters)}\nquery: {question.cypher}\n"
        f"only Cypher found: {only[:_MOST_ROWS]}\nonly {other} found: {only_other[:_MOST_ROWS]}",
        hint=f"the Cypher in {file} must return every correct row in every store; else {other} or the store is wrong",
    )


def agree(question: Question, rows: list[Row], right: list[Row]) -> bool:
    """Return True for equal sets of rows, or if `rows` is one of several tied rows, of which Cypher returns one."""
    if question.part is not None and question.kind.mode == "ties-allowed" and right:
        return len(rows) == 1 and same_rows([*right, *rows], right)
    return same_rows(rows, right)
