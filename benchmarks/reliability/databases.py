"""Neo4j that is killed, cut off, filled by halves, attacked and asked too much (R21 to R26), on each release."""

import asyncio
import random
import time
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.reliability.row import Row
from graphwalk.errors import StoreError
from graphwalk.stores.neo4j import admin
from graphwalk.stores.neo4j.loaded import Neo4jDatabase, scope_of
from tests.neo4j_servers import RELEASE_NAMES
from tests.runs.own_server import OwnServer, own_server, proxied
from tests.runs.runs import resume, start
from tests.runs.test_outages import EPISODES, Disturbed, disturbed, expert, scores
from tests.stores.loader import chain
from tests.stores.neo4j.test_lifecycle import NODES, killed_half_way, scope_count

FOREIGN = "MATCH (n:Foreign) RETURN sum(n.n)"
ENDLESS = "UNWIND range(1, 10000000) AS x UNWIND range(1, 10000000) AS y RETURN count(*) AS n"
Measured = Callable[[OwnServer, Path, int], Coroutine[Any, Any, Row]]


async def _on_each(folder: Path, number: int, measure: Measured) -> Row:
    rows = []
    for release in RELEASE_NAMES:
        with own_server(folder / release, release) as server:
            await server.run("UNWIND range(1, 1000) AS i CREATE (:Foreign {n: i})")
            rows.append(await measure(server, folder / f"runs-{release}", number))
    return Row.summed(rows, "; ".join(f"{name}: {row.note}" for name, row in zip(RELEASE_NAMES, rows, strict=True)))


async def restarts(folder: Path, number: int) -> Row:
    """Killed in the middle of runs, every fourth time with all its data."""

    async def measure(server: OwnServer, folder: Path, number: int) -> Row:
        draw, lost, wrong = random.Random(3), 0, 0
        for turn in range(number):
            run, empty = folder / str(turn), turn % 4 == 3
            at = draw.randrange(1, EPISODES // 2)
            await disturbed(run, server, Disturbed(at, partial(server.restart, empty=empty)))
            await resume(run, server.settings)
            right, false, _ = scores(run)
            lost, wrong = lost + EPISODES - right - false, wrong + false
        return Row(number * EPISODES, number, lost, 0, wrong, f"{number} restarts")

    return await _on_each(folder, number, measure)


async def cut_runs(folder: Path, number: int) -> Row:
    """All connections are reset, again and again, until so many runs are through."""

    async def measure(server: OwnServer, folder: Path, number: int) -> Row:
        lost = wrong = cuts = 0
        for turn in range(number):
            async with proxied(server.settings) as (proxy, settings):
                cutter = asyncio.create_task(_cutting(proxy.cut, random.Random(turn)))
                await start(folder / str(turn), expert(), settings)
                cutter.cancel()
                cuts += proxy.cuts
            _, false, failed = scores(folder / str(turn))
            lost, wrong = lost + failed, wrong + false
        left = await server.run("MATCH (n) RETURN count(n)") - 1000
        return Row(number * EPISODES, cuts, lost, left, wrong, f"{cuts} cuts")

    return await _on_each(folder, number, measure)


async def _cutting(cut: Callable[[], int], draw: random.Random) -> None:
    while True:
        await asyncio.sleep(draw.uniform(0.2, 1.0))
        cut()


async def loads(folder: Path, number: int) -> Row:
    """Loads are killed half-way, then made twice through connections that are cut; foreign data stays."""

    async def measure(server: OwnServer, folder: Path, number: int) -> Row:
        lost = repeated = faults = 0
        admin.BATCH, whole = 50, (NODES, 2 * (NODES - 1))
        before = await server.run(FOREIGN)
        for turn in range(number):
            async with proxied(server.settings) as (proxy, settings):
                opened = await Neo4jDatabase.open(server.settings, run_id=f"load-{turn}")
                await killed_half_way(opened, server.settings, f"load-{turn}")
                through = await Neo4jDatabase.open(settings, run_id=f"load-{turn}")
                cutter = asyncio.create_task(_cutting(proxy.cut, random.Random(turn)))
                for _ in range(2):
                    store = await through.load(chain(NODES))
                cutter.cancel()
                faults += 1 + proxy.cuts
                found = await scope_count(opened, scope_of(f"load-{turn}", chain(NODES).digest))
                lost += sum(max(0, w - f) for w, f in zip(whole, found, strict=True))
                repeated += sum(max(0, f - w) for w, f in zip(whole, found, strict=True))
                await store.drop()
                await through.close()
                await opened.close()
        changed = int(await server.run(FOREIGN) != before) + int(await server.run("MATCH (n) RETURN count(n)") != 1000)
        return Row(number * sum(whole), faults, lost, repeated, changed, f"{number} killed, {faults - number} cuts")

    return await _on_each(folder, number, measure)


async def expensive(folder: Path, number: int) -> Row:
    """Queries without an end, with two seconds each; each is followed by one that has to work."""

    async def measure(server: OwnServer, folder: Path, number: int) -> Row:
        opened, late, wrong = await Neo4jDatabase.open(server.settings, run_id="bombs"), 0.0, 0
        store: Any = await opened.load(chain(10))
        for _ in range(number):
            store._timeout_seconds, begun = 2.0, time.monotonic()
            try:
                await store.run(ENDLESS)
                wrong += 1
            except StoreError:
                late = max(late, time.monotonic() - begun)
            store._timeout_seconds = 30.0
            wrong += await store.run("RETURN 1 AS one") != [{"one": 1}]
        running = await opened._connection.write("SHOW TRANSACTIONS YIELD currentQuery RETURN currentQuery AS q")
        left = sum("range(1, 10000000)" in row["q"] for row in running)
        await store.drop()
        await opened.close()
        note = f"the longest took {late:.1f} s, {left} left running"
        return Row(number, number, changed=wrong + left + int(late > 4), note=note)

    return await _on_each(folder, number, measure)
