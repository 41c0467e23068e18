"""One experiment in several processes or on several machines: each makes a whole plan and works on a part of it.

Every shard knows the plan of all, so that what is put together afterwards is known to be one run.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from graphwalk.errors import ConfigError
from graphwalk.runner.plan import Plan, PlannedEpisode

_WRITTEN = re.compile(r"(\d{1,6})/(\d{1,6})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Shard:
    """Part `number` of `of`, counted from 1: every `of`-th task, with all of its episodes."""

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> "Shard":
        """From "2/8". ConfigError for anything else."""
        found = _WRITTEN.fullmatch(text)
        number, of = (int(found[1]), int(found[2])) if found else (0, 0)
        if not 1 <= number <= of:
            raise ConfigError(f"there is no shard {text!r}", hint="the second of eight:  --shard 2/8")
        return cls(number, of)

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def part(self, plan: Plan, episodes: Iterable[PlannedEpisode]) -> Iterator[PlannedEpisode]:
        """Those of the episodes that are its own; `plan` is what is known of the whole, from its beginning."""
        if self.of == 1:
            return iter(episodes)
        mine = {task.task_id for task, _ in plan.tasks[self.number - 1 :: self.of]}
        return (planned for planned in episodes if planned.key.task_id in mine)


WHOLE = Shard(1, 1)
