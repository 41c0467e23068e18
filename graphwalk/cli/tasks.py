"""`graphwalk tasks`: the questions on a graph, with their proven answers."""

from json import dumps
from typing import Annotated, Any

import typer

from graphwalk.asynchronous import run_async
from graphwalk.cli.own_graph import DatabaseName, GraphFile, chosen_source
from graphwalk.console import data, printable, say
from graphwalk.environment import read_environment


def tasks(
    graph: GraphFile = None,
    database: DatabaseName = None,
    seed: Annotated[int, typer.Option(help="Decides which parameters the questions get.")] = 0,
    question: Annotated[list[str] | None, typer.Option(help="Only this one, by name or file; repeatable.")] = None,
    per_question: Annotated[int, typer.Option(min=1, help="Tasks per question.")] = 1,
    answers: Annotated[bool, typer.Option("--answers", help="Print the right rows too.")] = False,
    json: Annotated[bool, typer.Option("--json", help="One JSON object a line, with Cypher and gold.")] = False,
) -> None:
    """Print the questions on a graph, and how many rows their answers have.

    Each answer is proven by two oracles; to a question of your own without a Python part, by one. Questions that the
    graph cannot host are left out, and named.
    """
    from graphwalk.suites.questions.tasks_about import tasks_of_source

    source = chosen_source(graph, database)
    left_out: dict[str, str] = {}
    work = tasks_of_source(
        source, read_environment(), seed=seed, questions=question, per_question=per_question, left_out=left_out
    )
    for task in run_async(work):
        data(task.model_dump_json() if json else printable(_text(task, answers)))
    for name, reason in left_out.items():
        say(f"without {name}: {reason}")


def _text(task: Any, answers: bool) -> str:
    par = "" if task.par_turns is None else f", turns at par: {task.par_turns}"
    rows = "".join(f"  {dumps(row, ensure_ascii=False)}\n" for row in task.gold) if answers else ""
    return f"{task.template}\n{task.question}\n→ rows: {task.gold_size}{par}\n{rows}"
