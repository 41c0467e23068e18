"""Task generation for one graph: generated, your own, or an anonymised copy. Two oracles agree on each target."""

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from graphwalk.config.strict import validate
from graphwalk.config.templates import TextError, render_text
from graphwalk.errors import ConfigError
from graphwalk.graphs.anonymise import AnonymisedCopy
from graphwalk.graphs.graph import PropertyGraph
from graphwalk.graphs.values import Row, Temporal, Value, shown
from graphwalk.seeds import stdlib_random
from graphwalk.stores.base import GraphStore
from graphwalk.stores.cypher import render_cypher
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.loaded_graph import GraphInstance, LoadedGraph
from graphwalk.suites.questions.catalogue import QuestionKind, Wording, has_plan, shipped_kinds
from graphwalk.suites.questions.config import QuestionsConfig
from graphwalk.suites.questions.graph_index import GraphIndex
from graphwalk.suites.questions.parameters import ParameterSearch
from graphwalk.suites.questions.question import CannotHost, Question, agreed_rows, cypher_rows
from graphwalk.suites.questions.scripted import EXPERT
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.suites.reference import expert_walk
from graphwalk.suites.rows import distinct
from graphwalk.suites.suite import Tasks

OWN_ROWS = 100
"""Default maximum of rows on your own graph."""


async def tasks_on(
    graph: PropertyGraph, *, seed: int, questions: Sequence[str] | None = None, per_question: int = 1
) -> Tasks[QuestionTask]:
    """Return tasks about a graph on the embedded engine, with the figures of the expert.

    `questions` are named as in an experiment; None means those of the paper, on your own graph all that it can host.
    Raise ConfigError if the graph cannot host another one.
    """
    config = validate(QuestionsConfig, {"questions": questions, "per_question": per_question}, "questions")
    store = await EmbeddedDatabase().load(graph)
    tasks, left_out, _ = await make_tasks(graph, store, config, seed=seed)
    # Your own graph need not host all questions that ship.
    must_host_all = graph.spec or questions is not None
    if left_out and must_host_all:
        name, reason = next(iter(left_out.items()))
        raise ConfigError(
            f"the graph {graph.digest[:12]} cannot host the question {name}: {reason}",
            hint="use a graph with more nodes or relationships, fewer questions of a kind, or omit this one",
        )

    about = LoadedGraph(GraphInstance.of(graph), store)
    with_figures = []
    for task in tasks:
        if has_plan(task.template):
            walk = await expert_walk(EXPERT, task, about)
            task = task.model_copy(update=walk.figures)
        with_figures.append(task)
    return Tasks(with_figures, left_out)


async def make_tasks(
    graph: PropertyGraph, store: GraphStore, config: QuestionsConfig, *, seed: int, most: int | None = None
) -> Tasks[QuestionTask]:
    """Return `per_question` distinct tasks of every kind about the graph in `store`, and what it cannot host.

    At most `most` tasks are made; None: all. A task depends only on seed, graph, question and its number. Raise
    ConfigError if a YAML file is wrong, OracleError if two oracles differ.
    """
    pairs, left_out = await _questions_and_tasks(store.graph or graph, store, config, seed, most)
    return Tasks([task for _, task in pairs], left_out)


async def _questions_and_tasks(
    graph: PropertyGraph, store: GraphStore, config: QuestionsConfig, seed: int, most: int | None = None
) -> tuple[list[tuple[Question, QuestionTask]], dict[str, str]]:
    """Return questions with their tasks, and what the graph cannot host.

    The latter is a reason by kind, or by kind and number: {"path_finding from number 3 on": "none of 2,000 …"}.
    """
    embedded = store if store.in_process else await EmbeddedDatabase().load(graph)
    most_rows = config.most_rows
    if most_rows is None and not graph.spec:
        most_rows = OWN_ROWS
    search = ParameterSearch(GraphIndex(graph), embedded, config.drawing, most_rows)
    pairs: list[tuple[Question, QuestionTask]] = []
    left_out: dict[str, str] = {}
    for kind in config.kinds if graph.spec else config.own_kinds:
        taken: set[tuple[Value, ...]] = set()
        for number in range(config.per_question):
            if most is not None and len(pairs) >= most:
                return pairs, left_out
            await asyncio.sleep(0)  # Ctrl-C is seen between two tasks
            try:
                random = stdlib_random(seed, "question", graph.digest, kind.name, number)
                question, rows = await search.draw(kind, random, taken)
            except CannotHost as error:
                name = f"{kind.name} from number {number + 1} on" if number else kind.name
                left_out[name] = error.message
                break
            taken.add(tuple(question.parameters.values()))
            target = await agreed_rows(question, store, embedded, rows)
            task = _task(question, number, target, seed)
            if config.target == "paper":
                task = await _with_paper_target(task, question, store)
            pairs.append((question, task))
    return pairs, left_out


async def copy_tasks(
    copy: AnonymisedCopy, store: GraphStore, config: QuestionsConfig, *, seed: int
) -> Tasks[QuestionTask]:
    """Return the questions about the original of an anonymised copy, asked about the copy in `store` by its names.

    Your own questions with names or values in their text are left out.
    """
    original_store = await EmbeddedDatabase().load(copy.original)
    pairs, _ = await _questions_and_tasks(copy.original, original_store, config, seed)
    embedded = store if store.in_process else await EmbeddedDatabase().load(copy.graph)
    index = GraphIndex(copy.graph)
    tasks: list[QuestionTask] = []
    left_out: dict[str, str] = {}
    for question, original in pairs:
        question_in_copy = Question(question.kind, index, _renamed(question, copy))
        number = int(original.task_id.rpartition("-")[2])
        task = _task(question_in_copy, number, await agreed_rows(question_in_copy, store, embedded), seed)
        # They differ if the text of the query contains names or values of the original.
        has_same_size = original.target_size == task.target_size
        if has_same_size and _computed_values(original) == _computed_values(task):
            tasks.append(task.model_copy(update={"twin_of": original.task_id}))
        else:
            left_out[task.template] = "its text contains names or values that differ in the copy"
    return Tasks(tasks, left_out)


