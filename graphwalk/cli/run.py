"""`graphwalk run` and `graphwalk resume`: options, the run, its report and exit code."""

from collections.abc import Coroutine
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol

import typer

from graphwalk.cli import options
from graphwalk.cli.estimate import print_estimate, print_setup
from graphwalk.cli.report import print_overview
from graphwalk.errors import ConfigError, GraphwalkError, counted
from graphwalk.terminal import Interrupted, print_message, run_async
from graphwalk.variables import MODEL_VARIABLE, read_variables

if TYPE_CHECKING:
    from graphwalk.runs.folder import RunFolder
    from graphwalk.runs.play import Players, RunSummary
    from graphwalk.runs.progress import Progress

    class Work(Protocol):
        def __call__(self, progress: Progress, *, players: Players) -> Coroutine[Any, Any, RunSummary]: ...


_what = partial(typer.Option, rich_help_panel="What to run")
_limit = partial(typer.Option, rich_help_panel="Limits")
_output = partial(typer.Option, rich_help_panel="Output")
_scale = partial(typer.Option, rich_help_panel="Scale and CI")

MaxConcurrency = Annotated[int | None, _limit(help="Number of concurrent episodes.")]
BudgetUsd = Annotated[float | None, _limit(help="Stop the whole run at this cost.")]
Json = Annotated[bool, _output("--json", help="Print the report as JSON instead of a table.")]
On = Annotated[
    Literal["ray"] | None,
    _scale(
        metavar="ray",
        help="Play the episodes on the Ray cluster at RAY_ADDRESS, else on all cores of this machine.",
    ),
]
FailUnder = Annotated[float | None, _scale(min=0, max=100, help="Exit with code 5 if an accuracy is below X percent.")]


@options.reads_files
def run(
    experiment_name: Annotated[
        str,
        typer.Argument(metavar="EXPERIMENT", help="Experiment (see `graphwalk list experiments`) or YAML file."),
    ],
    model: Annotated[
        list[str] | None,
        _what(
            "--model", "-m", help="Model as provider/model; repeatable. Default: GRAPHWALK_MODEL, else scripted agents."
        ),
    ] = None,
    setting: Annotated[
        list[str] | None,
        _what(
            help="Setting; repeatable: tools, no_tools, write_cypher; for MAGMA io (input–output), io_reasoning, "
            "is (intermediate steps), ish (is with hints), tools."
        ),
    ] = None,
    protocol: Annotated[
        str | None,
        _what(
            metavar="NAME", help="Protocol: graphwalk (default), or paper: prompts, drawing and scoring of the papers."
        ),
    ] = None,
    graph: Annotated[
        Path | None,
        _what(
            metavar="FILE", help="Your own graph for own-graph or own-questions: JSON or GraphML, or a folder of CSV."
        ),
    ] = None,
    reading: options.Reading | None = None,
    graphs: Annotated[int | None, _what(min=1, help="Number of graphs, mazes or traces of each kind.")] = None,
    limit: Annotated[int | None, _what(min=1, help="Maximum number of tasks.")] = None,
    seed: Annotated[int | None, _what(help="Random seed.")] = None,
    store: Annotated[str | None, _what(help="Graph store: embedded, neo4j, or a plugin's.")] = None,
    override: Annotated[
        list[str] | None,
        _what(
            "-o",
            metavar="FIELD=VALUE",
            help="Any other field of the experiment, with a YAML value: -o repeats=3; repeatable.",
        ),
    ] = None,
    max_concurrency: MaxConcurrency = None,
    budget_usd: BudgetUsd = None,
    out: Annotated[Path | None, _output(help="Run folder. Default: runs/TIME-NAME-ID.")] = None,
    dry_run: Annotated[
        bool, _output("--dry-run", help="Print tasks, calls and estimated cost without running.")
    ] = False,
    check_setup: Annotated[
        bool,
        _output(
            "--check-setup", help="Print how many tasks the scripted expert solves within the limits, without running."
        ),
    ] = False,
    json: Json = False,
    on: On = None,
    fail_under: FailUnder = None,
) -> None:
    """Run an experiment: all models on identical tasks.

    Episodes are models × settings × graphs × questions × repeats. Without a model, scripted agents run.
    """
    from graphwalk.runs.experiment import load_experiment
    from graphwalk.runs.folder import NewRun
    from graphwalk.runs.play import start_run
    from graphwalk.runs.resolve import resolve

    variables = read_variables()
    own_graph = None
    if graph is not None or reading:
        own_graph = options.chosen_source(graph, reading=reading)
        # The experiment may name Neo4j for graphs of its own.
        store = store or "embedded"
    fields = {
        "models": model or None,
        "settings": setting,
        "protocol": protocol,
        "store": store,
        "seed": seed,
        "limit": limit,
        "limits.max_concurrency": max_concurrency,
        "limits.budget_usd": budget_usd,
    }
    fields = {field: value for field, value in fields.items() if value is not None}
    config = load_experiment(experiment_name, override or (), fields, graphs=graphs, graph=own_graph)
    experiment = resolve(config, variables, keys=not (dry_run or check_setup))
    if config.reference is not None:
        from graphwalk.analysis.suite_analysis import check_reference  # brings polars

        check_reference(experiment.suite, config.reference)
    if check_setup:
        print_setup(experiment, json)
        return
    if dry_run:
        print_estimate(experiment, json)
        return
    if not config.models and not variables.get(MODEL_VARIABLE):
        print_message("No model given: running scripted agents. Run a model with:  --model openai/gpt-4.1-mini")
    # Only now: an experiment that cannot be played leaves no folder.
    new = NewRun.make(config.name, out)
    summary = _play(new.folder, partial(start_run, experiment, new), on)
    _conclude(new.folder, summary, fail_under, json)


