"""`graphwalk models`, `tools`, `questions`, `experiments` and `tasks`: list what is available."""

from dataclasses import asdict
from json import dumps
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphwalk.cli import options
from graphwalk.cli.help import App
from graphwalk.cli.options import DatabaseName, GraphFile, chosen_source
from graphwalk.errors import ConfigError
from graphwalk.terminal.console import data, print_columns, prose, say
from graphwalk.terminal.signals import run_async
from graphwalk.variables import read_variables

if TYPE_CHECKING:
    from graphwalk.models.conformance import Capability


models = App(help="List model providers, and check a model's capabilities.")

NameOrFile = Annotated[str | None, typer.Argument(help="Name or YAML file to show in full.")]


@models.command("list")
def list_models() -> None:
    """List the providers: the part of --model before the slash."""
    from graphwalk.models.registry import list_providers

    print_columns(list_providers().items())
    data("")
    prose("Keys are read from the environment or .env: OPENAI_API_KEY; NAME_API_KEY for openai-api/NAME/MODEL.")


def tools(name: NameOrFile = None) -> None:
    """List the tools, or show one in full.

    A tool is shown with its description for the model and its Cypher. Your own YAML file is checked first.
    """
    from graphwalk.tools.tool import load_tools, tool_names

    if name is None:
        print_columns((tool.name, _first_sentence(tool.description)) for tool in load_tools(tool_names()))
        return
    (tool,) = load_tools([name])
    data(tool.file_text.rstrip())


def questions(name: NameOrFile = None) -> None:
    """List the question kinds, or show one in full."""
    from graphwalk.suites.questions.catalogue import choose_kinds, shipped_kinds

    if name is None:
        templates = [kind.template for kind in shipped_kinds().values()]
        print_columns((t.name, t.category, ", ".join(t.answer_fields)) for t in templates)
        return
    (kind,) = choose_kinds([name])
    data(kind.file.text.rstrip())
    if kind.python is None:
        say(f"{kind.name} has no Python evaluator: targets come from Cypher alone, and scripted/expert cannot run it")


def experiments(
    name: NameOrFile = None,
    resolved: Annotated[bool, typer.Option("--resolved", help="Include all fields with their defaults.")] = False,
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of experiments.")] = False,
) -> None:
    """List the shipped experiments, or show one in full.

    Example: graphwalk experiments quickstart --resolved
    """
    from graphwalk.experiments.experiment import experiment_schema
    from graphwalk.experiments.loading import experiment_groups, find_experiment, load_experiment

    if schema:
        data(dumps(experiment_schema(), indent=2))
        return
    if name is not None and resolved:
        data(load_experiment(name).as_yaml().rstrip())
        return
    if name is None:
        for number, (title, names) in enumerate(experiment_groups().items()):
            data(f"\n{title}" if number else title)
            print_columns((f"  {one}", _first_sentence(load_experiment(one).description)) for one in names)
        return
    data(find_experiment(name).read_text(encoding="utf-8").rstrip())


def _first_sentence(text: str) -> str:
    return " ".join(text.split()).partition(". ")[0].rstrip(".")


@models.command("check")
def check(
    model: Annotated[str, typer.Argument(help="Model as provider/model.")],
    base_url: options.BaseUrl = None,
    model_argument: options.ModelArguments = None,
    without: Annotated[
        list[str] | None, typer.Option(metavar="CAPABILITY", help="Capability that may fail; repeatable.")
    ] = None,
    seconds: Annotated[float, typer.Option(min=1, max=3600, help="Time limit of each check, in seconds.")] = 120,
    json: options.Json = False,
) -> None:
    """Check a model's capabilities with about twenty short calls.

    Text, tool calls, usage, errors and more are checked. Exit code 0: no unexpected failures; 4: failures, or no
    reply; 2: unknown model, or missing key.
    """
    from graphwalk.models.conformance import CAPABILITIES, check_model
    from graphwalk.models.registry import no_reply_hint, open_model

    if unknown := [name for name in without or () if name not in CAPABILITIES]:
        raise ConfigError(f"--without {unknown[0]}: unknown capability", hint=", ".join(CAPABILITIES))
    variables = read_variables()
    models, servers = options.models_and_servers([model], base_url, variables)
    model, variables = (models or [model])[0], variables.serving(servers or {})
    arguments = (options.arguments_of([model], model_argument) or {}).get(model)

    async def tried() -> "list[Capability]":
        opened = open_model(model, variables, arguments)
        try:
            return await check_model(opened, seconds=seconds)
        finally:
            await opened.close()

    results = run_async(tried())
    failed = [one.name for one in results if one.status == "failed" and one.name not in (without or ())]
    # Without a first reply no other capability was checked, so --without does not apply.
    failed = failed or [one.name for one in results[:1] if len(results) == 1 and one.status == "failed"]
    if json:
        capabilities = [asdict(capability) for capability in results]
        data(dumps({"model": model, "ok": not failed, "failed": failed, "capabilities": capabilities}))
    else:
        print_columns((one.status, one.name, one.detail) for one in results)
    if len(results) == 1:
        say(f"no reply; other checks were skipped: {no_reply_hint(model)}")
    if failed:
        raise typer.Exit(4)


def tasks(
    graph: GraphFile = None,
    database: DatabaseName = None,
    seed: Annotated[int, typer.Option(help="Random seed of the questions' parameters.")] = 0,
    question: options.Questions = None,
    per_question: Annotated[int, typer.Option(min=1, help="Number of tasks per question kind.")] = 1,
    answers: Annotated[bool, typer.Option("--answers", help="Also print the target rows.")] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object per line, with Cypher and target.")
    ] = False,
) -> None:
    """Print questions on a graph and the size of their answers.

    Each target is computed twice, by Cypher and by Python; by Cypher alone for your own kinds without Python. Kinds
    without usable parameters on this graph are listed as skipped.
    """
    from graphwalk.suites.questions.tasks.make_tasks import tasks_of_source

    source = chosen_source(graph, database)
    left_out: dict[str, str] = {}
    work = tasks_of_source(
        source, read_variables(), seed=seed, questions=question, per_question=per_question, left_out=left_out
    )
    for task in run_async(work):
        data(task.model_dump_json() if json else _text(task, answers))
    for name, reason in left_out.items():
        say(f"{name}: {reason}")


def _text(task: Any, answers: bool) -> str:
    turns = "" if task.reference_turns is None else f", reference turns: {task.reference_turns}"
    rows = "".join(f"  {dumps(row, ensure_ascii=False)}\n" for row in task.target) if answers else ""
    return f"{task.template}\n{task.question}\n→ rows: {task.target_size}{turns}\n{rows}"
