"""Which episodes of a run somebody wants to see."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from graphwalk.errors import ConfigError
from graphwalk.runlog.result import EpisodeKey


@dataclass(frozen=True)
class Chosen:
    """Episodes of these models, settings and tasks; None: of all."""

    models: Collection[str] | None = None
    settings: Collection[str] | None = None
    tasks: Collection[str] | None = None

    def __call__(self, key: EpisodeKey) -> bool:
        asked = ((self.models, key.model), (self.settings, key.setting), (self.tasks, key.task_id))
        return all(wanted is None or value in wanted for wanted, value in asked)

    def nothing(self, place: object, played: Iterable[EpisodeKey]) -> ConfigError:
        """Says that a run has no such episode, and which models and settings it has."""
        named = (("model", self.models), ("setting", self.settings), ("task", self.tasks))
        asked = [f"{what} {' or '.join(map(repr, wanted))}" for what, wanted in named if wanted is not None]
        known = sorted({f"{key.model} {key.setting}" for key in played})
        return ConfigError(
            f"{place} has no episode with {', '.join(asked)}" if asked else f"{place} has no episodes yet",
            hint=f"played: {', '.join(known) or 'nothing yet'}",
        )
