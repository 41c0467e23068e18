"""The answer to a question about your own graph: what was said and called, with its evidence."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from graphwalk.analysis.answer_evidence import (
    AnswerEvidence,
    answer_scene,
    cited_keys,
    evidence_of,
    unsupported_because,
)
from graphwalk.analysis.evidence import tool_evidence
from graphwalk.analysis.scene import Scene, SceneCall
from graphwalk.errors import counted
from graphwalk.models.chat import Usage, to_dict
from graphwalk.models.trajectory import ExitStatus, Trajectory
from graphwalk.sanitise import escape_markup, one_line
from graphwalk.suites.extraction import visible_text


class Exchange(NamedTuple):
    """An earlier question of a conversation with its answer; "" for no answer."""

    question: str
    answer: str


@dataclass(frozen=True)
class Answer:
    """A model's answer. `answer` is None if there is none; `exit_status` and `error` give the reason.

    `trajectory` has the prompt and all turns, `steps` the tool calls, `evidence` the nodes and relationships that
    support the answer. `cost` is in US dollars, None if unknown. `scene` is what terminal and page show.
    """

    question: str
    trajectory: Trajectory
    model: str
    earlier: tuple[Exchange, ...] = ()
    """The questions and answers before this one."""
    setting: str = "tools"
    """"tools" or "write_cypher"; the evidence of queries is not known."""

    def __repr__(self) -> str:
        """Return one line: question, answer or the reason for none, and the numbers of tool calls and evidence."""
        answer = self.exit_status if self.answer is None else one_line(self.answer, 100)
        size = f"{counted(len(self.steps), 'tool call')}, {counted(len(self.evidence.nodes), 'node')} as evidence"
        return f"<Answer to {one_line(self.question, 60)} · {answer} · {size}>"

    @cached_property
    def answer(self) -> str | None:
        """The reply without its reasoning."""
        return None if self.exit_status.infrastructure else visible_text(self.trajectory.reply) or None

    @property
    def exit_status(self) -> ExitStatus:
        return self.trajectory.exit_status

    @property
    def error(self) -> str | None:
        return self.trajectory.error

    @property
    def usage(self) -> Usage:
        return self.trajectory.usage

    @property
    def cost(self) -> float | None:
        return self.usage.cost

    @property
    def seconds(self) -> float:
        return self.trajectory.seconds

    @property
    def conversation(self) -> tuple[Exchange, ...]:
        """The questions and answers up to this one, which a follow-up question contains."""
        return (*self.earlier, Exchange(self.question, self.answer or ""))

    @cached_property
    def scene(self) -> Scene:
        record = {"task": {"question": self.question}, "answer": self.answer, "setting": self.setting}
        return answer_scene(record, self.trajectory)

    @property
    def steps(self) -> Sequence[SceneCall]:
        return self.scene.calls

    @cached_property
    def evidence(self) -> AnswerEvidence:
        """Empty for an answer by queries, whose rows do not say which nodes they were computed from."""
        if self.setting == "write_cypher":
            return AnswerEvidence()
        return evidence_of(self.question, self.answer, self.trajectory)

    @cached_property
    def unsupported(self) -> str:
        """Why no tool result can support the answer; "" if one may, or if there is no answer."""
        return unsupported_because(self.question, self.answer, self.trajectory.results_read)

    @cached_property
    def unseen(self) -> tuple[str, ...]:
        """The cited keys that no tool result contains."""
        cited = cited_keys(self.answer or "")
        if not cited:
            return ()
        shown = tool_evidence(self.trajectory)
        return tuple(key for key in cited if not shown.holds(key))

    @property
    def grounded(self) -> float | None:
        """Share of the cited keys that tool results contain; None if none is cited."""
        cited = cited_keys(self.answer or "")
        return round(1 - len(self.unseen) / len(cited), 6) if cited else None

    def as_dict(self) -> dict[str, Any]:
        """Return the answer as JSON data."""
        return {
            "question": self.question,
            "answer": self.answer,
            "exit_status": str(self.exit_status),
            "error": self.error,
            "steps": [step.as_dict() for step in self.steps],
            "setting": self.setting,
            "evidence": None if self.setting == "write_cypher" else self.evidence.as_dict(),
            "unsupported": self.unsupported or None,
            "grounded": self.grounded,
            "model": self.model,
            "usage": to_dict(self.usage),
            "cost": self.cost,
            "seconds": round(self.seconds, 6),
            "tool_seconds": round(self.trajectory.tool_seconds, 6),
        }

    def _repr_html_(self) -> str:
        text = self.answer or f"no answer ({self.exit_status}): {self.error or 'the reply was empty'}"
        lines = "<br>".join(map(escape_markup, text.splitlines()))
        if self.unsupported:
            lines = f'<strong style="color: #c00">Not supported: {escape_markup(self.unsupported)}</strong><br>{lines}'
        return f"<p>{lines}</p>"
