"""`graphwalk export`: runs in the formats of other programs, and training data, from runs and from the suites."""

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.main import get_command

from graphwalk.asynchronous import run_async
from graphwalk.cli.options import run_folders, suite_group
from graphwalk.console import counted, data, say
from graphwalk.errors import ConfigError
from graphwalk.progress import progress_bar
from graphwalk.settings import read_settings

_Group: Any = suite_group("EXPORT")


class _ExportGroup(_Group):  # type: ignore[misc]
    """The commands of the suites, and one for each format that is registered."""

    def list_commands(self, ctx: Any) -> list[str]:
        from graphwalk.exports.registry import EXPORTS

        return [*EXPORTS.names(), *super().list_commands(ctx)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        from graphwalk.exports.registry import EXPORTS

        if cmd_name not in EXPORTS.names():
            return super().get_command(ctx, cmd_name)
        try:
            exporter = EXPORTS.load(cmd_name)
        except ConfigError as error:
            say(f"warning: {error}")
            return None
        made = typer.Typer(rich_markup_mode=None, add_completion=False)
        made.command(cmd_name, help=exporter.__doc__)(_command(exporter))
        return get_command(made)


app = typer.Typer(
    cls=_ExportGroup, help="Write runs in other programs' formats, or training data.", no_args_is_help=True
)


class Arguments(StrEnum):
    OBJECT = "object"
    STRING = "string"


class Protocol(StrEnum):
    NATIVE = "native"
    TEXT = "text"


@app.callback()
def export() -> None:
    """Write runs in other programs' formats, or training data."""


def _command(exporter: Callable[..., None]) -> Callable[..., None]:
    def command(
        run: Annotated[Path, typer.Argument(help="A run folder or a published run.", autocompletion=run_folders)],
        out: Annotated[Path, typer.Option(help="The file, or the new folder, to be written.")],
        model: Annotated[list[str] | None, typer.Option("--model", "-m", help="Only this model; repeatable.")] = None,
        setting: Annotated[list[str] | None, typer.Option(help="Only this setting; repeatable.")] = None,
        task: Annotated[list[str] | None, typer.Option(help="Only this task; repeatable.")] = None,
        per_episode: Annotated[
            bool, typer.Option("--per-episode", help="atif, sts: One file per episode, not per model.")
        ] = False,
    ) -> None:
        from graphwalk.exports.episodes import Episodes
        from graphwalk.runs.result import EpisodeFilter
        from graphwalk.runs.run_folder import RunFolder

        chosen = EpisodeFilter(model or None, setting or None, task or None)
        folder = RunFolder.open(run)
        number = len(Episodes(folder, chosen))
        with progress_bar("exporting", number) as done:
            exporter(Episodes(folder, chosen, done, per_episode), out)
        say(f"{counted(number, 'episode')} written to {out}")

    return command


@app.command("traces")
def traces(
    runs: Annotated[list[Path], typer.Argument(help="Run folders.", autocompletion=run_folders)],
    out: Annotated[Path, typer.Option(help="FILE.jsonl; what it holds is told by FILE.manifest.json.")],
    correct: Annotated[bool, typer.Option("--correct", help="Right answers only.")] = False,
    grounded: Annotated[bool, typer.Option("--grounded", help="Answers that tool results prove in full.")] = False,
    over_par: Annotated[
        float | None, typer.Option(min=1.0, max=1000.0, help="At most so many times the expert's calls: 1.5.")
    ] = None,
    model: Annotated[list[str] | None, typer.Option(help="Episodes of this model alone; repeatable.")] = None,
    arguments: Annotated[Arguments, typer.Option(help="Arguments of calls: for TRL, or for APIs.")] = Arguments.OBJECT,
    protocol: Annotated[Protocol, typer.Option(help="Calls as such, or written in the text.")] = Protocol.NATIVE,
    thoughts: Annotated[bool, typer.Option(help="Words before calls; scripted agents think in words.")] = True,
    refusals: Annotated[
        float, typer.Option(min=0.0, max=100.0, help="Percent: traces more, of questions without an answer.")
    ] = 0.0,
    seed: Annotated[int, typer.Option(help="Draws wordings of thoughts, and refusals.")] = 0,
) -> None:
    """Write the episodes of runs as chats that models are fine-tuned on, one a line.

    `datasets`, TRL and chat templates read them: {"messages", "tools", "task_id", …}.
    """
    from graphwalk.evaluation.splits import manifest_path
    from graphwalk.runs.run_folder import RunFolder
    from graphwalk.training.traces import ChatForm, TraceOptions, export_traces, read_run

    form = ChatForm(arguments.value, protocol.value)
    options = TraceOptions(correct, grounded, over_par, tuple(model or ()), thoughts, refusals, seed, form)
    opened = [run_async(read_run(RunFolder.open(path), read_settings())) for path in runs]
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

    from graphwalk.evaluation import splits

    contents = splits.check_splits(files)
    for content in contents:
        numbers = (content.chats, len(content.graphs), len(content.names), len(content.wordings))
        data(f"{content.name}  {', '.join(map(counted, numbers, ('chat', 'graph', 'name', 'wording')))}")
    for one, other in combinations(contents, 2):
        shared = one.wordings & other.wordings
        if wordings and shared:
            raise ConfigError(f"{one.name} and {other.name} share {counted(len(shared), 'wording')}: {min(shared)}")
    say("proven: no graph, no chat and no name is in two of them, and each is as its manifest says")
