"""`graphwalk export`: training data, from runs and from the suites."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from graphwalk.asynchronous import run_async
from graphwalk.cli.naming import run_folders
from graphwalk.cli.suite_commands import suite_group
from graphwalk.console import counted, data, say
from graphwalk.environment import read_environment

app = typer.Typer(cls=suite_group("EXPORT"), help="Write training data.", no_args_is_help=True)


class Arguments(StrEnum):
    OBJECT = "object"
    STRING = "string"


class Protocol(StrEnum):
    NATIVE = "native"
    TEXT = "text"


@app.callback()
def export() -> None:
    """Write training data."""


@app.command("traces")
def traces(
    runs: Annotated[list[Path], typer.Argument(help="Run folders.", autocompletion=run_folders)],
    out: Annotated[Path, typer.Option(help="FILE.jsonl; what it holds is told by FILE.manifest.json.")],
    correct: Annotated[bool, typer.Option("--correct", help="Right answers only.")] = False,
    grounded: Annotated[bool, typer.Option("--grounded", help="Answers that tool results prove in full.")] = False,
    over_par: Annotated[
        float | None, typer.Option(min=1.0, help="At most so many times the expert's calls: 1.5.")
    ] = None,
    model: Annotated[list[str] | None, typer.Option(help="Episodes of this model alone; repeatable.")] = None,
    arguments: Annotated[Arguments, typer.Option(help="Arguments of calls: for TRL, or for APIs.")] = Arguments.OBJECT,
    protocol: Annotated[Protocol, typer.Option(help="Calls as such, or written in the text.")] = Protocol.NATIVE,
    thoughts: Annotated[bool, typer.Option(help="Words before calls; scripted players think in words.")] = True,
    refusals: Annotated[
        float, typer.Option(min=0.0, max=100.0, help="Percent: traces more, of questions without an answer.")
    ] = 0.0,
    seed: Annotated[int, typer.Option(help="Draws wordings of thoughts, and refusals.")] = 0,
) -> None:
    """Write the episodes of runs as chats that models are fine-tuned on, one a line.

    `datasets`, TRL and chat templates read them: {"messages", "tools", "task_id", …}.
    """
    from graphwalk.runlog.run_folder import RunFolder
    from graphwalk.training.chats import ChatForm
    from graphwalk.training.recorded import read_run
    from graphwalk.training.traces import TraceOptions, export_traces, manifest_path

    form = ChatForm(arguments.value, protocol.value)
    options = TraceOptions(correct, grounded, over_par, tuple(model or ()), thoughts, refusals, seed, form)
    opened = [run_async(read_run(RunFolder.open(path), read_environment())) for path in runs]
    manifest = export_traces(opened, out, options)
    for kind, number in manifest["kinds"].items():
        data(f"{kind:<40} {number}")
    for reason, number in manifest["left_out"].items():
        say(f"left out: {counted(number, 'episode')} {reason}")
    say(f"{counted(manifest['lines'], 'chat')} written to {out}, and {manifest_path(out)}")


@app.command("check-splits")
def check_splits(
    files: Annotated[list[Path], typer.Argument(help="Files of traces: training, validation, test.")],
    wordings: Annotated[bool, typer.Option("--wordings", help="Wordings of questions must differ too.")] = False,
) -> None:
    """Prove that files of traces share no graph, no chat and no name. Exit code 2 where they do."""
    from itertools import combinations

    from graphwalk.errors import ConfigError
    from graphwalk.training import splits

    contents = splits.check_splits(files)
    for content in contents:
        held = f"{content.chats} chats, {len(content.graphs)} graphs, {len(content.names)} names"
        data(f"{content.path}  {held}, {len(content.wordings)} wordings")
    for one, other in combinations(contents, 2):
        shared = one.wordings & other.wordings
        if wordings and shared:
            raise ConfigError(f"{one.path} and {other.path} share {len(shared)} wordings: {min(shared)}")
    say("proven: no graph, no chat and no name is in two of them, and each is as its manifest says")
