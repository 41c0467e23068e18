"""What a dry run tells: tasks, and the calls, tokens and cost of reference walks."""

import json
from dataclasses import asdict, dataclass, field

from graphwalk.models.prices import KnownPrice


@dataclass
class ModelEstimate:
    """One model in one setting, if it walks as straight as the expert. Sums over all episodes.

    `new_tokens` and `repeated_tokens` are input; repeated is what a conversation sends again. `usd` prices repeated
    input as cached where providers cache it, `usd_uncached` as new; None: unknown. `spread` is the half width of the
    95 % interval of the input tokens as a share of them, 0 where all was played.
    """

    model: str
    setting: str
    tokenizer: str | None
    """None: tokens are estimated by a rule."""
    episodes: int = 0
    model_calls: int = 0
    tool_calls: int = 0
    characters: int | None = 0
    """None: not counted in walks of the plan."""
    new_tokens: int = 0
    repeated_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = None
    usd_uncached: float | None = None
    spread: float = 0.0
    assumed: int = 0
    """Episodes for which there is no expert; one reply with the target stands in."""
    of_plan: int = 0
    """Episodes on large graphs, whose figures are those of the plan: tokens by the rule, all input new."""

    @property
    def input_tokens(self) -> int:
        return self.new_tokens + self.repeated_tokens


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


@dataclass
class Estimate:
    """A dry run: tasks, and per model and setting what reference walks take. Real models take more.

    `played` of `pairs` pairs of task and setting were played. `notes` say what is assumed, one line each.
    """

    experiment: str
    tasks: dict[str, int]
    rows: list[ModelEstimate]
    prices: dict[str, KnownPrice]
    played: int
    pairs: int
    minimum_detectable_effect: DetectableEffect
    """The smallest difference between two players that the plan can show."""
    notes: list[str] = field(default_factory=list)

    def as_json(self) -> str:
        rows = [{**asdict(row), "input_tokens": row.input_tokens} for row in self.rows]
        prices = {model: price.model_dump(mode="json") for model, price in self.prices.items()}
        return json.dumps({**asdict(self), "rows": rows, "prices": prices}, indent=2)
