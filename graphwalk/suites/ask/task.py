"""What is asked, and of which graphs."""

import hashlib
import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from graphwalk.config.graph_source import GraphSource
from graphwalk.config.strict import Strict, SuiteConfig
from graphwalk.evaluation.evidence import tool_evidence
from graphwalk.types.episode import Score, Task, Trajectory


class Exchange(Strict):
    """A question of a conversation, and what was answered; "" where nothing was."""

    question: str
    """In words."""
    answer: str
    """As the model gave it."""


class Asked(Strict):
    """A question in somebody's own words, with what came before it in the same conversation. Its text alone will do."""

    question: str = Field(min_length=1)
    """In words."""
    earlier: tuple[Exchange, ...] = ()


def _alone(data: Any) -> Any:
    return {"question": data} if isinstance(data, str) else data


AskedOrText = Annotated[Asked, BeforeValidator(_alone, json_schema_input_type=Asked | str)]


class AskConfig(SuiteConfig):
    name: Literal["ask"] = "ask"
    graphs: tuple[GraphSource, ...] = ()
    questions: tuple[AskedOrText, ...] = ()


_CITED = re.compile(r"\[([^\[\]\n]{1,200})\](?!\()")


class AskTask(Task):
    """`number` counts the questions of a run from 1; `earlier` is what came before it in the conversation."""

    number: int
    earlier: tuple[Exchange, ...] = ()


class AskScore(Score):
    """Nobody knows the right answer, so that nothing is right or wrong.

    `cited`: keys that the answer names in square brackets; `grounded`: the share of them that the tools have shown,
    None where it names none.
    """

    correct: bool | None = None  # type: ignore[assignment]  # there is no target
    precision: float | None = None  # type: ignore[assignment]
    recall: float | None = None  # type: ignore[assignment]
    f1: float | None = None  # type: ignore[assignment]
    false_positives: int | None = None  # type: ignore[assignment]
    answered: bool
    cited: int


def task_about(asked: Asked, number: int, digest: str, seed: int) -> AskTask:
    """The same question after the same conversation has the same id, so that a recorded answer is found again."""
    said = [asked.question, *(part for one in asked.earlier for part in (one.question, one.answer))]
    return AskTask(
        task_id="ask-" + hashlib.sha256("\x1f".join([digest, *said]).encode("utf-8", "replace")).hexdigest()[:12],
        suite="ask",
        template="ask",
        question=asked.question,
        parameters={},
        gold=None,
        gold_size=0,
        seed=seed,
        graph_digest=digest,
        number=number,
        earlier=asked.earlier,
    )


def cited_keys(answer: str) -> tuple[str, ...]:
    """What stands in square brackets, once each, in order: `Ida [p3] and Bo [p4, p5]` names p3, p4 and p5."""
    found: dict[str, None] = {}
    for match in _CITED.finditer(answer):
        found |= dict.fromkeys(part.strip(" `'\"") for part in match[1].split(","))
    return tuple(key for key in found if key)


def unseen_keys(trajectory: Trajectory, answer: str | None) -> tuple[str, ...]:
    """What the answer cites although no result has shown it."""
    shown = tool_evidence(trajectory)
    return tuple(key for key in cited_keys(answer or "") if not shown.holds(key))


def score_of(trajectory: Trajectory, answer: str | None) -> AskScore:
    cited, unseen = cited_keys(answer or ""), unseen_keys(trajectory, answer)
    return AskScore(
        extraction_stage=None if answer is None else "strict",
        grounded=round(1 - len(unseen) / len(cited), 6) if cited else None,
        answered=answer is not None,
        cited=len(cited),
    )
