"""The result of an episode: one line of `results.jsonl`."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from graphwalk.config.agent import Scoring
from graphwalk.errors import ConfigError, counted
from graphwalk.models.chat import Usage, from_dict, to_dict
from graphwalk.models.trajectory import ExitStatus, Trajectory
from graphwalk.sanitise import html_table, one_line
from graphwalk.suites.extraction import MOST_CHARACTERS, TOO_LONG, Extraction
from graphwalk.suites.setting import Setting
from graphwalk.suites.suite import Task

_SHORT = 1_000
"""Characters of a reply that is too long which its score reads."""


def read_answer(task: Task, reply: str, scoring: Scoring) -> Extraction:
    """Return the answer in a reply; with strict extraction none unless the whole reply is the answer."""
    if len(reply) > MOST_CHARACTERS:
        return Extraction(stage=TOO_LONG)
    extraction = task.read(reply)
    return extraction if scoring.extraction == "lenient" or extraction.stage == "strict" else Extraction()


def judge(
    task: Task,
    trajectory: Trajectory,
    extractor_reply: str | None = None,
    scoring: Scoring = Scoring(),
) -> tuple[Any, dict[str, Any] | None]:
    """Return answer and score of a trajectory.

    The score is None for an infrastructure failure. `extractor_reply` is used if the parser finds no answer in the
    model's reply, or a lossy one, and finds one in the extractor's.
    """
    if trajectory.exit_status.infrastructure:
        return None, None
    extraction = read_answer(task, trajectory.reply, scoring)
    if extraction.stage == TOO_LONG:
        trajectory = with_short_reply(trajectory)
    if extractor_reply is not None and not extraction.sure:
        second = task.read(extractor_reply)
        if second.answer is not None:
            extraction = Extraction(second.answer, "model", second.lossy)
    score = task.score(trajectory, extraction, scoring)
    return extraction.answer, score.model_dump(mode="json")


def with_short_reply(trajectory: Trajectory) -> Trajectory:
    """Return a trajectory whose last turn has only the beginning of the reply, which is read for no answer."""
    last = trajectory.turns[-1]
    results = []
    for result in last.results:
        # The result of a tool that hands in the answer is the reply once more.
        results.append(replace(result, content=result.content[:_SHORT]) if result.final else result)
    content = last.message.content or ""
    message = replace(last.message, content=content[:_SHORT])
    shortened = replace(last, message=message, results=tuple(results))
    return replace(trajectory, turns=(*trajectory.turns[:-1], shortened))


ResultRecord = Mapping[str, Any]
"""One object of `results.jsonl`."""

RUN_VERSION = 3
"""Schema version of the files of a run."""


class EpisodeKey(NamedTuple):
    """The identity of an episode within its run."""

    task_id: str
    model: str
    setting: Setting
    repeat: int

    def as_dict(self) -> dict[str, str | int]:
        """Return the fields as in files, with the setting as text."""
        return {**self._asdict(), "setting": str(self.setting)}

    @property
    def text(self) -> str:
        return "\x1f".join([self.task_id, self.model, str(self.setting), str(self.repeat)])

    @property
    def in_words(self) -> str:
        return f"{self.task_id}, {self.model}, {self.setting}, repeat {self.repeat}"


@dataclass(frozen=True)
class Result:
    """A finished episode.

    `answer` is extracted from the reply, or None; `score` is None after an infrastructure failure. `usage` and
    `seconds` (elapsed time) include those of the extractor. `task` and `graph` are the records of task and graph.
    """

    key: EpisodeKey
    exit_status: ExitStatus
    answer: Any
    score: dict[str, Any] | None
    trajectory: Trajectory
    usage: Usage
    seconds: float
    task: dict[str, Any]
    graph: dict[str, Any] = field(default_factory=dict)
    extractor_reply: str | None = None

    def __repr__(self) -> str:
        """Return one line: model, setting, task, outcome, answer, calls and seconds."""
        answer = f"{self._outcome} · answer {one_line(self.answer, 60)} · {self._calls} · {self.seconds:.1f} s"
        return f"<Result: {self.key.model} {self.key.setting} · {self.key.task_id} · {answer}>"

    def _repr_html_(self) -> str:
        """Return question, answer, target and outcome as a table, for a notebook."""
        rows = {
            "question": self.task.get("question", ""),
            "answer": self.answer,
            "target": self.task.get("gold"),
            "outcome": f"{self._outcome}, {self._calls}, {self.seconds:.1f} s",
        }
        return html_table(f"{self.key.model} {self.key.setting}, {self.key.task_id}", rows)

    @property
    def _outcome(self) -> str:
        if self.score is None:
            return f"{self.exit_status}: {one_line(self.trajectory.error)}"
        return "correct" if self.score["correct"] else "incorrect"

    @property
    def _calls(self) -> str:
        return counted(len(self.trajectory.results), "tool call")

    def as_dict(self) -> dict[str, Any]:
        """Return the record, with the fields in the order of the file."""
        return {
            "schema_version": RUN_VERSION,
            **self.key.as_dict(),
            "exit_status": str(self.exit_status),
            "answer": self.answer,
            "score": self.score,
            "turns": len(self.trajectory.turns),
            "tool_calls": len(self.trajectory.results),
            "usage": to_dict(self.usage),
            "seconds": round(self.seconds, 6),
            "task": self.task,
            "graph": self.graph,
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
            graph=record["graph"],
            extractor_reply=record["extractor_reply"],
        )


def key_of(record: Mapping[str, Any]) -> EpisodeKey:
    """Return the key of the episode of a record."""
    return EpisodeKey(record["task_id"], record["model"], Setting.parse(record["setting"]), record["repeat"])


@dataclass(frozen=True)
class EpisodeFilter:
    """A filter of episodes by models, settings and tasks; None: all."""

    models: Collection[str] | None = None
    settings: Collection[str] | None = None
    tasks: Collection[str] | None = None

    def __call__(self, key: EpisodeKey) -> bool:
        # "tools" selects all of its variants, "tools:turn_limit=5" one.
        names = {str(key.setting), key.setting.name}
        if self.settings is not None and names.isdisjoint(self.settings):
            return False
        if self.models is not None and key.model not in self.models:
            return False
        return self.tasks is None or key.task_id in self.tasks

    def nothing(self, place: object, played: Iterable[EpisodeKey]) -> ConfigError:
        """Return the error for a run without such an episode, with its models and settings."""
        criteria = []
        for what, wanted in (("model", self.models), ("setting", self.settings), ("task", self.tasks)):
            if wanted is not None:
                criteria.append(f"{what} {' or '.join(repr(name) for name in wanted)}")
        if criteria:
            cause = f"{place} has no episode with {', '.join(criteria)}"
        else:
            cause = f"{place} has no episodes yet"
        names = sorted({f"{key.model} {key.setting}" for key in played})
        return ConfigError(cause, hint=f"played: {', '.join(names) or 'nothing yet'}")


_OF_TASK = (
    "template",
    "question",
    "gold",
    "gold_size",
    "reference_turns",
    "reference_calls",
    "reference_input_tokens",
    "reference_output_tokens",
)
_OF_USAGE = ("input_tokens", "output_tokens", "reasoning_tokens", "cached_tokens", "cost")


def episode_row(result: Result, fields: Iterable[str]) -> dict[str, Any]:
    """Return an episode as one row, with these fields of its score.

    A field with the name of another one gets the prefix `score_`.
    """
    row: dict[str, Any] = {
        **result.key.as_dict(),
        "exit_status": str(result.exit_status),
        "error": result.trajectory.error,
        "answer": result.answer,
        "turns": len(result.trajectory.turns),
        "tool_calls": len(result.trajectory.results),
        "seconds": result.seconds,
        "tool_seconds": result.trajectory.tool_seconds,
    }
    score = result.score or {}
    columns = {name: f"score_{name}" if name in row else name for name in fields}
    for name, column in columns.items():
        row[column] = score.get(name)
    for name in _OF_TASK:
        row[f"task_{name}"] = result.task.get(name)
    for name, value in result.graph.items():
        row[f"graph_{name}"] = value
    usage = to_dict(result.usage)
    for name in _OF_USAGE:
        row[f"usage_{name}"] = usage.get(name)
    return row
