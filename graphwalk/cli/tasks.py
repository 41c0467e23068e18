"""`graphwalk tasks`: questions on a graph and the size of their answers."""

from json import dumps
from typing import Annotated, Any

import typer

from graphwalk.cli import options
from graphwalk.terminal import print_data, print_message, run_async
from graphwalk.variables import read_variables


@options.reads_files
def tasks(
    graph: options.GraphFile = None,
    database: options.DatabaseName = None,
    reading: options.Reading | None = None,
    seed: options.Seed = 0,
    question: Annotated[
        list[str] | None, typer.Option("--question", help="Question kind, by name or YAML file; repeatable.")
    ] = None,
    per_question: Annotated[int, typer.Option(min=1, help="Number of tasks per question kind.")] = 1,
    answers: Annotated[bool, typer.Option("--answers", help="Also print the target rows.")] = False,
    json: options.Json = False,
) -> None:
    """Print questions on a graph and the size of their answers.

    Each target is computed twice, by Cypher and by Python; by Cypher alone for your own kinds without Python. Kinds
    without usable parameters on this graph are listed as skipped.
    """
    from graphwalk.stores.open import graph_in_memory
    from graphwalk.suites.questions.make_tasks import tasks_on

    source = options.chosen_source(graph, database, reading=reading)
    content = run_async(graph_in_memory(source, read_variables()))
    asked, left_out, _ = run_async(tasks_on(content, seed=seed, questions=question, per_question=per_question))
    for task in asked:
        print_data(task.model_dump_json() if json else _text(task, answers))
    for name, reason in left_out.items():
        print_message(f"{name}: {reason}")


def _text(task: Any, answers: bool) -> str:
    size = f"→ rows: {task.target_size}"
    if task.reference_turns is not None:
        size += f", reference turns: {task.reference_turns}"
    lines = [task.template, task.question, size]
    if answers:
        lines.extend(f"  {dumps(row, ensure_ascii=False)}" for row in task.target)
    return "\n".join(lines) + "\n"
