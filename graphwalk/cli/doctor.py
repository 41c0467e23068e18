"""`graphwalk doctor`: checks of the installation with fixes, and of a model."""

import sys
from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import typer

from graphwalk.cli.options import Override
from graphwalk.errors import GraphwalkError, counted
from graphwalk.terminal.console import print_columns, say
from graphwalk.terminal.signals import run_async
from graphwalk.variables import Variables, read_variables


@dataclass(frozen=True)
class DoctorCheck:
    """The result of a check. "off": optional and not available."""

    name: str
    state: Literal["ok", "off", "broken"]
    detail: str
    fix: str = ""


def doctor(
    model: Annotated[
        str | None, typer.Argument(help="Model as provider/model, to check its capabilities instead.")
    ] = None,
    override: Override = None,
) -> None:
    """Check the installation, or the capabilities of a model.

    A model gets five short calls: text, a tool call, a tool result, a JSON schema and usage. Exit code 3: the
    installation has a problem; 4: a capability failed, or there was no reply.
    """
    if model is not None:
        raise typer.Exit(0 if _print_capabilities(model, override or ()) else 4)
    variables = read_variables()
    checks = list(_checks(variables))
    for check in checks:
        fix = f"\n→ {check.fix}" if check.fix else ""
        print_columns([(f"{check.state:<6}", f"{check.name:<15}", variables.secrets.redact(check.detail) + fix)])
    raise typer.Exit(3 if any(check.state == "broken" for check in checks) else 0)


def _print_capabilities(model: str, overrides: Sequence[str]) -> bool:
    """Check and print the capabilities of a model. Return False if one failed."""
    from graphwalk.models.conformance import Capability, check_model
    from graphwalk.models.registry import open_model
    from graphwalk.own_graph.config import ask_config

    config = ask_config({}, overrides)
    opened = open_model(model, read_variables().serving(config.servers), config.model_arguments.get(model))

    async def check() -> list[Capability]:
        try:
            return await check_model(opened, seconds=config.limits.call_seconds)
        finally:
            await opened.close()

    results = run_async(check())
    print_columns((one.status, one.name, one.detail) for one in results)
    if len(results) == 1:
        say("no reply; other checks were skipped: check that the server runs, and its address and key")
    return all(one.status != "failed" for one in results)


def _checks(variables: Variables) -> Iterator[DoctorCheck]:
    from graphwalk.database.server import docker_answers

    yield DoctorCheck("python", "ok", sys.version.split()[0])
    yield _run("embedded store", _check_embedded)
    yield _neo4j(variables)
    if docker_answers():
        yield DoctorCheck("docker", "ok", "running; `graphwalk db up` uses it")
    else:
        jars = "not running; `graphwalk db up` starts Neo4j from its jars (needs JDK and Maven)"
        yield DoctorCheck("docker", "off", jars)
    names = sorted(name for name in variables.values if name.endswith("_API_KEY"))
    for name in names:
        yield DoctorCheck("key", "ok", f"{name} is set")
    if not names:
        yield DoctorCheck("key", "off", "no *_API_KEY is set", "export OPENAI_API_KEY=…   (or set it in .env)")


def _run(name: str, look: Callable[[], Coroutine[Any, Any, str]]) -> DoctorCheck:
    try:
        return DoctorCheck(name, "ok", run_async(look()))
    except GraphwalkError as error:
        return DoctorCheck(name, "broken", str(error), error.hint)


async def _check_embedded() -> str:
    from importlib.metadata import version

    from graphwalk.graphs.generate import GraphSpec, generate_graph
    from graphwalk.stores.embedded import EmbeddedDatabase

    graph = generate_graph(GraphSpec(preset="paper-100"), seed=0)
    store = await EmbeddedDatabase().load(graph)
    rows = await store.run("MATCH (n) RETURN count(n) AS count")
    return f"kglite {version('kglite')} loaded a graph of {rows[0]['count']} nodes"


def _neo4j(variables: Variables) -> DoctorCheck:
    from graphwalk.database import list_loads
    from graphwalk.stores.neo4j.local_server import local_server

    server = local_server(variables)
    if not (variables.neo4j_uri or server):
        return DoctorCheck("neo4j", "off", "none known (not needed by the embedded store)", "graphwalk db up")

    async def look() -> str:
        loads = await list_loads(variables)
        place = variables.neo4j_uri or (server or ("",))[0]
        return f"{place} is running with {counted(len(loads), 'graph')} of GraphWalk"

    return _run("neo4j", look)
