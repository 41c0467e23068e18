"""Compare runs with inspect_ai, and `graphwalk mcp` with other MCP servers on a graph of 10⁵ nodes in Neo4j.

Writes docs/peers.md. Takes some fifteen minutes. The servers need Java and Maven; the peers stand in .venv-peers (`make
bench-peers` puts them there).
"""

import argparse
import asyncio
import os
import signal
import sys

from benchmarks.markers import DOCS, markdown_table, write_between_markers
from benchmarks.peers import attacks, harness, stage
from benchmarks.peers.contestants import Contestant, contestants
from benchmarks.peers.questions import LOOKUPS, REPEATS, World
from benchmarks.peers.rounds import PATIENCE_SECONDS, Record, bombard, compete, without_apoc

PAGE = DOCS / "peers.md"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("--calm", action="store_true", help="without the queries that never end")
    parser.add_argument("--only", choices=["runs", "servers"], help="one of the two comparisons")
    options = parser.parse_args()
    if options.only != "servers":
        _say("runs")
        harness.write()
    if options.only != "runs":
        _compare_servers(options.calm)


def _compare_servers(calm: bool) -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the server is ended
    graph = stage.graph()
    world = World(graph, list(graph.nodes()))
    with stage.server(apoc=False) as settings:
        stage.load(stage.small_graph(), settings)
        bare = {c.name: asyncio.run(without_apoc(c)) for c in contestants(settings)}
    with stage.server(apoc=True) as settings:
        _say("loading")
        stage.load(graph, settings)
        records = []
        for contestant in contestants(settings):
            _say(contestant.name)
            records.append(asyncio.run(compete(contestant, world, settings)))
        _write(world, records, bare)
    if not calm:
        for record in records:
            _bombard(record, world)
        _write_table("bombs", records, {name: [r.bombs[name] for r in records] for name in attacks.BOMBS})


def _bombard(record: Record, world: World) -> None:
    """Each gets a server of its own: a query can end it."""
    _say(f"{record.contestant.name}, queries that never end")
    with stage.server(apoc=True) as settings:
        stage.load(world.graph, settings)
        (contestant,) = (c for c in contestants(settings) if c.name == record.contestant.name)
        record.bombs = asyncio.run(bombard(contestant, world, settings))


def _say(text: str) -> None:
    print(f"{text} …", file=sys.stderr, flush=True)


def _write(world: World, records: list[Record], bare: dict[str, str]) -> None:
    graph = world.graph
    about = (
        f"Neo4j 5.26 Community with APOC Core, {graph.node_count:,} nodes with {len(graph.node_tables)} labels, "
        f"{graph.relationship_count:,} relationships of {len({t.type for t in graph.relationship_tables})} types; "
        f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}."
    )
    names = [record.contestant.name for record in records]
    write_between_markers(PAGE, "servers", f"{about}\n\n{_settings([r.contestant for r in records])}")
    schema = markdown_table(
        ["server", "tokens before the first call", "tokens of the schema", "ms"],
        [[record.contestant.name, *record.schema] for record in records],
    )
    write_between_markers(
        PAGE,
        "schema",
        f"{schema}\n\nWithout APOC:\n\n{markdown_table(['server', 'schema'], [[n, bare[n]] for n in names])}",
    )
    write_between_markers(PAGE, "lookups", _lookups(records))
    _write_table("writes", records, {name: [r.writes[name] for r in records] for name in attacks.WRITES})
    _say(f"{PAGE}: {REPEATS} calls of each kind, patience {PATIENCE_SECONDS:.0f} s")


def _write_table(part: str, records: list[Record], cells: dict[str, list[str]]) -> None:
    columns = ["sent", *(record.contestant.name for record in records)]
    write_between_markers(PAGE, part, markdown_table(columns, [[name, *found] for name, found in cells.items()]))


def _settings(all_: list[Contestant]) -> str:
    return markdown_table(["server", "settings"], [[c.name, c.settings] for c in all_])


def _lookups(records: list[Record]) -> str:
    columns = ["look-up", "server", "rows", "tokens", "most tokens", "ms"]
    rows = [[name, r.contestant.name, *r.lookups[name]] for name in LOOKUPS for r in records]
    return markdown_table(columns, rows)


if __name__ == "__main__":
    main()
