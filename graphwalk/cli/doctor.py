"""`graphwalk doctor`: what works here, and how to fix the rest."""

import sys
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from graphwalk.environment import Environment


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at. "off" is what works without, and could be switched on."""

    name: str
    state: Literal["ok", "off", "broken"]
    detail: str
    fix: str = ""


def doctor(
    model: Annotated[list[str] | None, typer.Option("--model", "-m", help="Also try this model; repeatable.")] = None,
) -> None:
    """Say what works here, and how to fix the rest."""
    from graphwalk.console import data, printable
    from graphwalk.environment import read_environment

    environment = read_environment()
    broken = False
    for finding in _findings(environment, model or []):
        broken |= finding.state == "broken"
        data(printable(f"{finding.state:<7} {finding.name:<16} {environment.redact(finding.detail)}"))
        if finding.fix:
            data(printable(f"{'':<24} → {finding.fix}"))
    raise typer.Exit(3 if broken else 0)


def _findings(environment: "Environment", models: list[str]) -> Iterator[Finding]:
    yield Finding("python", "ok", sys.version.split()[0])
    yield _run("embedded store", _embedded)
    yield _neo4j(environment)
    yield _docker()
    yield from _keys(environment)
    for model in models:
        yield from _model(model, environment)


def _run(name: str, look: Callable[[], Coroutine[Any, Any, str]]) -> Finding:
    from graphwalk.asynchronous import run_async
    from graphwalk.errors import GraphwalkError

    try:
        return Finding(name, "ok", run_async(look()))
    except GraphwalkError as error:
        return Finding(name, "broken", str(error), error.hint)


async def _embedded() -> str:
    from importlib.metadata import version

    from graphwalk.graphs.random.generate import generate_graph
    from graphwalk.graphs.random.spec import GraphSpec
    from graphwalk.stores.embedded import EmbeddedDatabase

    graph = generate_graph(GraphSpec(preset="paper-100"), seed=0)
    store = await EmbeddedDatabase().load(graph)
    rows = await store.run("MATCH (n) RETURN count(n) AS count")
    return f"kglite {version('kglite')} holds a graph of {rows[0]['count']} nodes"


def _neo4j(environment: "Environment") -> Finding:
    from graphwalk.database import list_loads, status

    server = status(environment).server
    if environment.neo4j_uri is None and server is None:
        return Finding("neo4j", "off", "none known (the embedded store does without)", "graphwalk db up")

    async def look() -> str:
        graphs = await list_loads(environment)
        return f"{environment.neo4j_uri or (server and server.uri)} answers, {len(graphs)} graphs in it"

    return _run("neo4j", look)


def _docker() -> Finding:
    from graphwalk.database.docker import docker_answers

    if docker_answers():
        return Finding("docker", "ok", "an engine answers; `graphwalk db up` uses it")
    return Finding("docker", "off", "no engine answers; `graphwalk db up` starts Neo4j from its jars (JDK and Maven)")


def _keys(environment: "Environment") -> Iterator[Finding]:
    names = [name for name in environment.variables if name.endswith("_API_KEY")]
    for name in sorted(names):
        yield Finding("key", "ok", f"{name} is set")
    if not names:
        yield Finding("key", "off", "no *_API_KEY is set", "export OPENAI_API_KEY=…   (or write it into .env)")


def _model(spec: str, environment: "Environment") -> Iterator[Finding]:
    from graphwalk.asynchronous import run_async
    from graphwalk.errors import GraphwalkError
    from graphwalk.models.conformance import Capability, check_model
    from graphwalk.models.registry import open_model

    async def check() -> list[Capability]:
        opened = open_model(spec, environment)
        try:
            return await check_model(opened, seconds=60.0)
        finally:
            await opened.close()

    try:
        found = {capability.name: capability for capability in run_async(check())}
    except GraphwalkError as error:
        yield Finding(spec, "broken", str(error), error.hint)
        return
    for capability in found.values():
        if capability.name in ("plain_text", "tool_call"):
            state: Literal["ok", "broken"] = "ok" if capability.status == "ok" else "broken"
            fix = "" if state == "ok" else f"graphwalk models check {spec}"
            yield Finding(spec, state, f"{capability.name}: {capability.detail or capability.status}", fix)
