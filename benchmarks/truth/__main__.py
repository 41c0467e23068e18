"""Ask all of them, print what differs, and write docs/peers.md: `make truth`."""

import asyncio
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path

from benchmarks.markers import DOCS, caption, write_between_markers
from benchmarks.servers import throw_away_server
from benchmarks.truth.targets import Found, targets
from benchmarks.truth.tck import failures, judged, played, table, tck_jar
from benchmarks.truth.tck_engines import Kglite, Neo4j
from benchmarks.truth.tck_play import Outcome
from benchmarks.truth.tck_scenarios import ARTIFACT
from graphwalk.stores.neo4j.server import RELEASES

PAGE = DOCS / "peers.md"
Outcomes = Mapping[str, Sequence[Outcome]]
"""Of all scenarios, by engine."""


def main() -> int:
    started = time.perf_counter()
    print("targets, by networkx …", flush=True)
    counts = asyncio.run(targets())
    print("openCypher TCK …", flush=True)
    by_engine = _tck_outcomes(tck_jar())
    wrong = [*_wrong(counts), *_unjudged(by_engine)]
    write_between_markers(
        PAGE, "truth", "\n".join(["", caption("make truth"), "", *_tck(by_engine), *_targets(counts), ""])
    )
    for engine, outcomes in by_engine.items():
        print("\n".join(failures(engine, outcomes)))
    print(f"{PAGE.name} written, {time.perf_counter() - started:.0f} s")
    for line in wrong:
        print(f"differs: {line}")
    return 1 if wrong else 0


def _tck_outcomes(jar: Path) -> Outcomes:
    outcomes = {"kglite": played(Kglite(), jar)}
    for release in RELEASES:
        print(f"openCypher TCK on Neo4j {release} …", flush=True)
        # TCK scenarios empty the database, so that NEO4J_URI is not used.
        with throw_away_server(release) as variables:
            name = f"neo4j {release}"
            outcomes[name] = played(Neo4j(variables, name), jar)
    return outcomes


def _wrong(counts: dict[str, Found]) -> Iterator[str]:
    for kind, targets_found in counts.items():
        yield from (f"{kind}: {text[:300]}" for text in targets_found.differ)


def _unjudged(outcomes: Outcomes) -> Iterator[str]:
    for engine, played_ones in outcomes.items():
        for outcome in judged(engine, played_ones).get(None, []):
            yield f"{engine}, not judged: {outcome.scenario.title}: {outcome.detail}"


def _tck(outcomes: Outcomes) -> Iterator[str]:
    versions = " and ".join(release.version for release in RELEASES.values())
    yield f"### openCypher TCK\n\n{ARTIFACT} on kglite {metadata.version('kglite')} and Neo4j {versions}.\n"
    yield from table(outcomes)
    yield ""


def _targets(counts: dict[str, Found]) -> Iterator[str]:
    yield "### networkx\n\n| targets | recomputed | differ | no second way |\n|---|--:|--:|--:|"
    for kind, one in counts.items():
        yield f"| {kind} | {one.agree} | {len(one.differ)} | {one.unknown} |"


if __name__ == "__main__":
    sys.exit(main())