def resume(
    path: Annotated[Path, typer.Argument(metavar="FOLDER", help="Run folder.")],
    max_concurrency: MaxConcurrency = None,
    budget_usd: BudgetUsd = None,
    override: Annotated[
        list[str] | None,
        _limit("-o", metavar="limits.NAME=VALUE", help="Another limit: -o limits.retries=3; repeatable."),
    ] = None,
    json: Json = False,
    on: On = None,
    fail_under: FailUnder = None,
) -> None:
    """Continue an interrupted run.

    Finished episodes are kept and failed ones repeated. Replies that were already paid for are reused.
    """
    from graphwalk.runs.experiment import parse_override
    from graphwalk.runs.folder import RunFolder
    from graphwalk.runs.play import resume_run

    changes: dict[str, Any] = {}
    if max_concurrency is not None:
        changes["max_concurrency"] = max_concurrency
    if budget_usd is not None:
        changes["budget_usd"] = budget_usd
    for text in override or ():
        field, value = parse_override(text)
        changes[field.removeprefix("limits.")] = value
    folder = RunFolder.open(path)
    summary = _play(folder, partial(resume_run, folder, read_variables(), changes=changes), on)
    _conclude(folder, summary, fail_under, json)


def _play(folder: "RunFolder", work: "Work", on: Literal["ray"] | None) -> "RunSummary":
    """Execute the work with progress. A signal and an error of what has begun print how to resume."""
    from graphwalk.runs.play import in_this_process
    from graphwalk.runs.progress import run_progress

    resume = folder.resume_command
    stopping = f"stopping; a second signal exits at once. Finished episodes are saved. Resume with:  {resume}"
    try:
        if on is None:
            with run_progress() as progress:
                return run_async(work(progress, players=in_this_process), stopping)
        from graphwalk.runs.on_ray import OnRay, ray_cluster

        with ray_cluster() as cores, run_progress() as progress:
            return run_async(work(progress, players=OnRay(folder.path, cores)), stopping)
    except GraphwalkError as error:
        # The configuration is stored in the run folder: if it is wrong, resuming would not help.
        helps = folder.manifest_path.exists() and folder.archive is None and not isinstance(error, ConfigError)
        if helps and not error.hint:
            error.hint = resume
        elif helps and resume not in error.hint:
            error.hint = f"{error.hint}; then  {resume}"
        raise
    except Interrupted as interrupted:
        if not folder.manifest_path.exists():
            print_message(f"{interrupted} before the first episode: run the command again")
        elif not interrupted.announced:
            print_message(f"{interrupted}: {stopping}")
        raise


def _conclude(folder: "RunFolder", summary: "RunSummary", fail_under: float | None, json: bool) -> None:
    """Print the report of a run, and exit with its code."""
    # The report comes first, also of a run that stopped early: what was played is worth reading.
    lowest = print_overview(folder, json=json)
    print_message(
        f"run folder: {folder.path}   (why answers are wrong, and all tables: graphwalk report {folder.quoted})"
    )
    if summary.budget_reached:
        print_message(f"Budget spent. Continue with a larger one:  {folder.resume_command} --budget-usd …")
    if summary.finished < summary.episodes:
        missing = summary.episodes - summary.finished
        print_message(
            f"{counted(missing, 'episode')} without a score. Once the cause is removed:  {folder.resume_command}"
        )
        raise typer.Exit(4)
    if fail_under is not None and lowest is not None and lowest < fail_under:
        print_message(f"Lowest accuracy: {lowest:.2f} %, below {fail_under} %")
        raise typer.Exit(5)
