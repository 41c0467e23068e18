"""`graphwalk generate traces`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from graphwalk.bulk.option import Workers
from graphwalk.cli import naming
from graphwalk.cli.export import Arguments, Protocol
from graphwalk.console import say


def traces(
    experiment: Annotated[
        str, typer.Argument(help="A name or a YAML file: which tasks.", autocompletion=naming.experiments)
    ],
    out: Annotated[Path, typer.Option(help="FILE.jsonl or FILE.parquet; FILE.manifest.json tells what it holds.")],
    model: Annotated[
        list[str] | None, typer.Option("--model", "-m", help="A scripted player; repeatable. Default: scripted/expert.")
    ] = None,
    graphs: Annotated[int | None, typer.Option(min=1, help="Graphs, mazes or instances of each kind.")] = None,
    seed: Annotated[int | None, typer.Option(help="Everything follows from it. Default: the experiment's.")] = None,
    grounded: Annotated[bool, typer.Option("--grounded", help="Answers that tool results prove in full.")] = False,
    arguments: Annotated[Arguments, typer.Option(help="Arguments of calls: for TRL, or for APIs.")] = Arguments.OBJECT,
    protocol: Annotated[Protocol, typer.Option(help="Calls as such, or written in the text.")] = Protocol.NATIVE,
    thoughts: Annotated[bool, typer.Option(help="Words before calls.")] = True,
    refusals: Annotated[
        float, typer.Option(min=0.0, max=100.0, help="Percent: traces more, of questions without an answer.")
    ] = 0.0,
    override: Annotated[
        list[str] | None, typer.Option("-o", metavar="KEY=VALUE", help="Any field of the experiment; repeatable.")
    ] = None,
    workers: Workers = None,
) -> None:
    """Let scripted players do the tasks of an experiment, and write what is right as chats for fine-tuning.

    The same lines as `graphwalk export traces --correct` writes of a run, without the run.
    """
    from graphwalk.bulk.writing import write_rows
    from graphwalk.experiments.loading import load_experiment
    from graphwalk.training.chats import ChatForm
    from graphwalk.training.played import trace_rows
    from graphwalk.training.traces import TraceOptions, manifest_path, write_manifest

    flags: dict[str, Any] = {
        "models": model or ["scripted/expert"],
        "store": "embedded",
        "extractor": None,
        "limit": None,
    }
    flags |= {} if seed is None else {"seed": seed}
    config = load_experiment(experiment, override or (), flags, worlds=graphs)
    form = ChatForm(arguments.value, protocol.value)
    options = TraceOptions(True, grounded, None, (), thoughts, refusals, config.seed, form)
    rows = trace_rows(config, options)
    written = write_rows(rows, out, workers)
    write_manifest(out, written.rows, rows.about)
    say(f"{written}, written to {out}, and {manifest_path(out)}")
