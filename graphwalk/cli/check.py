"""`graphwalk models check`: what a model can do, for people and for CI."""

import json as json_form
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from graphwalk.asynchronous import run_async
from graphwalk.cli import naming
from graphwalk.console import data, prose, say
from graphwalk.environment import read_environment
from graphwalk.errors import ConfigError

if TYPE_CHECKING:
    from graphwalk.models.conformance import Capability


def check(
    model: Annotated[str, typer.Argument(help="provider/model", autocompletion=naming.models)],
    model_argument: naming.ModelArguments = None,
    without: Annotated[
        list[str] | None, typer.Option(metavar="CAPABILITY", help="May fail, as with a weak model; repeatable.")
    ] = None,
    seconds: Annotated[float, typer.Option(min=1, max=3600, help="Time for each check.")] = 120,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Try what a model can do, capability by capability.

    Text, tool calls, usage, errors and more, with some fifteen short calls. Exit code 0: nothing failed but what may;
    4: something failed, or no reply came; 2: there is no such model, or its key is missing.
    """
    from graphwalk.models.conformance import CAPABILITIES, check_model
    from graphwalk.models.registry import no_reply_hint, open_model

    if unknown := [name for name in without or () if name not in CAPABILITIES]:
        raise ConfigError(f"--without {unknown[0]}: there is no such capability", hint=", ".join(CAPABILITIES))
    arguments = (naming.arguments_of([model], model_argument) or {}).get(model)

    async def tried() -> "list[Capability]":
        opened = open_model(model, read_environment(), arguments)
        try:
            return await check_model(opened, seconds=seconds)
        finally:
            await opened.close()

    found = run_async(tried())
    failed = [one.name for one in found if one.status == "failed" and one.name not in (without or ())]
    # Without a first reply nothing was tried, and nothing can be allowed to fail.
    failed = failed or [one.name for one in found[:1] if len(found) == 1 and one.status == "failed"]
    if json:
        capabilities = [asdict(capability) for capability in found]
        data(json_form.dumps({"model": model, "ok": not failed, "failed": failed, "capabilities": capabilities}))
    else:
        _print(found)
    if len(found) == 1:
        say(f"nothing came back, so nothing else was tried: {no_reply_hint(model)}")
    if failed:
        raise typer.Exit(4)


def _print(found: "Sequence[Capability]") -> None:
    width = max(len(capability.name) for capability in found)
    for one in found:
        prose(f"{one.status:<7} {one.name:<{width}}  {one.detail}", indent=width + 10)
