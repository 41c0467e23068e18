"""One episode as it is logged: one line of `results.jsonl`, with all that later steps need."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from graphwalk.types.chat import Usage
from graphwalk.types.episode import SCHEMA_VERSION, ExitStatus, Trajectory
from graphwalk.types.wire import from_dict, to_dict


class EpisodeKey(NamedTuple):
    """What identifies an episode within its run."""

    task_id: str
    model: str
    setting: str
    repeat: int

    @property
    def text(self) -> str:
        return "\x1f".join([self.task_id, self.model, self.setting, str(self.repeat)])


@dataclass(frozen=True)
class Result:
    """A finished episode.

    `answer` is what was read from the reply, or None; `score` is None if the episode ended in an infrastructure
    failure. `usage` and `seconds`, which is elapsed time, include the extractor model's. `task` and `world` are the
    records of the task and of the graph it is about.
    """

    key: EpisodeKey
    exit_status: ExitStatus
    answer: Any
    score: dict[str, Any] | None
    trajectory: Trajectory
    usage: Usage
    seconds: float
    task: dict[str, Any]
    world: dict[str, Any] = field(default_factory=dict)
    extractor_reply: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """The record, in the order of the file."""
        return {
            "schema_version": SCHEMA_VERSION,
            **self.key._asdict(),
            "exit_status": str(self.exit_status),
            "answer": self.answer,
            "score": self.score,
            "turns": len(self.trajectory.turns),
            "tool_calls": len(self.trajectory.results),
            "usage": to_dict(self.usage),
            "seconds": round(self.seconds, 6),
            "task": self.task,
            "world": self.world,
            "extractor_reply": self.extractor_reply,
            "trajectory": to_dict(self.trajectory),
        }

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> "Result":
        return cls(
            key=key_of(record),
            exit_status=ExitStatus(record["exit_status"]),
            answer=record["answer"],
            score=record["score"],
            trajectory=from_dict(Trajectory, record["trajectory"]),
            usage=from_dict(Usage, record["usage"]),
            seconds=record["seconds"],
            task=record["task"],
            world=record["world"],
            extractor_reply=record["extractor_reply"],
        )


def key_of(record: dict[str, Any]) -> EpisodeKey:
    """The episode that a record is about."""
    return EpisodeKey(record["task_id"], record["model"], record["setting"], record["repeat"])
