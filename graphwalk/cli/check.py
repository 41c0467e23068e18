"""The check of a model's capabilities, for `graphwalk doctor MODEL`."""

from collections.abc import Sequence
from dataclasses import asdict
from json import dumps
from typing import TYPE_CHECKING

from graphwalk.cli.options import served_model
from graphwalk.errors import ConfigError
from graphwalk.terminal.console import data, print_columns, say
from graphwalk.terminal.signals import run_async
from graphwalk.variables import read_variables

if TYPE_CHECKING:
    from graphwalk.models.conformance import Capability


def print_capabilities(
    model: str, base_url: str | None, overrides: Sequence[str], without: Sequence[str], json: bool
) -> bool:
    """Check and print the capabilities of a model. Return False if one failed that is not in `without`."""
    from graphwalk.models.conformance import CAPABILITIES, check_model
    from graphwalk.models.registry import no_reply_hint
    from graphwalk.runs.playing.ask import asking

    if unknown := [name for name in without if name not in CAPABILITIES]:
        raise ConfigError(f"--without {unknown[0]}: unknown capability", hint=", ".join(CAPABILITIES))
    variables = read_variables()
    served, servers = served_model(model, base_url, variables)
    assert served is not None
    experiment = asking(None, served, variables, overrides=overrides, servers=servers)
    opened = experiment.opened.get(served)
    if opened is None:
        raise ConfigError(f"{served} is no language model", hint="graphwalk list models")

    async def check() -> "list[Capability]":
        try:
            return await check_model(opened, seconds=experiment.config.limits.call_seconds)
        finally:
            await opened.close()

    results = run_async(check())
    failed = [one.name for one in results if one.status == "failed" and one.name not in without]
    # Without a first reply no other capability was checked, so --without does not apply.
    failed = failed or [one.name for one in results[:1] if len(results) == 1 and one.status == "failed"]
    if json:
        capabilities = [asdict(capability) for capability in results]
        data(dumps({"model": served, "ok": not failed, "failed": failed, "capabilities": capabilities}))
    else:
        print_columns((one.status, one.name, one.detail) for one in results)
    if len(results) == 1:
        say(f"no reply; other checks were skipped: {no_reply_hint(served)}")
    return not failed
