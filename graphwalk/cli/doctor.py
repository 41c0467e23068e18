"""`graphwalk doctor`: installation checks with fixes."""

import sys
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import typer

from graphwalk.asynchronous import run_async
from graphwalk.console import counted, prose
from graphwalk.errors import GraphwalkError
from graphwalk.settings import Settings, read_settings


@dataclass(frozen=True)
class Check:
    """The result of a check. "off": optional and not available."""

    name: str
    state: Literal["ok", "off", "broken"]
    detail: str
    fix: str = ""


def doctor(
    model: Annotated[list[str] | None, typer.Option("--model", "-m", help="Also check this model; repeatable.")] = None,
) -> None:
    """Check the installation, and show how to fix problems."""
    settings = read_settings()
    broken = False
    for check in _checks(settings, model or []):
        broken |= check.state == "broken"
        prose(f"{check.state:<7} {check.name:<16} {settings.secrets.redact(check.detail)}", indent=25)
        if check.fix:
            prose(f"{'':<24} → {check.fix}", indent=27)
    raise typer.Exit(3 if broken else 0)


def _checks(settings: Settings, models: list[str]) -> Iterator[Check]:
    from graphwalk.database.server import docker_answers

    yield Check("python", "ok", sys.version.split()[0])
    yield _run("embedded store", _check_embedded)
    yield from _check_plugins()
    yield _neo4j(settings)
    if docker_answers():
        yield Check("docker", "ok", "running; `graphwalk db up` uses it")
    else:
        jars = "not running; `graphwalk db up` starts Neo4j from its jars (needs JDK and Maven)"
        yield Check("docker", "off", jars)
    names = sorted(name for name in settings.variables if name.endswith("_API_KEY"))
    for name in names:
        yield Check("key", "ok", f"{name} is set")
    if not names:
        yield Check("key", "off", "no *_API_KEY is set", "export OPENAI_API_KEY=…   (or set it in .env)")
    for model in models:
        yield from _model(model, settings)


def _run(name: str, look: Callable[[], Coroutine[Any, Any, str]]) -> Check:
    try:
        return Check(name, "ok", run_async(look()))
    except GraphwalkError as error:
        return Check(name, "broken", str(error), error.hint)


async def _check_embedded() -> str:
    from importlib.metadata import version

    from graphwalk.graphs.generate import GraphSpec, generate_graph
    from graphwalk.stores.embedded import EmbeddedDatabase

    graph = generate_graph(GraphSpec(preset="paper-100"), seed=0)
    store = await EmbeddedDatabase().load(graph)
    rows = await store.run("MATCH (n) RETURN count(n) AS count")
    return f"kglite {version('kglite')} loaded a graph of {rows[0]['count']} nodes"


def _check_plugins() -> Iterator[Check]:
    """Yield suites and stores. Those of plugins are imported."""
    from graphwalk.stores.registry import STORES
    from graphwalk.suites.registry import SUITES

    for registry in (SUITES, STORES):
        yield Check(f"{registry.kind}s", "ok", ", ".join(registry.names()))
        for name in registry.names():
            if name in registry.built_in:
                continue
            title = f"{registry.kind} {name}"
            try:
                registry.load(name)
                yield Check(title, "ok", f"from {registry.origin(name)}")
            except GraphwalkError as error:
                yield Check(title, "broken", str(error), "update or uninstall its package")


def _neo4j(settings: Settings) -> Check:
    from graphwalk.database import contents
    from graphwalk.stores.neo4j.local_server import local_server

    server = local_server(settings)
    if not (settings.neo4j_uri or server):
        return Check("neo4j", "off", "none known (not needed by the embedded store)", "graphwalk db up")

    async def look() -> str:
        content = await contents(settings)
        text = f"{content.place} is running with {counted(len(content.loads), 'graph')} of GraphWalk"
        if not content.other_nodes:
            return text
        other = counted(content.other_nodes, "other node")
        return f"{text} and {other}, which --database {content.database} reads"

    return _run("neo4j", look)


def _model(spec: str, settings: Settings) -> Iterator[Check]:
    from graphwalk.models.conformance import Capability, check_model
    from graphwalk.models.registry import open_model

    async def check() -> list[Capability]:
        opened = open_model(spec, settings)
        try:
            return await check_model(opened, seconds=60.0)
        finally:
            await opened.close()

    try:
        capabilities = {capability.name: capability for capability in run_async(check())}
    except GraphwalkError as error:
        yield Check(spec, "broken", str(error), error.hint)
        return
    for capability in capabilities.values():
        if capability.name in ("plain_text", "tool_call"):
            state: Literal["ok", "broken"] = "ok" if capability.status == "ok" else "broken"
            fix = "" if state == "ok" else f"graphwalk models check {spec}"
            yield Check(spec, state, f"{capability.name}: {capability.detail or capability.status}", fix)
