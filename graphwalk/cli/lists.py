"""`graphwalk list`: experiments, questions, tools, models and runs."""

import json as json_module
from pathlib import Path
from typing import Annotated

import typer

from graphwalk.errors import ConfigError
from graphwalk.sanitise import printable
from graphwalk.terminal import print_columns, print_data, print_message, show_error, stdout

app = typer.Typer(help="List experiments, questions, tools, models or runs, or show one in full.")

NameOrFile = Annotated[str | None, typer.Argument(help="Name or YAML file to show in full.")]


@app.command("models")
def models() -> None:
    """List the providers: the part of --model before the slash."""
    from graphwalk.models.registry import list_providers

    print_columns(list_providers().items())
    print_data("")
    print_data("Keys are read from the environment or .env: OPENAI_API_KEY; NAME_API_KEY for openai-api/NAME/MODEL.")


@app.command("tools")
def tools(name: NameOrFile = None) -> None:
    """List the tools, or show one in full.

    A tool is shown with its description for the model and its Cypher. Your own YAML file is checked first.
    """
    from graphwalk.tools.tool import load_tools, tool_names

    if name is None:
        print_columns((tool.name, _first_sentence(tool.description)) for tool in load_tools(tool_names()))
        return
    (tool,) = load_tools([name])
    print_data(tool.file_text.rstrip())


@app.command("questions")
def questions(name: NameOrFile = None) -> None:
    """List the question kinds, or show one in full."""
    from graphwalk.suites.questions.catalogue import choose_kinds, load_kind, shipped_files

    if name is None:
        _list_questions()
        return
    shipped = shipped_files()
    if name in shipped:
        kind = load_kind(shipped[name])
    else:
        (kind,) = choose_kinds([name])  # of a file, or of another package
    print_data(kind.file.text.rstrip())
    if kind.python is None:
        print_message(
            f"{kind.name} has no Python evaluator: targets come from Cypher alone, and scripted/expert cannot run it"
        )


def _list_questions() -> None:
    """Print the kinds that can be read, and below them what is wrong with the other files."""
    from graphwalk.suites.questions.catalogue import kinds_in_order, load_kind, shipped_files

    kinds = []
    mistakes = []
    for path in shipped_files().values():
        try:
            kinds.append(load_kind(path))
        except ConfigError as error:
            mistakes.append(error)
    print_columns((kind.name, kind.category, ", ".join(kind.answer_fields)) for kind in kinds_in_order(kinds))
    for mistake in mistakes:
        show_error(mistake)
    if mistakes:
        raise typer.Exit(ConfigError.exit_code)


@app.command("experiments")
def experiments(
    name: NameOrFile = None,
    resolved: Annotated[bool, typer.Option("--resolved", help="Include all fields with their defaults.")] = False,
) -> None:
    """List the shipped experiments, or show one in full.

    Example: graphwalk list experiments quickstart --resolved
    """
    from graphwalk.runs.experiment import experiment_groups, find_experiment, load_experiment

    if name is not None and resolved:
        print_data(load_experiment(name).as_yaml().rstrip())
        return
    if name is None:
        for number, (title, names) in enumerate(experiment_groups().items()):
            print_data(f"\n{title}" if number else title)
            rows = [(f"  {each}", _first_sentence(load_experiment(each).description)) for each in names]
            print_columns(rows)
        return
    print_data(find_experiment(name).read_text(encoding="utf-8").rstrip())


def _first_sentence(text: str) -> str:
    return " ".join(text.split()).partition(". ")[0].rstrip(".")


@app.command("runs")
def runs(
    folder: Annotated[Path, typer.Argument(help="Folder that contains run folders.")] = Path("runs"),
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object per line.")] = False,
) -> None:
    """List the runs in a folder, oldest first.

    Columns: models, state, episodes, accuracy of each model, cost. Continue an unfinished run with `graphwalk resume`.
    """
    from rich.text import Text

    from graphwalk.analysis.report.text_table import plain_grid
    from graphwalk.runs.listing import list_runs

    if not folder.is_dir():
        raise ConfigError(f"no folder {folder}", hint="create a run with  graphwalk run quickstart")
    listed = list_runs(folder)
    if json:
        for run in listed:
            print_data(json_module.dumps(run.as_dict()))
        return
    if not listed:
        print_message(f"no run in {folder}")
        return
    table = plain_grid()
    for title in ("Run", "Models", "State"):
        table.add_column(title, overflow="fold")
    for title in ("Episodes", "Accuracy %", "Cost"):
        table.add_column(title, justify="right")
    for run in listed:
        accuracies = [f"{run.accuracy[model]:.2f}" if model in run.accuracy else "–" for model in run.models]
        table.add_row(
            Text(printable(str(run.path))),
            Text(printable("\n".join(run.models))),
            run.state,
            f"{run.done}/?" if run.episodes is None else f"{run.done}/{run.episodes}",
            "\n".join(accuracies) or "–",
            "–" if run.cost is None else f"${run.cost:.4f}",
        )
    stdout().print(table)
