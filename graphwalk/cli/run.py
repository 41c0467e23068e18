"""`graphwalk run` and `graphwalk resume`."""

import math
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from graphwalk.asynchronous import run_async
from graphwalk.cli import naming
from graphwalk.cli.finishing import exporter_if, finish
from graphwalk.cli.on_machines import check_machines, run_on_ray
from graphwalk.cli.own_graph import DatabaseName, GraphFile, chosen_source
from graphwalk.console import data, say
from graphwalk.environment import read_environment

if TYPE_CHECKING:
    from graphwalk.runner.resolve import Experiment

Concurrency = Annotated[int | None, typer.Option("--max-concurrency", min=1, help="Episodes in flight.")]


def _positive(number: float | None) -> float | None:
    if number is not None and not 0 < number < math.inf:
        raise typer.BadParameter(f"must be a finite number greater than 0, not {number:g}")
    return number


Rpm = Annotated[float | None, typer.Option("--requests-per-minute", "--rpm", callback=_positive, help="Per model.")]
Tpm = Annotated[float | None, typer.Option("--tokens-per-minute", "--tpm", callback=_positive, help="Per model.")]
BudgetUsd = Annotated[
    float | None, typer.Option("--budget-usd", callback=_positive, help="Stop the whole run at this cost.")
]
BudgetTokens = Annotated[
    int | None, typer.Option("--budget-tokens", min=1, help="Stop the whole run at this number of tokens.")
]
FailUnder = Annotated[
    float | None,
    typer.Option("--fail-under", min=0, max=100, help="Exit with 5 if the accuracy of any row is below, in percent."),
]
LogLevel = Annotated[
    Literal["debug", "info", "warning", "error"],
    typer.Option("--log-level", help="What run.log in the run folder is told; debug: what libraries log, too."),
]
Otel = Annotated[
    bool, typer.Option("--otel", help="Send each episode as OpenTelemetry spans to OTEL_EXPORTER_OTLP_ENDPOINT.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the report as JSON instead of a table.")]


def run(
    experiment: Annotated[
        str,
        typer.Argument(help="A name (see `graphwalk experiments`) or a YAML file.", autocompletion=naming.experiments),
    ],
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            "-m",
            help="provider/model; repeatable. Default: GRAPHWALK_MODEL, else scripted players.",
            autocompletion=naming.models,
        ),
    ] = None,
    base_url: Annotated[
        str | None,
        typer.Option("--base-url", metavar="URL", help="The server of the models, if it speaks as OpenAI's does."),
    ] = None,
    model_argument: naming.ModelArguments = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--setting",
            help="tools, no_tools, write_cypher; for MAGMA io (input–output), io_reasoning, is (intermediate steps),"
            " ish (these with hints), tools.",
        ),
    ] = None,
    question: Annotated[
        list[str] | None,
        typer.Option(
            "--question", help="Only this question, by name or file; repeatable.", autocompletion=naming.questions
        ),
    ] = None,
    graph: GraphFile = None,
    database: DatabaseName = None,
    store: Annotated[
        str | None, typer.Option(help="embedded, neo4j, or a store of another package (see `graphwalk doctor`).")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Everything generated follows from it.")] = None,
    graphs: Annotated[int | None, typer.Option(min=1, help="Graphs, mazes or traces of each kind.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only this many tasks.")] = None,
    repeats: Annotated[int | None, typer.Option(min=1, help="Episodes per task, model and setting.")] = None,
    tool_protocol: Annotated[
        Literal["native", "text", "auto"] | None,
        typer.Option(help="How tools are called. auto: natively, or in the text of the reply."),
    ] = None,
    reasoning_effort: Annotated[
        str | None, typer.Option(help="For reasoning models, as their provider names it.")
    ] = None,
    temperature: Annotated[float | None, typer.Option(min=0, help="Sampling temperature.")] = None,
    extractor: Annotated[str | None, typer.Option(help="provider/model that reads answers we cannot read.")] = None,
    max_concurrency: Concurrency = None,
    requests_per_minute: Rpm = None,
    tokens_per_minute: Tpm = None,
    budget_usd: BudgetUsd = None,
    budget_tokens: BudgetTokens = None,
    override: Annotated[
        list[str] | None, typer.Option("-o", metavar="KEY=VALUE", help="Any field of the experiment; repeatable.")
    ] = None,
    tag: Annotated[list[str] | None, typer.Option(help="A word to find the run by; repeatable.")] = None,
    shard: Annotated[
        str | None, typer.Option(metavar="I/N", help="Only part I of N; `graphwalk merge` puts them together.")
    ] = None,
    on: Annotated[
        Literal["ray"] | None, typer.Option(help="Divide the run over a Ray cluster: this machine, or --ray-address.")
    ] = None,
    ray_address: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="Of the cluster's head, or auto.")
    ] = None,
    shards: Annotated[int | None, typer.Option(min=1, help="With --on. Default: one for each core there.")] = None,
    out: Annotated[Path | None, typer.Option(help="The run folder. Default: runs/<time>-<name>-<id>.")] = None,
    keep: Annotated[bool, typer.Option("--keep", help="Leave the graphs in Neo4j.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show tasks, calls and estimated cost; run nothing.")
    ] = False,
    fail_under: FailUnder = None,
    log_level: LogLevel = "info",
    otel: Otel = False,
    json: Json = False,
) -> None:
    """Run an experiment: all models on identical tasks.

    Episodes are models × settings × graphs × questions × repeats. Without a model the scripted ones play.
    """
    from graphwalk.experiments.loading import load_experiment, own_graphs
    from graphwalk.runner.resolve import resolve

    environment = read_environment()
    named, servers = naming.models_and_servers(model, base_url, environment)
    flags: dict[str, Any] = {
        "models": named,
        "model_arguments": naming.arguments_of(named, model_argument),
        "servers": servers,
        "settings": setting,
        "suite.questions": question,
        "tags": tag,
        "store": store,
        "seed": seed,
        "limit": limit,
        "repeats": repeats,
        "keep": keep or None,
        "extractor": extractor,
        "agent.tool_protocol": tool_protocol,
        "options.reasoning_effort": reasoning_effort,
        "options.temperature": temperature,
        "limits.max_concurrency": max_concurrency,
        "limits.requests_per_minute": requests_per_minute,
        "limits.tokens_per_minute": tokens_per_minute,
        "limits.budget_usd": budget_usd,
        "limits.budget_tokens": budget_tokens,
    }
    if graph is not None or database is not None:
        source = chosen_source(graph, database)
        flags["suite.graphs"] = own_graphs(experiment, source)
        flags["store"] = store or ("neo4j" if source.file is None else "embedded")
    given = {key: value for key, value in flags.items() if value is not None}
    config = load_experiment(experiment, override or (), given, worlds=graphs)
    resolved = resolve(config, environment, keys=not dry_run)
    check_machines(on, ray_address, shards, shard, otel)
    if dry_run:
        _dry_run(resolved, json)
    elif on is not None:
        run_on_ray(resolved, out, ray_address, shards, fail_under, json, log_level)
    else:
        _start(resolved, out, fail_under, json, log_level, otel, shard)