def _computed_values(task: QuestionTask) -> list[Any]:
    """Return the values of a target that do not depend on names: counts, for example."""
    values = []
    for row in task.target:
        for field in task.computed_fields:
            values.append(row[field])
    return values


def _renamed(question: Question, copy: AnonymisedCopy) -> dict[str, Value]:
    """Return the parameters of a question by the names and values of the copy."""
    names: dict[str, Mapping[str, str]] = {
        "label": copy.labels,
        "relationship_type": copy.relationship_types,
        "property": copy.properties,
        "key": copy.keys,
    }
    renamed = dict(question.parameters)
    for name, parameter in question.kind.parameters.items():
        value = question.parameters[name]
        if parameter.role in names:
            renamed[name] = names[parameter.role][str(value)]
        elif parameter.role == "value":
            # A value is renamed by its property: the copy has another 1999 for `year` than for `price`.
            property_name = str(question.parameters[str(parameter.of)])
            renamed[name] = copy.values.of(property_name, value)
    return renamed


def _task(question: Question, number: int, target: list[Row], seed: int) -> QuestionTask:
    """Return the task of a question with its target."""
    kind = question.kind
    graph = question.index.graph
    fields = question.answer_fields
    parameters = shown(question.parameters)
    values_of_text = {**parameters, "answer_properties": question.answer_properties}
    is_shipped = kind is shipped_kinds().get(kind.name)
    return QuestionTask(
        task_id=f"{graph.digest[:12]}-{kind.name}-{number}",
        template=kind.name,
        template_version=kind.version,
        category=kind.category,
        question=_rendered(kind, kind.wording, values_of_text, "wording"),
        parameters=parameters,
        cypher=_with_times(question.cypher, question.values),
        cypher_parameters={name: parameters[name] for name in question.values},
        answer_fields=fields,
        scored_fields=kind.scored_fields or fields,
        mode=kind.mode,
        target=_with_columns(target, fields),
        target_size=len(target),
        candidates=question.candidates,
        seed=seed,
        graph_digest=graph.digest,
        oracles=1 if kind.python is None else 2,
        computed=None if is_shipped else kind.computed,
    )


def _with_columns(rows: Iterable[Row], fields: Sequence[str]) -> list[Row]:
    """Return the rows with their values in the order of the fields."""
    ordered = []
    for row in rows:
        ordered.append({field: row[field] for field in fields})
    return ordered


async def _with_paper_target(task: QuestionTask, question: Question, store: GraphStore) -> QuestionTask:
    """Return the task with the rows of the paper's query as its target. All columns are scored.

    A query with LIMIT 1 returns one of the tied rows; only this one is correct then.
    """
    kind = question.kind
    rows = await cypher_rows(question, store, paper=True)
    target = _with_columns(distinct(rows), task.answer_fields)
    cypher = render_cypher(kind.cypher, {**question.identifiers, "paper": True})
    changes: dict[str, Any] = {
        "cypher": _with_times(cypher, question.values),
        "scored_fields": task.answer_fields,
        "key_fields": task.scored_fields,
        "mode": kind.mode,
        "target": target,
        "target_size": len(target),
        "rows_left_out": [],
    }
    if kind.mode == "ties-allowed":
        changes["mode"] = "set"
        changes["rows_left_out"] = [row for row in task.target if row not in target]
    return task.model_copy(update=changes)


def _with_times(cypher: str, values: Mapping[str, Value]) -> str:
    """Return the query for JSON parameters: a date is made from its text, `date($value)`."""
    for name, value in values.items():
        if isinstance(value, Temporal):
            # "local datetime" → localdatetime($value)
            function = value.kind.replace(" ", "")
            cypher = re.sub(rf"\${name}\b", f"{function}(${name})", cypher)
    return cypher


def in_other_words(task: QuestionTask, kind: QuestionKind, wording: Wording, seed: int) -> QuestionTask:
    """Return the task with one of the kind's wordings of this name, or unchanged without any.

    The last paragraph, which describes the answer format, stays.
    """
    texts: Sequence[str] = ()
    if wording != "standard":
        texts = kind.other_wordings.get(wording, ())
    if not texts:
        return task
    text = stdlib_random(seed, "wording", task.task_id).choice(list(texts))

    # "Which films did Ida direct?\n\nReturn a list of …": a question of one paragraph describes no format.
    first, _, form = task.question.rpartition("\n\n")
    if not first:
        return task
    question = _rendered(kind, text, task.parameters, "other_wordings", wording)
    return task.model_copy(update={"question": f"{question}\n\n{form}"})


def _rendered(kind: QuestionKind, text: str, values: Mapping[str, Any], *field: str) -> str:
    """Return the question that a model reads. Raise ConfigError with file, line and field."""
    try:
        return render_text(text, **values)
    except TextError as error:
        raise kind.mistake(f"cannot be rendered for {values}: {error.problem}", *field) from error
