"""The layout of `--help`: groups of commands, and values named TEXT, N or PATH instead of by Python types."""

import re
from collections import defaultdict
from collections.abc import Callable
from typing import Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from graphwalk.errors import did_you_mean

Function = TypeVar("Function", bound=Callable[..., Any])
_VALUE_NAMES = {"str": "TEXT", "int": "N", "int range": "N", "float": "X", "float range": "X", "Path": "PATH"}
_LONGEST_HELP = 300
"""Characters of the first sentence about a command; longer lines are wrapped."""
_TYPE = re.compile(r"<(?:list\[)?([^\]>]*)\]?>")


class Command(TyperCommand):
    """A command. Its usage line shows arguments in capitals and without braces."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        first, *arguments = super().collect_usage_pieces(ctx)
        return [first, *(re.sub(r"[{}]", "", argument).upper() for argument in arguments)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        sections = defaultdict(list)
        for parameter in self.get_params(ctx):
            if record := parameter.get_help_record(ctx):
                name, text = record
                if parameter.param_type_name == "argument":
                    name = _TYPE.sub("", name).strip().upper()
                sections[parameter.param_type_name].append((_TYPE.sub(_value_name, name), text))
        for title, rows in sections.items():
            with formatter.section(f"{title.capitalize()}s"):
                formatter.write_dl(rows)


def _value_name(match: re.Match[str]) -> str:
    """Return the name of an option's value: "N" for `<int range>`, "PATH" for `<path>`, the choices of a choice."""
    name = match[1]
    return _VALUE_NAMES.get(name, name if "|" in name else name.upper())


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
    """A Typer application with this layout of help."""

    def __init__(self, **options: Any) -> None:
        defaults = {"cls": Group, "no_args_is_help": True, "rich_markup_mode": None, "add_completion": False}
        super().__init__(**{**defaults, **options})

    def command(self, name: str | None = None, **options: Any) -> Callable[[Function], Function]:
        decorator: Callable[[Function], Function] = super().command(name, **{"cls": Command, **options})
        return decorator


def as_command(target: Any, name: str, help: str | None = None) -> Any:
    """Return a function, or an application, as the command `name`."""
    if not isinstance(target, typer.Typer):
        function, target = target, App()
        target.command(name, help=help)(function)
    return get_command(target)
