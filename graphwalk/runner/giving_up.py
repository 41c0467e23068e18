"""Models that no episode gets a reply from: tried a few times, then left alone, so that nobody waits for the rest."""

from collections import Counter
from collections.abc import Callable

from graphwalk.runlog.result import Result
from graphwalk.types.episode import ExitStatus

ENOUGH = 3
"""Episodes without a single reply after which a model is given up; each of them has tried again for itself."""


class GivingUp:
    """Which models still get episodes. A model that has once replied is never given up: its server may come back."""

    def __init__(self, note: Callable[[str], object]) -> None:
        self._note = note
        self._failures: Counter[str] = Counter()
        self._replied: set[str] = set()

    def count(self, result: Result) -> None:
        """Take a finished episode into account."""
        model, trajectory = result.key.model, result.trajectory
        if trajectory.turns or trajectory.exit_status is not ExitStatus.MODEL_ERROR:
            self._replied.add(model)
            return
        self._failures[model] += 1
        if self._failures[model] == ENOUGH and model not in self._replied:
            self._note(
                f"{model} is left alone: {ENOUGH} episodes got no reply from it, the last one: {trajectory.error}"
            )

    def hopeless(self, model: str) -> bool:
        return self._failures[model] >= ENOUGH and model not in self._replied
