"""`graphwalk models | tools | questions | experiments`: what is available."""

from typing import Annotated

import typer

from graphwalk.cli import naming
from graphwalk.cli.check import check
from graphwalk.console import data, prose, say

models = typer.Typer(help="Model providers, and what a model can do.", no_args_is_help=True)
models.command("check")(check)

Name = Annotated[str | None, typer.Argument(help="Show this one in full.")]
NameOrFile = Annotated[
    str | None, typer.Argument(help="Show this one in full; the path of a YAML file for one of yours.")
]


@models.command("list")
def list_models() -> None:
    """List the providers: the part of --model before the slash."""
    from graphwalk.models.registry import list_providers

    _columns(list_providers())
    data("")
    prose("A key comes from the environment or .env: OPENAI_API_KEY; NAME_API_KEY for openai-api/NAME/MODEL.")


def tools(name: NameOrFile = None) -> None:
    """List the tools, or show one in full.

    You see what a model is told about the tool, and the Cypher behind it. A file of your own is checked before it is
    shown.
    """
    from graphwalk.toolbox.tool import load_tools, tool_names

    if name is None:
        _columns({tool.name: _first_sentence(tool.description) for tool in load_tools(tool_names())})
        return
    (tool,) = load_tools([name])
    data(tool.file_text.rstrip())


def questions(name: Name = None) -> None:
    """List the twelve questions, or show one, by its name or the path of a YAML file of your own."""
    from graphwalk.suites.questions.catalogue import choose_kinds

    if name is None:
        templates = [kind.template for kind in choose_kinds()]
        _columns({t.name: f"{t.category:<10} {', '.join(t.answer_fields)}" for t in templates})
        return
    (kind,) = choose_kinds([name])
    data(kind.file.text.rstrip())
    if kind.python is None:
        say(f"{kind.name} has no Python part: its Cypher is its only oracle, and scripted/expert cannot play it")


def experiments(
    name: Annotated[
        str | None,
        typer.Argument(help="Show this one in full, a name or a file.", autocompletion=naming.experiments),
    ] = None,
    shown: Annotated[str | None, typer.Argument(hidden=True)] = None,
    resolved: Annotated[
        bool, typer.Option("--resolved", help="With all fields and their defaults, as it would run.")
    ] = False,
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the JSON Schema of experiments, for editors.")
    ] = False,
) -> None:
    """List the ready-made experiments, or show one: `graphwalk experiments show quickstart --resolved`."""
    import json

    from graphwalk.experiments.fields import experiment_schema
    from graphwalk.experiments.loading import find_experiment, load_experiment, shipped_experiments

    if schema:
        data(json.dumps(experiment_schema(), indent=2))
        return
    name = shown if name == "show" and shown else name
    if name is not None and resolved:
        data(load_experiment(name).as_yaml().rstrip())
        return
    if name is None:
        _columns({known: _first_sentence(load_experiment(known).description) for known in shipped_experiments()})
        return
    data(find_experiment(name).read_text(encoding="utf-8").rstrip())


def _columns(rows: dict[str, str]) -> None:
    width = max(map(len, rows))
    for name, text in rows.items():
        prose(f"{name:<{width}}  {text}", indent=width + 2)


def _first_sentence(text: str) -> str:
    return " ".join(text.split()).partition(". ")[0].rstrip(".")
