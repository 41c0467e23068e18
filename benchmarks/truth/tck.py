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
from graphwalk.database.server import fetch_jars

JUDGEMENTS = Path(__file__).parent / "tck_judgements.yaml"
_NUMBER = re.compile(r"\[(\d+)\]")


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
    """Markdown: one row a feature, and the sums. A feature's scenarios count once for each example."""
    yield f"| feature | scenarios | {' | '.join(f'{e}: passed | failed | not applicable' for e in outcomes)} |"
    yield "|---|--:|" + "--:|" * 3 * len(outcomes)
    by_feature: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    for engine, found in outcomes.items():
        for outcome in found:
            by_feature[outcome.scenario.feature][engine][outcome.verdict] += 1
            by_feature["**all**"][engine][outcome.verdict] += 1
    for feature in sorted(by_feature, key=lambda name: (name == "**all**", _natural(name))):
        counts = by_feature[feature]
        cells = [counts[engine][v] for engine in outcomes for v in ("passed", "failed", "not applicable")]
        yield f"| {feature} | {sum(cells[:3])} | {' | '.join(map(str, cells))} |"


def failures(engine: str, outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Markdown: the failures by judgement, named by feature and number."""
    for judgement, failed in judged(engine, outcomes).items():
        places: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        for outcome in failed:
            number = _NUMBER.match(outcome.scenario.name.strip())
            places[outcome.scenario.feature][number[1] if number else "?"] += 1
        named = "; ".join(
            f"{feature} {', '.join(n if times == 1 else f'{n} (×{times})' for n, times in numbers.items())}"
            for feature, numbers in sorted(places.items(), key=lambda item: _natural(item[0]))
        )
        reason = judgement.reason.strip() if judgement else "**Not judged yet.**"
        met = f" Met by a query of ours: **{judgement.met}**." if judgement else ""
        yield f"* **{engine}**, {len(failed)}: {reason}{met}<br>{named}\n"


def _natural(name: str) -> tuple[str, int]:
    found = re.fullmatch(r"(\D*)(\d*)", name)
    return (found[1], int(found[2] or 0)) if found else (name, 0)
