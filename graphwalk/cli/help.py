"""The layout of `--help`: groups of commands, and values named TEXT, N or PATH instead of by Python types."""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

Function = TypeVar("Function", bound=Callable[..., Any])
_VALUE_NAMES = {"str": "TEXT", "int": "N", "int range": "N", "float": "X", "float range": "X", "Path": "PATH"}
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
    """Commands, listed below the titles of `panels` where a group has them."""

    panels: ClassVar[Mapping[str, Sequence[str]]] = {}

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        names = self.list_commands(ctx)
        width = max(map(len, names), default=0)
        for title, shown in (self.panels or {"Commands": names}).items():
            commands = {name: command for name in shown if (command := self.get_command(ctx, name))}
            limit = formatter.width - width - 4
            with formatter.section(title):
                formatter.write_dl([(n.ljust(width), c.get_short_help_str(limit)) for n, c in commands.items()])


class App(typer.Typer):
    """A Typer application with this layout of help."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"cls": Group, "no_args_is_help": True, "rich_markup_mode": None, **options})

    def command(self, name: str | None = None, **options: Any) -> Callable[[Function], Function]:
        decorator: Callable[[Function], Function] = super().command(name, **{"cls": Command, **options})
        return decorator
