"""`graphwalk run` and `graphwalk resume`: options, the run, its report and exit code."""

import math
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from graphwalk.cli import options
from graphwalk.cli.estimate import print_estimate, print_setup
from graphwalk.cli.report import OVERVIEW, print_report
from graphwalk.errors import ConfigError, GraphwalkError, counted
from graphwalk.terminal import Interrupted, progress_bar, run_async, say
from graphwalk.variables import MODEL_VARIABLE, read_variables

if TYPE_CHECKING:
    from graphwalk.runs.folder import NewRun, RunFolder
    from graphwalk.runs.play import RunSummary
    from graphwalk.runs.progress import Progress
    from graphwalk.runs.resolve import Experiment

    Work = Callable[[Progress], Coroutine[Any, Any, RunSummary]]


def _positive(number: float | None) -> float | None:
    if number is not None and not 0 < number < math.inf:
        raise typer.BadParameter(f"must be a finite number greater than 0, not {number:g}")
    return number


_WHAT, _LIMITS, _OUTPUT, _SCALE = "What to run", "Limits", "Output", "Scale and CI"
"""Panels of the options."""

MaxConcurrency = Annotated[
    int | None, typer.Option(min=1, help="Number of concurrent episodes.", rich_help_panel=_LIMITS)
]
BudgetUsd = Annotated[
    float | None,
    typer.Option(callback=_positive, help="Stop the whole run at this cost.", rich_help_panel=_LIMITS),
]
Json = Annotated[
    bool, typer.Option("--json", help="Print the report as JSON instead of a table.", rich_help_panel=_OUTPUT)
]
FailUnder = Annotated[
    float | None,
    typer.Option(min=0, max=100, help="Exit with code 5 if an accuracy is below X percent.", rich_help_panel=_SCALE),
]


