"""Questions about a graph, with proven answers."""

from collections.abc import Iterable
from numbers import Integral

from graphwalk.asynchronous import run_in_background
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.suites.questions.tasks_about import tasks_on
from graphwalk.types.check_type import check_type, names_of
from graphwalk.types.graph import PropertyGraph


async def amake_tasks(
    graph: PropertyGraph, *, seed: int = 0, questions: str | Iterable[str] | None = None, per_question: int = 1
) -> list[QuestionTask]:
    """`make_tasks`, to be awaited."""
    check_type("graph", graph, PropertyGraph)
    check_type("seed", seed, Integral)
    check_type("per_question", per_question, Integral)
    names = None if questions is None else names_of("questions", questions)
    return await tasks_on(graph, seed=seed, questions=names, per_question=per_question)


def make_tasks(
    graph: PropertyGraph, *, seed: int = 0, questions: str | Iterable[str] | None = None, per_question: int = 1
) -> list[QuestionTask]:
    """`per_question` tasks of every question about a graph; `questions`: a name or several (None: all that ship).

    A task has its `question`, the right answer in `gold` (rows as dictionaries), the Cypher that finds it, and the
    tool calls that the expert needs (`par_calls`). ConfigError for an unknown question, or one that the graph cannot
    host; OracleError where the two oracles differ.
    """
    work = amake_tasks(graph, seed=seed, questions=questions, per_question=per_question)
    return run_in_background(work)
