"""`graphwalk tasks`: the questions on a graph, with their proven answers."""

from pathlib import Path
from typing import Annotated

import typer

from graphwalk.asynchronous import run_async
from graphwalk.console import data, printable


def tasks(
    graph: Annotated[
        Path, typer.Option(help="A graph file: JSON, GraphML or Cypher (see `graphwalk generate graph`).")
    ],
    seed: Annotated[int, typer.Option(help="Decides which parameters the questions get.")] = 0,
    question: Annotated[list[str] | None, typer.Option(help="Only this one, by name or file; repeatable.")] = None,
    per_question: Annotated[int, typer.Option(min=1, help="Tasks per question.")] = 1,
    json: Annotated[bool, typer.Option("--json", help="One JSON object a line, with Cypher and gold.")] = False,
) -> None:
    """Print the questions on a graph, with their answers.

    Each answer is proven by two oracles; to a question of your own without a Python part, by one.
    """
    from graphwalk.graphs.files.formats import load_graph
    from graphwalk.suites.questions.tasks_about import tasks_on

    made = run_async(tasks_on(load_graph(graph), seed=seed, questions=question, per_question=per_question))
    for task in made:
        if json:
            data(task.model_dump_json())
        else:
            par = "" if task.par_turns is None else f", turns at par: {task.par_turns}"
            data(printable(f"{task.template}\n{task.question}\n→ rows: {task.gold_size}{par}\n"))
