"""`graphwalk export`: runs in the formats of other programs, and training data that the suites write."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.main import get_command

from graphwalk.cli.naming import run_folders
from graphwalk.cli.suite_commands import suite_group
from graphwalk.console import counted, say
from graphwalk.errors import ConfigError
from graphwalk.long_work import long_work

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
    ) -> None:
        from graphwalk.exports.episodes import Episodes
        from graphwalk.runlog.result import EpisodeKey
        from graphwalk.runlog.run_folder import RunFolder

        def chosen(key: EpisodeKey) -> bool:
            asked = ((model, key.model), (setting, key.setting), (task, key.task_id))
            return all(not wanted or value in wanted for wanted, value in asked)

        folder = RunFolder.open(run)
        number = len(Episodes(folder, chosen))
        with long_work("exporting", number) as done:
            exporter(Episodes(folder, chosen, done), out)
        say(f"{counted(number, 'episode')} written to {out}")

    return command
