"""Groups of commands that suites add to: `graphwalk generate maze`, `graphwalk export magma`, …"""

from functools import cache
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from graphwalk.console import say
from graphwalk.errors import ConfigError


def suite_group(kind: str) -> type[TyperGroup]:
    """The class of a group that holds, beside its own commands, those in `kind` of every suite's commands module."""

    class SuiteGroup(TyperGroup):
        def list_commands(self, ctx: Any) -> list[str]:
            return [*super().list_commands(ctx), *_commands(kind)]

        def get_command(self, ctx: Any, cmd_name: str) -> Any:
            return super().get_command(ctx, cmd_name) or _commands(kind).get(cmd_name)

    return SuiteGroup


@cache
def _commands(kind: str) -> dict[str, Any]:
    """Command by name. A suite of another package that cannot be imported is left out, and named."""
    from graphwalk.suites.registry import SUITES, suite_class

    app = typer.Typer(rich_markup_mode=None)
    app.callback()(lambda: None)
    for name in SUITES.names():
        try:
            module = suite_class(name).commands
        except ConfigError as error:
            say(f"warning: {error}")
            continue
        functions = {} if module is None else getattr(import_module(module), kind, {})
        for command, function in functions.items():
            app.command(command)(function)
    commands: dict[str, Any] = getattr(get_command(app), "commands", {})
    return commands
