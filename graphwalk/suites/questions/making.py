"""Making tasks: templates × graph, each with an answer that both oracles name."""

import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import cast

from graphwalk.seeds import stdlib_random
from graphwalk.stores.cypher import render_cypher
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.stores.store import GraphStore
from graphwalk.suites.questions.drawing import Drawn, draw_parameters
from graphwalk.suites.questions.oracle.agreement import Load, Question, agreed_rows
from graphwalk.suites.questions.oracle.graph_index import GraphIndex
from graphwalk.suites.questions.parameter_space import ParameterSpace
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.suites.questions.template import QuestionTemplate, choose_templates
from graphwalk.suites.questions.wording import render_wording
from graphwalk.types.graph import PropertyGraph
from graphwalk.types.values import Row, Value

Par = Callable[[QuestionTask], Awaitable[tuple[int, int]]]
"""Turns and calls that the scripted expert needs for a task."""
MAX_HOPS = 3
IDENTIFIER_ROLES = ("label", "relationship_type", "property", "hops")
"""Roles whose parameters stand in the text of a query; keys and values travel as parameters."""


async def make_tasks(
    graph: PropertyGraph,
    store: GraphStore,
    *,
    seed: int,
    questions: Sequence[str] | None = None,
    per_question: int = 1,
    max_hops: int | None = None,
    par: Par | None = None,
    load: Load | None = None,
) -> list[QuestionTask]:
    """`per_question` tasks of every question (names; None: all), all different, about the graph that `store` holds.

    A task depends on (seed, graph, question, its number) alone. `max_hops` bounds walks, by default what the graph's
    spec says, else 3. `par` fills par_turns and par_calls. `load` puts a graph into a database, in the search for
    a small counter-example; by default an embedded one.
    ConfigError where the graph cannot host a question; OracleError where the two oracles differ.
    """
    index = GraphIndex(graph)
    space = ParameterSpace(index, max_hops or int(graph.spec.get("hops", MAX_HOPS)))
    tasks = []
    for template in choose_templates(questions):
        taken: dict[Drawn, None] = {}
        for number in range(per_question):
            random = stdlib_random(seed, "question", graph.digest, template.name, number)
            parameters = draw_parameters(template, index, space, random, taken)
            taken[tuple(parameters.values())] = None
            question = instantiate(template, index, parameters)
            gold = await agreed_rows(question, index, store, load or EmbeddedDatabase().load)
            task = _task(template, question, gold, index, seed, number)
            tasks.append(task if par is None else await _with_par(task, par))
    return tasks


def instantiate(template: QuestionTemplate, index: GraphIndex, parameters: dict[str, Value]) -> Question:
    """A template with its parameters filled in, for both oracles."""
    properties = _answer_properties(template, index, parameters)
    named = {name: parameters[name] for name, p in template.parameters.items() if p.role in IDENTIFIER_ROLES}
    return Question(
        name=template.name,
        parameters=parameters,
        cypher=template.cypher,
        identifiers={**cast("dict[str, str | int]", named), "answer_properties": properties},
        values={name: parameters[name] for name in template.cypher_parameters},
        answer_fields=(*template.answer_fields, *properties),
        one_of_several=template.mode == "ties-allowed",
    )


def _answer_properties(
    template: QuestionTemplate, index: GraphIndex, parameters: Mapping[str, Value]
) -> tuple[str, ...]:
    """The properties that are answer fields too; one that is named like a field of the template is left out."""
    if template.answer_properties_of is None:
        return ()
    names = index.relationship_properties(str(parameters[template.answer_properties_of]))
    return tuple(name for name in names if name not in template.answer_fields)


def _task(
    template: QuestionTemplate, question: Question, gold: list[Row], index: GraphIndex, seed: int, number: int
) -> QuestionTask:
    fields, digest = question.answer_fields, index.graph.digest
    properties = fields[len(template.answer_fields) :]
    return QuestionTask(
        task_id=f"{digest[:12]}-{template.name}-{number}",
        template=template.name,
        template_version=template.version,
        category=template.category,
        question=render_wording(template.wording, question.parameters | {"answer_properties": properties}),
        parameters=question.parameters,
        cypher=render_cypher(template.cypher, question.identifiers),
        cypher_parameters=question.values,
        answer_fields=fields,
        scored_fields=template.scored_fields or fields,
        mode=template.mode,
        gold=[{field: row[field] for field in fields} for row in gold],
        gold_size=len(gold),
        candidates=count_candidates(template, index, question.parameters),
        seed=seed,
        graph_digest=digest,
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


async def _with_par(task: QuestionTask, par: Par) -> QuestionTask:
    turns, calls = await par(task)
    return task.model_copy(update={"par_turns": turns, "par_calls": calls})
