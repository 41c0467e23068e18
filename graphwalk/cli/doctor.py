"""`graphwalk doctor`: checks of the installation with fixes, and of a model."""

import sys
from collections.abc import Coroutine, Iterator, Sequence
from typing import Annotated, Any

import typer

from graphwalk.cli import options
from graphwalk.errors import GraphwalkError, counted
from graphwalk.terminal import print_columns, print_message, run_async
from graphwalk.variables import Variables, read_variables


def doctor(
    model: Annotated[
        str | None, typer.Argument(help="Model as provider/model, to check its capabilities instead.")
    ] = None,
    override: options.Override = None,
) -> None:
    """Check the installation, or the capabilities of a model.

    A model gets five short calls: text, a tool call, a tool result, a JSON schema and usage. Exit code 3: the
    installation has a problem; 4: a capability failed, or there was no reply.
    """
    if model is not None:
        has_all = _print_capabilities(model, override or ())
        raise typer.Exit(0 if has_all else 4)

    variables = read_variables()
    rows = []
    exit_code = 0
    for state, name, detail in _checks(variables):
        rows.append((state, name, variables.secrets.redact(detail)))
        if state == "broken":
            exit_code = 3
    print_columns(rows)
    raise typer.Exit(exit_code)


def _checks(variables: Variables) -> Iterator[tuple[str, str, str]]:
    """Yield state, name and detail of each check; "off": optional and not available."""
    from graphwalk.stores.neo4j.compose import docker_answers
    from graphwalk.stores.neo4j.local_server import local_server

    yield "ok", "python", sys.version.split()[0]
    yield _check("embedded store", _use_embedded_store())

    # As for every command: NEO4J_URI takes precedence over the server of `graphwalk db up`.
    address = variables.get("NEO4J_URI")
    server = local_server(variables)
    if address is None and server is not None:
        address, _ = server
    if address is not None:
        yield _check("neo4j", _look_at_neo4j(variables, address))
    else:
        yield "off", "neo4j", "none known (not needed by the embedded store)\n→ graphwalk db up"
    if docker_answers():
        yield "ok", "docker", "running; `graphwalk db up` can use it"
    else:
        yield "off", "docker", "not running; `graphwalk db up` starts Neo4j from its jars (needs JDK and Maven)"

    names = sorted(name for name in variables.values if name.endswith("_API_KEY"))
    for name in names:
        yield "ok", "key", f"{name} is set"
    if not names:
        yield "off", "key", "no *_API_KEY is set\n→ export OPENAI_API_KEY=…   (or set it in .env)"


def _check(name: str, work: Coroutine[Any, Any, str]) -> tuple[str, str, str]:
    try:
        return "ok", name, run_async(work)
    except GraphwalkError as error:
        return "broken", name, f"{error.message}\n→ {error.hint}"


async def _use_embedded_store() -> str:
    from importlib.metadata import version

    from graphwalk.graphs.generate import GraphSpec, generate_graph
    from graphwalk.stores.open import OpenGraphs

    graph = generate_graph(GraphSpec(preset="paper-100"), seed=0)
    async with OpenGraphs(Variables()) as graphs:
        store = await graphs.open(graph)
        rows = await store.run("MATCH (n) RETURN count(n) AS count")
    return f"kglite {version('kglite')} loaded a graph of {rows[0]['count']} nodes"


async def _look_at_neo4j(variables: Variables, address: str) -> str:
    from graphwalk.stores.neo4j.loaded import db_list

    loads = await db_list(variables)
    return f"{address} is running with {counted(len(loads), 'graph')} of GraphWalk"


def _print_capabilities(model: str, overrides: Sequence[str]) -> bool:
    """Check and print the capabilities of a model. Return False if one failed."""
    from graphwalk.models.chat import CallOptions
    from graphwalk.models.conformance import Capability, check_model
    from graphwalk.models.registry import open_model
    from graphwalk.models.stack import model_to_check
    from graphwalk.own_graph.graph_agent import ask_config

    config = ask_config({}, overrides)
    opened = open_model(model, read_variables().serving(config.servers), config.model_arguments.get(model))

    agent = config.agent
    call_options = CallOptions(**config.options.model_dump(), parallel_tool_calls=agent.parallel_tool_calls)
    checked = model_to_check(opened, agent, print_message)

    async def check() -> list[Capability]:
        try:
            return await check_model(checked, seconds=config.limits.call_seconds, options=call_options)
        finally:
            await opened.close()

    results = run_async(check())
    print_columns((result.status, result.name, result.detail) for result in results)
    # The other checks follow only if the first one, a text, got a reply.
    if len(results) == 1:
        print_message("no reply; other checks were skipped")
    return all(result.status != "failed" for result in results)
