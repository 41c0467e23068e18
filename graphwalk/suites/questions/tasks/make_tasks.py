"""Task generation for one graph: generated, your own, or an anonymised copy. Two oracles agree on each target."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from graphwalk.config.agent import AgentConfig
from graphwalk.config.graph_source import GraphSource
from graphwalk.config.strict import validate
from graphwalk.config.templates import TextError, render_text
from graphwalk.errors import OracleError
from graphwalk.graphs.anonymise import AnonymisedCopy
from graphwalk.graphs.graph import PropertyGraph, value_order
from graphwalk.graphs.values import Row, Temporal, Value, shown
from graphwalk.seeds import stdlib_random
from graphwalk.stores.base import GraphStore
from graphwalk.stores.cypher import render_cypher
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.stores.sources import open_source, read_source
from graphwalk.suites.questions.agents.scripted import ExpertReference
from graphwalk.suites.questions.catalogue import QuestionKind, Target, Wording, has_plan, shipped_kinds
from graphwalk.suites.questions.config import QuestionsConfig
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.suites.questions.tasks.graph_index import GraphIndex
from graphwalk.suites.questions.tasks.parameters import Drawn, ParameterSearch, owner_of
from graphwalk.suites.questions.tasks.question import CannotHost, Question, agreed_rows, cypher_rows
from graphwalk.suites.rows import distinct
from graphwalk.variables import Variables

OWN_ROWS = 100
"""Default maximum of rows on your own graph."""


async def tasks_on(
    graph: PropertyGraph,
    store: GraphStore | None = None,
    *,
    seed: int,
    questions: Sequence[str] | None = None,
    per_question: int = 1,
    left_out: dict[str, str] | None = None,
) -> list[QuestionTask]:
    """Return tasks about a graph, by default on the embedded engine, with the figures of the expert.

    `questions` are named as in an experiment; None means those of the paper, on your own graph all that it can host,
    and the others are added to `left_out` with reasons. Raise ConfigError if the graph cannot host a question.
    """
    any_hosted = not graph.spec and questions is None
    most_rows = OWN_ROWS if any_hosted else None
    choice = {"questions": questions, "per_question": per_question, "most_rows": most_rows}
    config = validate(QuestionsConfig, choice, "questions")
    store = store or await EmbeddedDatabase().load(graph)
    reasons = ({} if left_out is None else left_out) if any_hosted else None
    tasks = await make_tasks(graph, store, config, seed=seed, left_out=reasons)
    expert = ExpertReference(await _embedded(graph, store), store.graph or graph, AgentConfig())
    return [task.model_copy(update=(await expert(task)).figures) if has_plan(task.template) else task for task in tasks]


async def tasks_of_source(source: GraphSource, variables: Variables, **choice: Any) -> list[QuestionTask]:
    """Return tasks about a file or an existing database; `choice` as for `tasks_on`."""
    graph = await read_source(source, variables)
    if source.file is not None:
        return await tasks_on(graph, **choice)
    async with open_source(source, variables) as opened:
        return await tasks_on(graph, opened.store, **choice)


async def make_tasks(
    graph: PropertyGraph,
    store: GraphStore,
    config: QuestionsConfig,
    *,
    seed: int,
    left_out: dict[str, str] | None = None,
) -> list[QuestionTask]:
    """Return `per_question` distinct tasks of every kind about the graph in `store`.

    A task depends only on seed, graph, question and its number. Questions that the graph cannot host are added to
    `left_out` with the reason; without it they raise ConfigError.

    Raise ConfigError if a YAML file is wrong, OracleError if two oracles differ.
    """
    graph = store.graph or graph
    index, embedded = GraphIndex(graph), await _embedded(graph, store)
    maker = TaskMaker(index, store, embedded, seed, config.target)
    search = ParameterSearch(index, embedded, config.drawing)

    async def drawn(kind: QuestionKind) -> list[QuestionTask]:
        taken: dict[Drawn, None] = {}
        tasks: list[QuestionTask] = []
        for number in range(config.per_question):
            await asyncio.sleep(0)  # episodes about other graphs may be in flight
            try:
                random = stdlib_random(seed, "question", graph.digest, kind.name, number)
                parameters, rows = await search.draw(kind, random, taken, config.most_rows)
                taken[tuple(parameters.values())] = None
                tasks.append(await maker.task(kind, number, parameters, rows))
            except CannotHost as error:
                if left_out is None:
                    raise
                left_out[f"{kind.name} from number {number + 1} on" if number else kind.name] = error.reason
                break
        return tasks

    kinds = config.kinds if graph.spec else config.own_kinds
    return [task for kind in kinds for task in await drawn(kind)]


async def _embedded(graph: PropertyGraph, store: GraphStore) -> GraphStore:
    """Return the graph on the embedded engine."""
    return store if store.in_process else await EmbeddedDatabase().load(graph)


async def copy_tasks(
    copy: AnonymisedCopy,
    originals: Sequence[QuestionTask],
    store: GraphStore,
    config: QuestionsConfig,
    *,
    seed: int,
    left_out: dict[str, str],
) -> list[QuestionTask]:
    """Return the same questions about the anonymised copy in `store`, with the names of the copy.

    Add your own questions with names or values in their text to `left_out`.
    """
    embedded = await _embedded(copy.graph, store)
    maker = TaskMaker(GraphIndex(copy.graph), store, embedded, seed)
    index = GraphIndex(copy.original)
    by_name = {kind.name: kind for kind in config.own_kinds}
    tasks = []
    for original in originals:
        kind = by_name[original.template]
        parameters = mapped_parameters(kind, original.parameters, index, copy)
        number = int(original.task_id.rpartition("-")[2])
        task = await maker.task(kind, number, parameters)
        # They differ if the text of the query contains names or values of the original.
        computed, again = [[row[f] for row in one.target for f in one.computed_fields] for one in (original, task)]
        if original.target_size == task.target_size and computed == again:
            tasks.append(task.model_copy(update={"twin_of": original.task_id}))
        else:
            left_out[kind.name] = "its text contains names or values that differ in the copy"
    return tasks


def mapped_parameters(
    kind: QuestionKind, parameters: Mapping[str, Value], index: GraphIndex, copy: AnonymisedCopy
) -> dict[str, Value]:
    """Return the parameters of a task in the names of the copy; `index` is that of the original."""
    names: dict[str, Mapping[str, str]] = {
        "label": copy.labels,
        "relationship_type": copy.relationship_types,
        "property": copy.properties,
        "key": copy.keys,
    }
    mapped: dict[str, Value] = {}
    for name, parameter in kind.parameters.items():
        value = parameters[name]
        if parameter.role in names:
            value = names[parameter.role][str(value)]
        elif parameter.role == "value":
            property_name = str(parameters[str(parameter.of)])
            # The raw value, for example a date for its text. Drawn values have distinct texts.
            raw_values = index.values(*owner_of(kind, name, parameters), property_name)
            raw = next(raw for raw in raw_values if value_order(shown(raw)) == value_order(value))
            value = copy.values.of(property_name, raw)
        mapped[name] = value
    return mapped


@dataclass
class TaskMaker:
    index: GraphIndex
    store: GraphStore
    embedded: GraphStore
    seed: int
    target: Target = "graphwalk"

    @cached_property
    def _expert(self) -> ExpertReference:
        return ExpertReference(self.embedded, self.index.graph, AgentConfig())

    async def task(
        self,
        kind: QuestionKind,
        number: int,
        parameters: dict[str, Value],
        right: list[Row] | None = None,
    ) -> QuestionTask:
        """Return the task with its target. Raise OracleError if two oracles differ.

        `right` contains the correct rows if they were computed before.
        """
        question = Question(kind, self.index, parameters)
        target = await agreed_rows(question, self.store, self.embedded, right)
        fields, digest = question.answer_fields, self.index.graph.digest
        shipped = shipped_kinds().get(kind.name)
        usual = shipped is not None and shipped.computed == kind.computed
        values = {**question.written, "answer_properties": question.answer_properties}
        task = QuestionTask(
            task_id=f"{digest[:12]}-{kind.name}-{number}",
            template=kind.name,
            template_version=kind.version,
            category=kind.category,
            question=_rendered(kind, kind.wording, values, "wording"),
            parameters=question.written,
            cypher=_with_times(question.cypher, question.values),
            cypher_parameters={name: question.written[name] for name in question.values},
            answer_fields=fields,
            scored_fields=kind.scored_fields or fields,
            mode=kind.mode,
            target=[{field: row[field] for field in fields} for row in target],
            target_size=len(target),
            candidates=question.candidates,
            seed=self.seed,
            graph_digest=digest,
            oracles=1 if kind.python is None else 2,
            computed=None if usual else kind.computed,
        )
        # Where nodes have no label, tools may not reach what the oracles see.
        if has_plan(kind.name) and any(not table.labels for table in self.index.graph.node_tables):
            try:
                await self._expert(task)
            except OracleError as error:
                reason = "its paths need nodes without a label, which tools cannot look up"
                hint = "give the nodes a label, or omit the question"
                raise CannotHost(self.index.graph, kind.name, reason, hint) from error
        return task if self.target == "graphwalk" else await self._with_paper_target(task, question)

    async def _with_paper_target(self, task: QuestionTask, question: Question) -> QuestionTask:
        """Return the task with the rows of the paper's query as its target. All columns are scored.

        A query with LIMIT 1 returns one of the tied rows; only this one is correct then.
        """
        kind, fields = question.kind, task.answer_fields
        cypher = render_cypher(kind.cypher, {**question.identifiers, "paper": True})
        rows = await cypher_rows(question, self.store, paper=True)
        target = [{field: row[field] for field in fields} for row in distinct(rows)]
        left_out = [row for row in task.target if row not in target] if kind.mode == "ties-allowed" else []
        changed: dict[str, Any] = {
            "cypher": _with_times(cypher, question.values),
            "scored_fields": fields,
            "key_fields": task.scored_fields,
            "mode": "set" if kind.mode == "ties-allowed" else kind.mode,
            "target": target,
            "target_size": len(target),
            "rows_left_out": left_out,
        }
        return task.model_copy(update=changed)


def _with_times(cypher: str, values: Mapping[str, Value]) -> str:
    """Return the query for JSON parameters: a date is made from its text, `date($value)`."""
    for name, value in values.items():
        if isinstance(value, Temporal):
            cypher = re.sub(rf"\${name}\b", f"{value.kind.replace(' ', '')}(${name})", cypher)
    return cypher


def in_other_words(task: QuestionTask, kind: QuestionKind, wording: Wording, seed: int) -> QuestionTask:
    """Return the task with one of the kind's wordings of this name, or unchanged without any.

    The last paragraph, which describes the answer format, stays.
    """
    texts = kind.other_wordings.get(wording, ()) if wording != "standard" else ()
    if not texts:
        return task
    text = stdlib_random(seed, "wording", task.task_id).choice(list(texts))
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
