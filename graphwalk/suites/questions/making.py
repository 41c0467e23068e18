"""Making tasks: templates × graph, each with an answer that both oracles name."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence

from jinja2 import TemplateError

from graphwalk.errors import OracleError
from graphwalk.seeds import stdlib_random
from graphwalk.stores.cypher import render_cypher
from graphwalk.stores.store import GraphStore
from graphwalk.suites.drive import Played
from graphwalk.suites.questions.catalogue import QuestionKind, shipped_kinds
from graphwalk.suites.questions.drawing import GENERATED, CannotHost, Drawn, Effort, draw_parameters
from graphwalk.suites.questions.oracle.agreement import agreed_rows
from graphwalk.suites.questions.oracle.graph_index import GraphIndex
from graphwalk.suites.questions.oracle.scratch import LoadGraph, Scratch
from graphwalk.suites.questions.parameter_space import ParameterSpace
from graphwalk.suites.questions.question import Question, count_candidates, instantiate
from graphwalk.suites.questions.row_bounds import ANY_ROWS, RowBounds
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.suites.questions.wording import render_wording
from graphwalk.types.graph import PropertyGraph
from graphwalk.types.values import Row, Temporal, Value

Par = Callable[[QuestionTask], Awaitable[Played]]
"""The walk of the scripted expert."""
LeaveOut = Callable[[str, str], None]
"""Told the name of a question that a graph cannot host, and why."""
MAX_HOPS = 3
_WALKED_IN_VAIN = 10
"""Choices whose answer the tools cannot reach before a question is left out."""


async def make_tasks(
    graph: PropertyGraph,
    store: GraphStore,
    *,
    seed: int,
    kinds: Sequence[QuestionKind] | None = None,
    per_question: int = 1,
    answer_rows: Sequence[RowBounds] = (ANY_ROWS,),
    max_hops: int | None = None,
    index: GraphIndex | None = None,
    par: Par | None = None,
    load: LoadGraph | None = None,
    effort: Effort = GENERATED,
    leave_out: LeaveOut | None = None,
) -> list[QuestionTask]:
    """`per_question` tasks of every kind (None: all that ship) with answers within each of the bounds `answer_rows`,
    all different, about the graph that `store` holds.

    A task depends on (seed, graph, question, its number) alone. `max_hops` bounds walks, by default what the graph's
    spec says, else 3. `index`: the graph as evaluators read it, where somebody has it. `par` fills the par
    of questions that the expert has a plan for. `load` puts a graph into the database that is looked at in drawing, and
    in the search for a small counter-example; by default an embedded one. With `leave_out` questions that the graph
    cannot host are left out. ConfigError where it cannot host one otherwise, or its YAML is wrong; OracleError where
    two oracles differ.
    """
    maker = TaskMaker(graph, store, seed=seed, index=index, par=par, load=load)
    space = ParameterSpace(maker.index, max_hops or int(graph.spec.get("hops", MAX_HOPS)))
    tasks = []
    for kind in shipped_kinds().values() if kinds is None else kinds:
        taken: dict[Drawn, None] = {}
        for number in range(per_question * len(answer_rows)):
            bounds = answer_rows[number // per_question]
            await asyncio.sleep(0)  # episodes about other graphs may be in flight
            try:
                tasks.append(await _drawn(maker, kind, number, space, taken, bounds, effort))
            except CannotHost as error:
                if leave_out is None:
                    raise
                leave_out(f"{kind.name} from number {number + 1} on" if number else kind.name, error.reason)
                break
    return tasks


async def _drawn(
    maker: "TaskMaker",
    kind: QuestionKind,
    number: int,
    space: ParameterSpace,
    taken: dict[Drawn, None],
    bounds: RowBounds,
    effort: Effort,
) -> QuestionTask:
    """Task `number` of a kind. On a graph with nodes that no tool can name, one whose answer the tools can reach."""
    random = stdlib_random(maker.seed, "question", maker.index.graph.digest, kind.name, number)
    for _ in range(_WALKED_IN_VAIN):
        parameters, rows = await draw_parameters(kind, maker.index, space, random, maker.scratch, taken, bounds, effort)
        taken[tuple(parameters.values())] = None
        try:
            return await maker.task(kind, number, parameters, bounds, rows)
        except OutOfReachError:
            continue
    reason = f"the ways of {_WALKED_IN_VAIN} choices lead over nodes without a label, which the tools cannot look up"
    raise CannotHost(f"{kind.name}: {reason}", reason=reason, hint="give the nodes a label, or leave the question out")


class OutOfReachError(OracleError):
    """The expert does not find an answer, on a graph with nodes that no tool can name."""


class TaskMaker:
    """Makes the tasks of one graph from parameters."""

    def __init__(
        self,
        graph: PropertyGraph,
        store: GraphStore,
        *,
        seed: int,
        index: GraphIndex | None = None,
        par: Par | None = None,
        load: LoadGraph | None = None,
    ) -> None:
        self.index = index or GraphIndex(graph)
        self.seed = seed
        self.scratch = Scratch(graph, store, load)
        self._store = store
        self._par = par

    async def task(
        self,
        kind: QuestionKind,
        number: int,
        parameters: dict[str, Value],
        bounds: RowBounds = ANY_ROWS,
        right: list[Row] | None = None,
    ) -> QuestionTask:
        """The task with these parameters, its target and its par; `right`: what the evaluator finds, where somebody has
        it. OracleError where two oracles differ.
        """
        question = instantiate(kind, self.index, parameters)
        gold = await agreed_rows(question, self.index, self._store, self.scratch, right)
        task = _task(question, gold, self.index, self.seed, number, bounds)
        if self._par is None or kind.python is None:
            return task
        try:
            return (await self._par(task)).as_par_of(task)
        except OracleError as error:
            if self.index.all_labelled:
                raise
            raise OutOfReachError(str(error), hint=error.hint) from error


def _task(
    question: Question, gold: list[Row], index: GraphIndex, seed: int, number: int, bounds: RowBounds
) -> QuestionTask:
    kind, fields, digest = question.kind, question.answer_fields, index.graph.digest
    template = kind.template
    shipped = shipped_kinds().get(kind.name)
    return QuestionTask(
        task_id=f"{digest[:12]}-{template.name}-{number}",
        template=template.name,
        template_version=template.version,
        category=template.category,
        question=_wording(question),
        parameters=question.written,
        cypher=_with_times(render_cypher(template.cypher, question.identifiers), question.values),
        cypher_parameters={name: question.written[name] for name in question.values},
        answer_fields=fields,
        scored_fields=template.scored_fields or fields,
        mode=template.mode,
        gold=[{field: row[field] for field in fields} for row in gold],
        gold_size=len(gold),
        candidates=count_candidates(template, index, question.parameters),
        seed=seed,
        graph_digest=digest,
        answer_rows=None if bounds == ANY_ROWS else bounds,
        oracles=1 if kind.python is None else 2,
        computed=None if shipped is not None and shipped.template.computed == template.computed else template.computed,
    )


def _with_times(cypher: str, values: Mapping[str, Value]) -> str:
    """The query as it runs with parameters that JSON has: a date is made from its text, `date($value)`."""
    for name, value in values.items():
        if isinstance(value, Temporal):
            cypher = re.sub(rf"\${name}\b", f"{value.kind.replace(' ', '')}(${name})", cypher)
    return cypher


def _wording(question: Question) -> str:
    kind = question.kind
    properties = question.answer_fields[len(kind.template.answer_fields) :]
    try:
        return render_wording(kind.template.wording, {**question.written, "answer_properties": properties})
    except (TemplateError, ArithmeticError, TypeError, ValueError) as error:
        raise kind.mistake(f"it cannot be written for {question.written}: {error}", "wording") from error
