"""Making tasks: templates × graph, each with an answer that both oracles name."""

from collections.abc import Awaitable, Callable, Sequence

from jinja2 import TemplateError

from graphwalk.seeds import stdlib_random
from graphwalk.stores.cypher import render_cypher
from graphwalk.stores.store import GraphStore
from graphwalk.suites.drive import Played
from graphwalk.suites.questions.catalogue import QuestionKind, shipped_kinds
from graphwalk.suites.questions.drawing import Drawn, draw_parameters
from graphwalk.suites.questions.oracle.agreement import agreed_rows
from graphwalk.suites.questions.oracle.graph_index import GraphIndex
from graphwalk.suites.questions.oracle.scratch import LoadGraph, Scratch
from graphwalk.suites.questions.parameter_space import ParameterSpace
from graphwalk.suites.questions.question import Question, count_candidates, instantiate
from graphwalk.suites.questions.row_bounds import ANY_ROWS, RowBounds
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.suites.questions.wording import render_wording
from graphwalk.types.graph import PropertyGraph
from graphwalk.types.values import Row

Par = Callable[[QuestionTask], Awaitable[Played]]
"""The walk of the scripted expert."""
MAX_HOPS = 3


async def make_tasks(
    graph: PropertyGraph,
    store: GraphStore,
    *,
    seed: int,
    kinds: Sequence[QuestionKind] | None = None,
    per_question: int = 1,
    answer_rows: Sequence[RowBounds] = (ANY_ROWS,),
    max_hops: int | None = None,
    par: Par | None = None,
    load: LoadGraph | None = None,
) -> list[QuestionTask]:
    """`per_question` tasks of every kind (None: all that ship) with answers within each of the bounds `answer_rows`,
    all different, about the graph that `store` holds.

    A task depends on (seed, graph, question, its number) alone. `max_hops` bounds walks, by default what the graph's
    spec says, else 3. `par` fills the par of questions that the expert has a plan for. `load`
    puts a graph into the database that is looked at in drawing, and in the search for a small counter-example; by
    default an embedded one. ConfigError where the graph cannot host a question, or its YAML is wrong; OracleError
    where two oracles differ.
    """
    index = GraphIndex(graph)
    space = ParameterSpace(index, max_hops or int(graph.spec.get("hops", MAX_HOPS)))
    scratch = Scratch(graph, store, load)
    tasks = []
    for kind in shipped_kinds().values() if kinds is None else kinds:
        taken: dict[Drawn, None] = {}
        for number in range(per_question * len(answer_rows)):
            bounds = answer_rows[number // per_question]
            random = stdlib_random(seed, "question", graph.digest, kind.name, number)
            parameters = await draw_parameters(kind, index, space, random, scratch, taken, bounds)
            taken[tuple(parameters.values())] = None
            question = instantiate(kind, index, parameters)
            gold = await agreed_rows(question, index, store, scratch)
            task = _task(question, gold, index, seed, number, bounds)
            tasks.append(task if par is None or kind.python is None else (await par(task)).as_par_of(task))
    return tasks


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
        answer_rows=None if bounds == ANY_ROWS else bounds,
        oracles=1 if kind.python is None else 2,
        computed=None if shipped is not None and shipped.template.computed == template.computed else template.computed,
    )


def _wording(question: Question) -> str:
    kind = question.kind
    properties = question.answer_fields[len(kind.template.answer_fields) :]
    try:
        return render_wording(kind.template.wording, question.parameters | {"answer_properties": properties})
    except (TemplateError, ArithmeticError, TypeError, ValueError) as error:
        raise kind.mistake(f"it cannot be written for {question.parameters}: {error}", "wording") from error
