"""The statistical power of a plan, and the spread between the players of a run."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from graphwalk.errors import ConfigError
from graphwalk.evaluation.power import Design, Spread, assumed_spread, measured_spread, minimum_detectable_effect
from graphwalk.reports.compare import player_outcomes
from graphwalk.reports.observations import Player, chosen, observe
from graphwalk.runs.plan import Plan
from graphwalk.runs.run_folder import RunFolder
from graphwalk.suites.registry import suite_named

EVEN = 0.5
"""The accuracy assumed before there are data; the minimum detectable effect is largest there."""


@dataclass(frozen=True)
class DetectableEffect:
    """The minimum detectable effect of a plan: a difference of two accuracies, in points, at power 80 % and α 5 %.

    Both accuracies are assumed to be about one half, correlations as in `assumed_spread`. `points` is None below two
    graphs.
    """

    points: float | None
    graphs: int
    tasks_per_graph: int
    repeats: int

    def as_text(self) -> str:
        if self.points is None:
            return "No difference between players can be shown: all tasks are on one graph."
        points = f"{self.points:.{0 if self.points >= 10 else 1}f}"
        return (
            f"Can show differences of {points} points between two players, accuracies being near 50 % "
            f"({self.graphs} graphs × {self.tasks_per_graph} tasks × {self.repeats}; power 80 %): graphwalk power"
        )


def detectable_effect(plan: Plan, repeats: int) -> DetectableEffect:
    """Return the minimum detectable effect of a plan with this number of repeats."""
    graphs = len({task.graph_digest for task, _ in plan.tasks})
    design = Design(max(1, round(len(plan.tasks) / max(graphs, 1))), repeats, repeats)
    effect = minimum_detectable_effect(graphs, design, assumed_spread(EVEN, EVEN))
    points = None if effect is None else min(100.0, round(100 * effect, 1))
    return DetectableEffect(points, graphs, design.tasks_per_graph, repeats)


@dataclass(frozen=True)
class MeasuredPair:
    """Two players of a run: the spread of their difference in accuracy, and the design that it was measured with."""

    first: Player
    second: Player
    spread: Spread
    design: Design
    graphs: int


def measured_pairs(path: Path, models: Sequence[str], settings: Sequence[str]) -> list[MeasuredPair]:
    """Measure all pairs of players of a run. ConfigError if no pair has two graphs, and two tasks on one of them."""
    folder = RunFolder.open(path)
    manifest = folder.read_manifest()
    suite = suite_named(manifest["config"]["suite"]["name"])
    observed = observe(folder.records(), suite.presentation.report(suite))
    players = chosen(observed.players, models, settings)
    outcomes = {player: player_outcomes(observed, observed.rows_of(player)) for player in players}
    found = []
    for place, first in enumerate(players):
        for second in players[place + 1 :]:
            spread = measured_spread(outcomes[first], outcomes[second])
            if spread is not None:
                graphs = len(set(outcomes[first].graphs.tolist()))
                design = Design(max(1, round(len(outcomes[first].keys) / graphs)), observed.tries, observed.tries)
                found.append(MeasuredPair(first, second, spread, design, graphs))
    if not found:
        known = ", ".join(f"{player.model} {player.setting}" for player in observed.players)
        raise ConfigError(
            f"{path} shows no spread: that takes two players on two graphs, with two tasks on one of them",
            hint=f"played: {known or 'nothing yet'}; or assume accuracies: --first 40 --second 50",
        )
    return found
