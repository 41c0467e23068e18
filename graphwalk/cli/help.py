"""Applications, groups and commands of Typer with the defaults of this command line."""

from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from graphwalk.errors import did_you_mean

_LONGEST_HELP = 300
"""Characters of the first sentence about a command; longer lines are wrapped."""


class Group(TyperGroup):
    """A group of commands, in the order in which they were added."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            ctx.fail(f"No such command {args[0]!r}{did_you_mean(args[0], self.list_commands(ctx))}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        names = self.list_commands(ctx)
        commands = {name: command for name in names if (command := self.get_command(ctx, name))}
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, command.get_short_help_str(_LONGEST_HELP)) for name, command in commands.items()]
            )


class App(typer.Typer):
    """A Typer application whose help is plain text."""

    def __init__(self, **options: Any) -> None:
        defaults = {"cls": Group, "no_args_is_help": True, "rich_markup_mode": None, "add_completion": False}
        super().__init__(**{**defaults, **options})


def as_command(target: Any, name: str, help: str | None = None) -> Any:
    """Return a function, or an application, as the command `name`."""
    if not isinstance(target, typer.Typer):
        function, target = target, App()
        target.command(name, help=help)(function)
    return get_command(target)
