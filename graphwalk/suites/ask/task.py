"""Configuration, tasks and scores of free questions."""

import hashlib
import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from graphwalk.config.graph_source import GraphSource
from graphwalk.config.strict import Strict, SuiteConfig
from graphwalk.tools.observed_values import tool_evidence
from graphwalk.types.episode import Score, Task, Trajectory


class Exchange(Strict):
    """An earlier question of a conversation with its answer; "" for no answer."""

    question: str
    """Text of the question."""
    answer: str
    """Text of the model's answer."""


class FreeQuestion(Strict):
    """A free question with the earlier exchanges of its conversation. May be given as plain text."""

    question: str = Field(min_length=1)
    """Text of the question."""
    earlier: tuple[Exchange, ...] = ()


def _from_text(data: Any) -> Any:
    return {"question": data} if isinstance(data, str) else data


QuestionOrText = Annotated[FreeQuestion, BeforeValidator(_from_text, json_schema_input_type=FreeQuestion | str)]


class AskConfig(SuiteConfig):
    name: Literal["ask"] = "ask"
    graphs: tuple[GraphSource, ...] = ()
    questions: tuple[QuestionOrText, ...] = ()


_CITED = re.compile(r"\[([^\[\]\n]{1,200})\](?!\()")


class AskTask(Task):
    """A free question; `number` counts the questions of a run from 1."""

    number: int
    earlier: tuple[Exchange, ...] = ()


class AskScore(Score):
    """The score of an answer without a target.

    `cited` is the number of keys in square brackets. `grounded` is the share of them in tool results; None if there
    are none.
    """

    correct: bool | None = None  # type: ignore[assignment]  # there is no target
    precision: float | None = None  # type: ignore[assignment]
    recall: float | None = None  # type: ignore[assignment]
    f1: float | None = None  # type: ignore[assignment]
    false_positives: int | None = None  # type: ignore[assignment]
    answered: bool
    cited: int


def task_about(entry: FreeQuestion, number: int, digest: str, seed: int) -> AskTask:
    """Return the task of a question; its id depends on graph, question and conversation, for replays."""
    texts = [digest, entry.question, *(text for one in entry.earlier for text in (one.question, one.answer))]
    return AskTask(
        task_id="ask-" + hashlib.sha256("\x1f".join(texts).encode("utf-8", "replace")).hexdigest()[:12],
        suite="ask",
        template="ask",
        question=entry.question,
        parameters={},
        gold=None,
        gold_size=0,
        seed=seed,
        graph_digest=digest,
        number=number,
        earlier=entry.earlier,
    )


def cited_keys(answer: str) -> tuple[str, ...]:
    """Return the keys in square brackets, once each, in order: `Ida [p3] and Bo [p4, p5]` cites p3, p4 and p5."""
    keys: dict[str, None] = {}
    for match in _CITED.finditer(answer):
        keys |= dict.fromkeys(part.strip(" `'\"") for part in match[1].split(","))
    return tuple(key for key in keys if key)


def unseen_keys(trajectory: Trajectory, answer: str | None) -> tuple[str, ...]:
    """Return the cited keys that no tool result contains."""
    shown = tool_evidence(trajectory)
    return tuple(key for key in cited_keys(answer or "") if not shown.holds(key))


def score_of(trajectory: Trajectory, answer: str | None) -> AskScore:
    """Return the score of an answer; None means no answer."""
    cited, unseen = cited_keys(answer or ""), unseen_keys(trajectory, answer)
    return AskScore(
        extraction_stage=None if answer is None else "strict",
        grounded=round(1 - len(unseen) / len(cited), 6) if cited else None,
        answered=answer is not None,
        cited=len(cited),
    )
