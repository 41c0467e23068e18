"""Compare `graphwalk mcp` with other MCP servers for Neo4j on a graph of 10⁵ nodes, and write docs/peers.md.

Takes some ten minutes. Needs Java and Maven, and the peers in .venv-peers (`make bench-peers` puts them there).
"""

import asyncio
import os
import signal
import sys

from benchmarks.markers import DOCS, markdown_table, write_between_markers
from benchmarks.peers import attacks, stage
from benchmarks.peers.contestants import Contestant, contestants
from benchmarks.peers.questions import LOOKUPS, REPEATS, World
from benchmarks.peers.rounds import PATIENCE_SECONDS, Record, compete, without_apoc

PAGE = DOCS / "peers.md"


def main() -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the server is ended
    graph = stage.graph()
    world = World(graph, list(graph.nodes()))
    with stage.server(apoc=True) as environment:
        print("loading …", file=sys.stderr, flush=True)
        stage.load(graph, environment)
        records = []
        for contestant in contestants(environment):
            print(f"{contestant.name} …", file=sys.stderr, flush=True)
            records.append(asyncio.run(compete(contestant, world, environment)))
    with stage.server(apoc=False) as environment:
        stage.load(stage.small_graph(), environment)
        bare = {c.name: asyncio.run(without_apoc(c)) for c in contestants(environment)}
    _write(world, records, bare)


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
    write_between_markers(
        PAGE, "writes", markdown_table(["sent", *names], [[k, *(r.writes[k] for r in records)] for k in attacks.WRITES])
    )
    write_between_markers(
        PAGE, "bombs", markdown_table(["sent", *names], [[k, *(r.bombs[k] for r in records)] for k in attacks.BOMBS])
    )
    print(f"{PAGE}: {REPEATS} calls of each kind, patience {PATIENCE_SECONDS:.0f} s")


def _settings(all_: list[Contestant]) -> str:
    return markdown_table(["server", "settings"], [[c.name, c.settings] for c in all_])


def _lookups(records: list[Record]) -> str:
    columns = ["look-up", "server", "rows", "tokens", "most tokens", "ms"]
    rows = [[name, r.contestant.name, *r.lookups[name]] for name in LOOKUPS for r in records]
    return markdown_table(columns, rows)


if __name__ == "__main__":
    main()
