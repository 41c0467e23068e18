"""An answer with what it rests on: what `graphwalk ask --json` prints, and `graphwalk.ask` returns."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from graphwalk.runlog.result import Result
from graphwalk.stores.store import GraphStore
from graphwalk.suites.ask.browser import browser_cypher
from graphwalk.suites.ask.config import Exchange
from graphwalk.suites.ask.evidence import AnswerEvidence
from graphwalk.suites.ask.pictures.pictures import evidence_in
from graphwalk.suites.ask.pictures.svg import evidence_svg
from graphwalk.suites.ask.steps import Step, steps_of
from graphwalk.suites.ask.task import AskTask
from graphwalk.types.episode import ExitStatus
from graphwalk.types.wire import to_dict


@dataclass(frozen=True)
class Answer:
    """What a model answered. `answer` is None where it gave none; `exit_status` and `error` say why.

    `steps` are its tool calls, `evidence` the nodes and relationships that the answer rests on, `cypher` a query that
    draws them in Neo4j's browser, `svg()` a drawing of them. `usage` counts tokens; `cost` is in US dollars, None where
    it is not known. `result` is the whole episode, as runs log it.
    """

    result: Result
    evidence: AnswerEvidence
    cypher: str

    @classmethod
    def of(cls, result: Result, store: GraphStore) -> "Answer":
        evidence = evidence_in(result.as_dict())
        return cls(result, evidence, browser_cypher(evidence, store))

    @property
    def question(self) -> str:
        return str(self.result.task["question"])

    @property
    def answer(self) -> str | None:
        return None if self.result.answer is None else str(self.result.answer)

    @property
    def exit_status(self) -> ExitStatus:
        return self.result.exit_status

    @property
    def error(self) -> str | None:
        return self.result.trajectory.error

    @cached_property
    def steps(self) -> Sequence[Step]:
        return steps_of(self.result.trajectory)

    @property
    def cost(self) -> float | None:
        return self.result.usage.cost

    @property
    def conversation(self) -> tuple[Exchange, ...]:
        """The questions and answers up to this one, which a follow-up is sent."""
        earlier = AskTask.model_validate(self.result.task).earlier
        return (*earlier, Exchange(question=self.question, answer=self.answer or ""))

    def svg(self) -> str:
        """The evidence as a drawing: the text of an SVG file, the same for the same answer."""
        return evidence_svg(self.evidence, self.question)

    def as_dict(self) -> dict[str, Any]:
        """All of it as JSON would have it."""
        return {
            "question": self.question,
            "answer": self.answer,
            "exit_status": str(self.exit_status),
            "error": self.error,
            "steps": [step.as_dict() for step in self.steps],
            "evidence": {**self.evidence.as_dict(), "cypher": self.cypher},
            "grounded": None if self.result.score is None else self.result.score["grounded"],
            "model": self.result.key.model,
            "usage": to_dict(self.result.usage),
            "cost": self.cost,
            "seconds": round(self.result.seconds, 6),
            "tool_seconds": round(self.result.trajectory.tool_seconds, 6),
        }

    def _repr_markdown_(self) -> str:
        return self.answer or f"no answer ({self.exit_status}): {self.error or 'the model said nothing'}"