def resume(
    folder: Annotated[
        Path, typer.Argument(help="The folder of a run that was interrupted.", autocompletion=naming.run_folders)
    ],
    max_concurrency: Concurrency = None,
    requests_per_minute: Rpm = None,
    tokens_per_minute: Tpm = None,
    budget_usd: BudgetUsd = None,
    budget_tokens: BudgetTokens = None,
    fail_under: FailUnder = None,
    log_level: LogLevel = "info",
    otel: Otel = False,
    json: Json = False,
) -> None:
    """Continue a run that was interrupted.

    Finished episodes stay, failed ones are tried again, and no reply is paid for twice.
    """
    from graphwalk.runlog.run_folder import RunFolder
    from graphwalk.runner.run import resume_run

    limits = {
        "max_concurrency": max_concurrency,
        "requests_per_minute": requests_per_minute,
        "tokens_per_minute": tokens_per_minute,
        "budget_usd": budget_usd,
        "budget_tokens": budget_tokens,
    }
    changes = {name: value for name, value in limits.items() if value is not None}
    run_folder, exporter, environment = RunFolder.open(folder), exporter_if(otel), read_environment()
    finish(
        run_folder,
        lambda told: resume_run(run_folder, environment, told, changes, log_level=log_level),
        exporter,
        fail_under,
        json,
    )


def _start(
    experiment: "Experiment",
    out: Path | None,
    fail_under: float | None,
    json: bool,
    log_level: str,
    otel: bool,
    part: str | None,
) -> None:
    from graphwalk.runlog.run_folder import NewRun
    from graphwalk.runner.run import start_run
    from graphwalk.runner.shards import WHOLE, Shard

    exporter, shard = exporter_if(otel), WHOLE if part is None else Shard.parse(part)
    new = NewRun.make(experiment.config.name, out)
    if not experiment.config.models and not experiment.environment.model:
        say("No model named: the scripted players run. To run your own:  --model openai/gpt-4.1-mini")
    work = partial(start_run, experiment, new, log_level=log_level, shard=shard)
    finish(new.folder, work, exporter, fail_under, json, new=True)


def _dry_run(experiment: "Experiment", json: bool) -> None:
    from graphwalk.cli.dry_run import dry_run_text
    from graphwalk.runner.estimate import estimate_run

    estimate = run_async(estimate_run(experiment))
    data(estimate.as_json() if json else dry_run_text(estimate))