def run(
    experiment_name: Annotated[
        str,
        typer.Argument(metavar="EXPERIMENT", help="Experiment (see `graphwalk list experiments`) or YAML file."),
    ],
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            "-m",
            help="Model as provider/model; repeatable. Default: GRAPHWALK_MODEL, else scripted agents.",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(
            help="Setting; repeatable: tools, no_tools, write_cypher; for MAGMA io (input–output), io_reasoning, "
            "is (intermediate steps), ish (is with hints), tools.",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    protocol: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Protocol: graphwalk (default), or paper: prompts, drawing and scoring of the papers.",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    graph: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Your own graph for own-graph or own-questions: JSON or GraphML, or a folder of CSV.",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    edges: options.Edges = None,
    undirected: options.Undirected = None,
    graphs: Annotated[
        int | None,
        typer.Option(min=1, help="Number of graphs, mazes or traces of each kind.", rich_help_panel=_WHAT),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Maximum number of tasks.", rich_help_panel=_WHAT)] = None,
    seed: Annotated[int | None, typer.Option(help="Random seed.", rich_help_panel=_WHAT)] = None,
    store: Annotated[
        str | None,
        typer.Option(help="Graph store: embedded, neo4j, or a plugin's.", rich_help_panel=_WHAT),
    ] = None,
    override: Annotated[
        list[str] | None,
        typer.Option(
            "-o",
            metavar="FIELD=VALUE",
            help="Any other field of the experiment, with a YAML value: -o repeats=3; repeatable.",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    max_concurrency: MaxConcurrency = None,
    budget_usd: BudgetUsd = None,
    out: Annotated[
        Path | None, typer.Option(help="Run folder. Default: runs/TIME-NAME-ID.", rich_help_panel=_OUTPUT)
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Print tasks, calls and estimated cost without running.", rich_help_panel=_OUTPUT
        ),
    ] = False,
    check_setup: Annotated[
        bool,
        typer.Option(
            "--check-setup",
            help="Print how many tasks the scripted expert solves within the limits, without running.",
            rich_help_panel=_OUTPUT,
        ),
    ] = False,
    json: Json = False,
    on: Annotated[
        Literal["ray"] | None,
        typer.Option(
            metavar="ray",
            help="Distribute the run over the Ray cluster at RAY_ADDRESS, else over all cores of this machine.",
            rich_help_panel=_SCALE,
        ),
    ] = None,
    shards: Annotated[
        int | None,
        typer.Option(min=1, help="Number of shards with --on. Default: one per core.", rich_help_panel=_SCALE),
    ] = None,
    shard: Annotated[
        str | None,
        typer.Option(metavar="I/N", help="Run only shard I of N. See `graphwalk merge`.", rich_help_panel=_SCALE),
    ] = None,
    fail_under: FailUnder = None,
) -> None:
    """Run an experiment: all models on identical tasks.

    Episodes are models × settings × graphs × questions × repeats. Without a model, scripted agents run.
    """
    from graphwalk.runs.experiment import load_experiment
    from graphwalk.runs.resolve import resolve

    if shards is not None and on is None:
        raise ConfigError("--shards requires --on", hint="--on ray --shards …")
    if on is not None and shard is not None:
        raise ConfigError("--shard and --on ray cannot be combined")
    variables = read_variables()
    fields: dict[str, Any] = {
        "models": model or None,
        "settings": setting,
        "protocol": protocol,
        "store": store,
        "seed": seed,
        "limit": limit,
        "limits.max_concurrency": max_concurrency,
        "limits.budget_usd": budget_usd,
    }
    own_graph = None
    if graph is not None or edges or undirected:
        own_graph = options.chosen_source(graph, edges=edges, undirected=undirected)
        fields["store"] = store or "embedded"
    fields = {field: value for field, value in fields.items() if value is not None}
    config = load_experiment(experiment_name, override or (), fields, graphs=graphs, graph=own_graph)
    experiment = resolve(config, variables, keys=not (dry_run or check_setup))
    _check_names(override or (), config.model_arguments, experiment.called)
    if check_setup or dry_run:
        (print_setup if check_setup else print_estimate)(experiment, json)
        return
    from graphwalk.runs.folder import NewRun

    new = NewRun.make(config.name, out)
    if on is not None:
        summary = _run_on_ray(experiment, new, shards)
        _conclude(new.folder, summary, fail_under, json)
        return
    from graphwalk.runs.play import start_run
    from graphwalk.runs.shards import Shard

    part = None if shard is None else Shard.parse(shard)
    if not config.models and not variables.get(MODEL_VARIABLE):
        say("No model given: running scripted agents. Run a model with:  --model openai/gpt-4.1-mini")
    summary = _play(new.folder, partial(start_run, experiment, new, shard=part), new=True)
    _conclude(new.folder, summary, fail_under, json)


def _check_names(overrides: Sequence[str], arguments: Mapping[str, Any], models: Sequence[str]) -> None:
    """Raise ConfigError if `-o model_arguments…` names no model of the run, as with a name that contains dots."""
    unknown = arguments.keys() - {*models}
    if unknown and any(one.startswith("model_arguments") for one in overrides):
        raise ConfigError(
            f"-o model_arguments: {min(unknown)} is no model of this run",
            hint=f"-o 'model_arguments={{{models[0]}: {{NAME: VALUE}}}}'   (a name with dots is written in a mapping)",
        )


def resume(
    path: Annotated[Path, typer.Argument(metavar="FOLDER", help="Run folder.")],
    max_concurrency: MaxConcurrency = None,
    budget_usd: BudgetUsd = None,
    override: Annotated[
        list[str] | None,
        typer.Option(
            "-o",
            metavar="limits.NAME=VALUE",
            help="Another limit: -o limits.retries=3; repeatable.",
            rich_help_panel=_LIMITS,
        ),
    ] = None,
    json: Json = False,
    fail_under: FailUnder = None,
) -> None:
    """Continue an interrupted run.

    Finished episodes are kept and failed ones repeated. Replies that were already paid for are reused.
    """
    from graphwalk.runs.folder import RunFolder
    from graphwalk.runs.play import resume_run

    changes = _changed_limits(override or ())
    limits = {"max_concurrency": max_concurrency, "budget_usd": budget_usd}
    changes |= {name: value for name, value in limits.items() if value is not None}
    folder = RunFolder.open(path)
    summary = _play(folder, partial(resume_run, folder, read_variables(), changes=changes))
    _conclude(folder, summary, fail_under, json)


def _changed_limits(overrides: Sequence[str]) -> dict[str, Any]:
    """Return name → value of `limits.NAME=VALUE`. Raise ConfigError for another field, which a run cannot change."""
    from graphwalk.runs.experiment import parse_override

    changes = {}
    for override in overrides:
        key, value = parse_override(override)
        part, _, name = key.partition(".")
        if part != "limits" or not name:
            raise ConfigError(f"-o {key}: only limits can change in a resume", hint="-o limits.retries=3")
        changes[name] = value
    return changes


def _play(folder: "RunFolder", work: "Work", *, new: bool = False) -> "RunSummary":
    """Execute the work with progress. The folder of a `new` run that fails before its plan is removed."""
    from graphwalk.runs.progress import run_progress

    resume = folder.resume_command
    stopping = f"stopping; a second signal exits at once. Finished episodes are saved. Resume with:  {resume}"
    try:
        try:
            with run_progress() as progress:
                return run_async(work(progress), stopping)
        except GraphwalkError as error:
            # The configuration is stored in the run folder: if it is wrong, resuming would not help.
            wrong = isinstance(error, ConfigError)
            gone = new and folder.remove_unbegun()
            if not wrong and not gone and folder.archive is None and resume not in error.hint:
                error.hint = f"{error.hint}; then  {resume}" if error.hint else resume
            raise
    except Interrupted as interrupted:
        if new and folder.remove_unbegun():
            say(f"{interrupted} before the first episode: run the command again")
        elif not interrupted.announced:
            say(f"{interrupted}: {stopping}")
        raise


def _conclude(folder: "RunFolder", summary: "RunSummary", fail_under: float | None, json: bool) -> None:
    """Print the report of a run, and exit with its code."""
    lowest = print_report(folder, "json" if json else "terminal", tables=OVERVIEW)
    say(f"run folder: {folder.path}   (why answers are wrong, and all tables: graphwalk report {folder.quoted})")
    if summary.budget_reached:
        say(f"Budget spent. Continue with a larger one:  {folder.resume_command} --budget-usd …")
    if summary.finished < summary.episodes:
        missing = summary.episodes - summary.finished
        say(f"{counted(missing, 'episode')} without a score. Once the cause is removed:  {folder.resume_command}")
        raise typer.Exit(4)
    if fail_under is not None and lowest is not None and lowest < fail_under:
        say(f"Lowest accuracy: {lowest:.2f} %, below {fail_under} %")
        raise typer.Exit(5)


def _run_on_ray(experiment: "Experiment", new: "NewRun", shards: int | None) -> "RunSummary":
    """Execute a run in shards on a Ray cluster, and merge them."""
    from graphwalk.runs.cluster import ShardedRun, play_on_cluster, ray_cluster

    sharded = ShardedRun(experiment, new)
    how_to_continue = f"Rerun the same command with  --out {new.folder.quoted}  to resume"
    try:
        with ray_cluster() as cores:
            number = sharded.number(shards, cores)
            say(f"{counted(number, 'shard')} on {counted(cores, 'core')}, in {sharded.shards}")
            with progress_bar("shards", number) as done:
                return sharded.play(play_on_cluster, number, done)
    except Interrupted as interrupted:
        say(f"{interrupted}: stopped. {how_to_continue}")
        raise
    except GraphwalkError as error:
        if sharded.shards.exists() and not isinstance(error, ConfigError):
            error.hint = "; ".join(filter(None, [error.hint, how_to_continue]))
        raise
    finally:
        new.folder.remove_unbegun()
