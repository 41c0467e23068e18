"""`graphwalk run` and `graphwalk resume`."""

import math
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from graphwalk.asynchronous import Interrupted, run_async
from graphwalk.cli import options
from graphwalk.cli.finishing import conclude, exporter_if, finish
from graphwalk.cli.options import DatabaseName, GraphFile, Sets, chosen_source, fields_set, takes
from graphwalk.console import counted, data, say
from graphwalk.environment import read_environment
from graphwalk.errors import ConfigError, GraphwalkError
from graphwalk.progress import progress_bar

if TYPE_CHECKING:
    from graphwalk.runs.cluster import ShardedRun
    from graphwalk.runs.experiment import Experiment


def check_machines(given: "RunOptions") -> None:
    """ConfigError for flags that do not go together."""
    if given.on is None and (given.ray_address is not None or given.shards is not None):
        flag = "--shards" if given.ray_address is None else "--ray-address"
        raise ConfigError(f"{flag} is for a run on many machines", hint=f"--on ray {flag} …")
    if given.on is not None and (given.shard is not None or given.otel):
        flag = "--otel" if given.shard is None else "--shard"
        raise ConfigError(f"{flag} is for a run of one process, and --on ray makes several of it")


def run_on_ray(experiment: "Experiment", given: "RunOptions") -> None:
    """Play a run in shards on a Ray cluster, then report it as one; exit with the code for how it went."""
    from graphwalk.runs.cluster import ShardedRun, ray_cluster
    from graphwalk.runs.run_folder import NewRun

    new = NewRun.make(experiment.config.name, given.out)
    sharded = ShardedRun(experiment, new)
    try:
        with ray_cluster(given.ray_address) as cluster:
            number = sharded.number(given.shards, cluster.cores)
            say(f"{counted(number, 'shard')} on {counted(cluster.cores, 'core')}, in {sharded.shards}")
            with progress_bar("shards", number) as done:
                summary = sharded.play(cluster.play, number, given.log_level, done)
    except Interrupted as interrupted:
        say(f"{interrupted}: stopped. {_how_to_go_on(sharded)}")
        raise
    except GraphwalkError as error:
        if sharded.shards.exists() and not isinstance(error, ConfigError):
            error.hint = "; ".join(filter(None, [error.hint, _how_to_go_on(sharded)]))
        raise
    finally:
        if not new.folder.manifest_path.exists():
            new.folder.remove()
    conclude(new.folder, summary, given.fail_under, given.json)


def _how_to_go_on(sharded: "ShardedRun") -> str:
    return f"the same command goes on with what is finished, with  --out {sharded.new.folder.quoted}"


Concurrency = Annotated[
    int | None, typer.Option("--max-concurrency", min=1, help="Episodes in flight."), Sets("limits.max_concurrency")
]


def _positive(number: float | None) -> float | None:
    if number is not None and not 0 < number < math.inf:
        raise typer.BadParameter(f"must be a finite number greater than 0, not {number:g}")
    return number


Rpm = Annotated[
    float | None,
    typer.Option("--requests-per-minute", "--rpm", callback=_positive, help="Per model."),
    Sets("limits.requests_per_minute"),
]
Tpm = Annotated[
    float | None,
    typer.Option("--tokens-per-minute", "--tpm", callback=_positive, help="Per model."),
    Sets("limits.tokens_per_minute"),
]
BudgetUsd = Annotated[
    float | None,
    typer.Option("--budget-usd", callback=_positive, help="Stop the whole run at this cost."),
    Sets("limits.budget_usd"),
]
BudgetTokens = Annotated[
    int | None,
    typer.Option("--budget-tokens", min=1, help="Stop the whole run at this number of tokens."),
    Sets("limits.budget_tokens"),
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


@dataclass(frozen=True)
class RunOptions:
    """The arguments of `graphwalk run`. `Sets` names the field of the experiment that an option sets."""

    experiment: Annotated[
        str,
        typer.Argument(help="A name (see `graphwalk experiments`) or a YAML file.", autocompletion=options.experiments),
    ]
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            "-m",
            help="provider/model; repeatable. Default: GRAPHWALK_MODEL, else scripted agents.",
            autocompletion=options.models,
        ),
    ] = None
    base_url: Annotated[
        str | None,
        typer.Option("--base-url", metavar="URL", help="The server of the models, if it speaks as OpenAI's does."),
    ] = None
    model_argument: options.ModelArguments = None
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--setting",
            help="tools, no_tools, write_cypher; for MAGMA io (input–output), io_reasoning, is (intermediate steps),"
            " ish (these with hints), tools.",
        ),
        Sets("settings"),
    ] = None
    question: Annotated[
        list[str] | None,
        typer.Option(
            "--question", help="Only this question, by name or file; repeatable.", autocompletion=options.questions
        ),
        Sets("suite.questions"),
    ] = None
    graph: GraphFile = None
    database: DatabaseName = None
    store: Annotated[
        str | None,
        typer.Option(help="embedded, neo4j, or a store of another package (see `graphwalk doctor`)."),
        Sets("store"),
    ] = None
    seed: Annotated[int | None, typer.Option(help="Everything generated follows from it."), Sets("seed")] = None
    graphs: Annotated[int | None, typer.Option(min=1, help="Graphs, mazes or traces of each kind.")] = None
    limit: Annotated[int | None, typer.Option(min=1, help="Only this many tasks."), Sets("limit")] = None
    repeats: Annotated[
        int | None, typer.Option(min=1, help="Episodes per task, model and setting."), Sets("repeats")
    ] = None
    tool_protocol: Annotated[
        Literal["native", "text", "auto"] | None,
        typer.Option(help="How tools are called. auto: natively, or in the text of the reply."),
        Sets("agent.tool_protocol"),
    ] = None
    reasoning_effort: Annotated[
        str | None,
        typer.Option(help="For reasoning models, as their provider names it."),
        Sets("options.reasoning_effort"),
    ] = None
    temperature: Annotated[
        float | None, typer.Option(min=0, help="Sampling temperature."), Sets("options.temperature")
    ] = None
    extractor: Annotated[
        str | None, typer.Option(help="provider/model that reads answers we cannot read."), Sets("extractor")
    ] = None
    max_concurrency: Concurrency = None
    requests_per_minute: Rpm = None
    tokens_per_minute: Tpm = None
    budget_usd: BudgetUsd = None
    budget_tokens: BudgetTokens = None
    override: Annotated[
        list[str] | None, typer.Option("-o", metavar="KEY=VALUE", help="Any field of the experiment; repeatable.")
    ] = None
    tag: Annotated[list[str] | None, typer.Option(help="A word to find the run by; repeatable."), Sets("tags")] = None
    shard: Annotated[
        str | None, typer.Option(metavar="I/N", help="Only part I of N; `graphwalk merge` puts them together.")
    ] = None
    on: Annotated[
        Literal["ray"] | None, typer.Option(help="Divide the run over a Ray cluster: this machine, or --ray-address.")
    ] = None
    ray_address: Annotated[str | None, typer.Option(metavar="HOST:PORT", help="Of the cluster's head, or auto.")] = None
    shards: Annotated[int | None, typer.Option(min=1, help="With --on. Default: one for each core there.")] = None
    out: Annotated[Path | None, typer.Option(help="The run folder. Default: runs/<time>-<name>-<id>.")] = None
    keep: Annotated[bool, typer.Option("--keep", help="Leave the graphs in Neo4j."), Sets("keep")] = False
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show tasks, calls and estimated cost; run nothing.")] = (
        False
    )
    fail_under: FailUnder = None
    log_level: LogLevel = "info"
    otel: Otel = False
    json: Json = False


