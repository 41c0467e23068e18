"""The openCypher TCK on both engines: what passed, and what each failure means for us."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from benchmarks.truth.tck_engines import Engine
from benchmarks.truth.tck_play import Outcome, play
from benchmarks.truth.tck_scenarios import ARTIFACT, scenarios
from graphwalk.stores.neo4j.server import fetch_jars

JUDGEMENTS = Path(__file__).parent / "tck_judgements.yaml"


@dataclass(frozen=True)
class Judgement:
    """A judgement of the failures that fit; `met`: whether a query of ours can meet the case."""

    engine: str
    features: tuple[str, ...]
    came: str
    met: str
    reason: str

    def fits(self, engine: str, outcome: Outcome) -> bool:
        named = "*" in self.features or outcome.scenario.feature in self.features
        return engine.startswith(self.engine) and named and re.search(self.came, outcome.detail) is not None


def judgements() -> list[Judgement]:
    entries: list[dict[str, Any]] = yaml.safe_load(JUDGEMENTS.read_text(encoding="utf-8"))
    return [Judgement(**{**entry, "features": tuple(entry["features"])}) for entry in entries]


def tck_jar() -> Path:
    """The published jar. StoreError where Maven cannot fetch it."""
    (jar,) = fetch_jars(ARTIFACT.replace(":", "-"), ARTIFACT, ["-DexcludeTransitive=true"]).glob("*.jar")
    return jar


def played(engine: Engine, jar: Path) -> list[Outcome]:
    try:
        return [play(scenario, engine, jar) for scenario in scenarios(jar)]
    finally:
        engine.close()


def judged(engine: str, outcomes: Iterable[Outcome]) -> dict[Judgement | None, list[Outcome]]:
    """Group failures by the first judgement that fits; None for those without one."""
    candidates, found = judgements(), defaultdict(list)
    for outcome in outcomes:
        if outcome.verdict == "failed":
            found[next((j for j in candidates if j.fits(engine, outcome)), None)].append(outcome)
    return found


def table(outcomes: Mapping[str, Sequence[Outcome]]) -> Iterator[str]:
    """Yield Markdown: a row per engine. Scenarios count once for each example."""
    yield "| engine | scenarios | passed | failed | not applicable |"
    yield "|---|--:|--:|--:|--:|"
    for engine, played_ones in outcomes.items():
        counts = Counter(outcome.verdict for outcome in played_ones)
        cells = (counts.total(), *(counts[verdict] for verdict in ("passed", "failed", "not applicable")))
        yield f"| {engine} | {' | '.join(map(str, cells))} |"


def failures(engine: str, outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield a line per judgement of failures, with their number."""
    for judgement, failed in judged(engine, outcomes).items():
        if judgement:
            yield f"{engine}, {len(failed)}: {judgement.reason.strip()} Met by a query of ours: {judgement.met}."
