"""Which differences between two players a plan can see, and how many graphs a difference needs."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from graphwalk.errors import ConfigError
from graphwalk.report.comparisons import player_outcomes
from graphwalk.report.observations import Player, chosen, observe
from graphwalk.runlog.run_folder import RunFolder
from graphwalk.runner.plan import Plan
from graphwalk.scoring.statistics import Design, Spread, assumed_spread, measured_spread, smallest_difference
from graphwalk.suites.registry import suite_named

EVEN = 0.5
"""The accuracy that is assumed where nothing is known: differences are hardest to see there."""


@dataclass(frozen=True)
class Sight:
    """The smallest difference of two accuracies, in points, that a plan shows in 80 % of cases at 5 %.

    Both accuracies are assumed to be about one half, the correlations to be those of `assumed_spread`. None below two
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


def smallest_difference_of(plan: Plan, repeats: int) -> Sight:
    """What a plan of so many repeats can see."""
    graphs = len({task.graph_digest for task, _ in plan.tasks})
    design = Design(max(1, round(len(plan.tasks) / max(graphs, 1))), repeats, repeats)
    smallest = smallest_difference(graphs, design, assumed_spread(EVEN, EVEN))
    points = None if smallest is None else min(100.0, round(100 * smallest, 1))
    return Sight(points, graphs, design.tasks_per_graph, repeats)


@dataclass(frozen=True)
class MeasuredPair:
    """Two players of a run: the spread of their difference in accuracy, and the design that it was measured with."""

    first: Player
    second: Player
    spread: Spread
    design: Design
    graphs: int


def measured_pairs(path: Path, models: Sequence[str], settings: Sequence[str]) -> list[MeasuredPair]:
    """All pairs of players of a run. ConfigError where no pair has two graphs, and two tasks on one of them."""
    folder = RunFolder.open(path)
    manifest = folder.read_manifest()
    observed = observe(folder.records(), suite_named(manifest["config"]["suite"]["name"]).report())
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