@takes(RunOptions)
def run(given: RunOptions) -> None:
    """Run an experiment: all models on identical tasks.

    Episodes are models × settings × graphs × questions × repeats. Without a model the scripted ones play.
    """
    from graphwalk.experiments.loading import load_experiment, own_graphs
    from graphwalk.runs.experiment import resolve

    environment = read_environment()
    models, servers = options.models_and_servers(given.model, given.base_url, environment)
    fields: dict[str, Any] = {
        "models": models,
        "model_arguments": options.arguments_of(models, given.model_argument),
        "servers": servers,
        **fields_set(given),
    }
    if given.graph is not None or given.database is not None:
        source = chosen_source(given.graph, given.database)
        fields["suite.graphs"] = own_graphs(given.experiment, source)
        fields["store"] = given.store or ("neo4j" if source.file is None else "embedded")
    fields = {field: value for field, value in fields.items() if value is not None}
    config = load_experiment(given.experiment, given.override or (), fields, graphs=given.graphs)
    experiment = resolve(config, environment, keys=not given.dry_run)
    check_machines(given)
    if given.dry_run:
        _dry_run(experiment, given.json)
    elif given.on is not None:
        run_on_ray(experiment, given)
    else:
        _start(experiment, given)


@dataclass(frozen=True)
class ResumeOptions:
    """The arguments of `graphwalk resume`."""

    folder: Annotated[
        Path, typer.Argument(help="The folder of a run that was interrupted.", autocompletion=options.run_folders)
    ]
    max_concurrency: Concurrency = None
    requests_per_minute: Rpm = None
    tokens_per_minute: Tpm = None
    budget_usd: BudgetUsd = None
    budget_tokens: BudgetTokens = None
    fail_under: FailUnder = None
    log_level: LogLevel = "info"
    otel: Otel = False
    json: Json = False


@takes(ResumeOptions)
def resume(given: ResumeOptions) -> None:
    """Continue a run that was interrupted.

    Finished episodes stay, failed ones are tried again, and no reply is paid for twice.
    """
    from graphwalk.runs.execute import resume_run
    from graphwalk.runs.run_folder import RunFolder

    limits = {field.removeprefix("limits."): value for field, value in fields_set(given).items() if value is not None}
    folder, exporter, environment = RunFolder.open(given.folder), exporter_if(given.otel), read_environment()
    work = partial(resume_run, folder, environment, changes=limits, log_level=given.log_level)
    finish(folder, work, exporter, given.fail_under, given.json)


def _start(experiment: "Experiment", given: RunOptions) -> None:
    from graphwalk.runs.execute import start_run
    from graphwalk.runs.run_folder import NewRun
    from graphwalk.runs.shards import WHOLE, Shard

    exporter, shard = exporter_if(given.otel), WHOLE if given.shard is None else Shard.parse(given.shard)
    new = NewRun.make(experiment.config.name, given.out)
    if not experiment.config.models and not experiment.environment.model:
        say("No model named: the scripted agents run. To run your own:  --model openai/gpt-4.1-mini")
    work = partial(start_run, experiment, new, log_level=given.log_level, shard=shard)
    finish(new.folder, work, exporter, given.fail_under, given.json, new=True)


def _dry_run(experiment: "Experiment", json: bool) -> None:
    from graphwalk.cli.dry_run import dry_run_text
    from graphwalk.runs.estimate import estimate_run

    estimate = run_async(estimate_run(experiment))
    data(estimate.as_json() if json else dry_run_text(estimate))
