"""A question with its parameters filled in, in the form that either oracle takes."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import cast

from graphwalk.stores.cypher import Identifiers
from graphwalk.suites.questions.catalogue import QuestionKind
from graphwalk.suites.questions.oracle.graph_index import GraphIndex
from graphwalk.suites.questions.template import IDENTIFIER_ROLES, QuestionTemplate
from graphwalk.types.values import Row, Scalar, Value, shown


@dataclass(frozen=True)
class Question:
    """One question about one graph.

    `parameters` are values of the graph; where they are written down they are as a model sees them (`shown`).
    `cypher` is the Jinja text, `identifiers` what it names, `values` its Cypher parameters, `answer_fields` the
    columns of its rows. `one_of_several`: the Cypher returns one of the right rows, not all of them. `right_rows` finds
    them without Cypher; None where Cypher is the only oracle.
    """

    kind: QuestionKind
    parameters: dict[str, Value]
    cypher: str
    identifiers: Identifiers
    values: dict[str, Value]
    answer_fields: tuple[str, ...]
    one_of_several: bool
    right_rows: Callable[..., list[Row]] | None

    @property
    def written(self) -> dict[str, Scalar]:
        """The parameters as JSON."""
        return {name: shown(value) for name, value in self.parameters.items()}

    @property
    def name(self) -> str:
        return self.kind.name


def instantiate(kind: QuestionKind, index: GraphIndex, parameters: dict[str, Value]) -> Question:
    """A kind of question with these parameters."""
    template, python = kind.template, kind.python
    properties = _answer_properties(template, index, parameters)
    named = {name: parameters[name] for name, p in template.parameters.items() if p.role in IDENTIFIER_ROLES}
    return Question(
        kind=kind,
        parameters=parameters,
        cypher=template.cypher,
        identifiers={**cast("dict[str, str | int]", named), "answer_properties": properties},
        values={name: parameters[name] for name in template.cypher_parameters},
        answer_fields=(*template.answer_fields, *properties),
        one_of_several=python is not None and template.mode == "ties-allowed",
        right_rows=None if python is None else partial(python.right_rows, parameters=parameters),
    )


def count_candidates(template: QuestionTemplate, index: GraphIndex, parameters: Mapping[str, Value]) -> int | None:
    """Rows that the form of an answer allows: what a player that gives everything would give."""
    if not template.candidates:
        return None
    sizes = []
    for name in template.candidates:
        parameter, value = template.parameters[name], str(parameters[name])
        if parameter.role == "label":
            sizes.append(len(index.keys_of(value)))
        elif parameter.role == "relationship_type":
            sizes.append(len(index.joined_pairs(value)))
        else:
            sizes.append(len(index.node_values(str(parameters[parameter.of or ""]), value)))
    return math.prod(sizes)


def ways_of(question: Question, index: GraphIndex) -> int:
    """Nodes that an answer may begin at, and walks that begin there: what an oracle may have to look at."""
    roles = {name: p.role for name, p in question.kind.template.parameters.items()}
    by_role = {role: question.parameters[name] for name, role in reversed(roles.items())}
    if "label" not in by_role:
        return len(index.relationships_of.get(str(by_role.get("relationship_type")), ())) or index.graph.node_count
    steps = 1 if question.kind.python is None else question.kind.python.steps
    longest = max(steps, int(str(by_role.get("hops", 1))))
    starts = [str(by_role["key"])] if "key" in by_role else _starts_with_a_value(question, index)
    if starts is None:
        label = str(by_role["label"])
        return len(index.keys_of(label)) + index.walks_from(label, longest)
    walks = index.walks(longest)
    return len(starts) + sum(walks[key] for key in starts)


def _starts_with_a_value(question: Question, index: GraphIndex) -> list[str] | None:
    """The nodes of the first label, where the question tells a value that they have; None where it does not."""
    parameters = question.kind.template.parameters
    first = next(name for name, parameter in parameters.items() if parameter.role == "label")
    for name, parameter in parameters.items():
        if parameter.role == "value" and parameters[str(parameter.of)].of == first:
            given = question.parameters
            return index.keys_with(str(given[first]), str(given[str(parameter.of)]), given[name])
    return None


def _answer_properties(
    template: QuestionTemplate, index: GraphIndex, parameters: Mapping[str, Value]
) -> tuple[str, ...]:
    """The properties that are answer fields too; one that is named like a field of the template is left out."""
    if template.answer_properties_of is None:
        return ()
    owner = template.answer_properties_of
    of_nodes = template.parameters[owner].role == "label"
    names = (index.node_properties if of_nodes else index.relationship_properties)(str(parameters[owner]))
    return tuple(name for name in names if name not in template.answer_fields)
