"""Task and score of one problem: the nodes of an answer against our target and the published one."""

import re
from dataclasses import asdict
from typing import Literal

from pydantic import Field

from graphwalk.evaluation.extraction import Extraction, visible_text
from graphwalk.evaluation.rows import NOTHING_RIGHT, compare_sets
from graphwalk.suites.graphwalks.config import Operation
from graphwalk.types.episode import Score, Task, Trajectory

ErrorClass = Literal["no_answer", "wrong_form", "missing_nodes", "extra_nodes", "other_nodes"]
_ANSWER = re.compile(r"final answer:[\s*_`]*\[(.*)\]", re.IGNORECASE)
_PUBLISHED = re.compile(r"Final Answer: ?\[(.*)\]")


class GraphwalksTask(Task):
    """A problem with its sorted target. `prompt_chars`: length of its prompt without tools."""

    template: Operation
    gold: list[str]
    prompt_chars: int = 0
    row: int | None = Field(default=None, exclude_if=lambda row: row is None)
    """Row of the file, from 1 on."""
    published_gold: list[str] | None = Field(default=None, exclude_if=lambda keys: keys is None)
    """Target of the file, if it differs."""


class GraphwalksScore(Score):
    """The score of the nodes in the last line that has `Final Answer: […]`.

    `published_f1`: F1 by the published rule, from the last line alone and against the target of the file; two empty
    sets give 1, a reply without the line 0. `last_line_correct`: the nodes in the last line are our target.

    `error_class` is None for a correct answer; "no_answer": no text; "wrong_form": a text without the line;
    "missing_nodes", "extra_nodes": nothing else is wrong; "other_nodes": both.
    """

    published_f1: float = Field(ge=0, le=1)
    last_line_correct: bool
    error_class: ErrorClass | None = None


def extract_nodes(reply: str) -> Extraction:
    """Extract the last line with `Final Answer: […]`; "strict" if it is the last line of the reply."""
    for number, line in enumerate(reversed(visible_text(reply).splitlines())):
        if match := _ANSWER.search(line):
            keys = (key.strip(" \t\"'`*") for key in match[1].split(","))
            return Extraction([*dict.fromkeys(filter(None, keys))], "embedded" if number else "strict")
    return Extraction()


def published_answer(reply: str) -> set[str] | None:
    """Return the nodes in the last line by the published rule, or None; blank lines at the end are ignored."""
    match = _PUBLISHED.search(reply.rstrip().rpartition("\n")[2])
    return match and {key.strip() for key in match[1].split(",") if key.strip()}


def score_nodes(task: GraphwalksTask, trajectory: Trajectory, extraction: Extraction) -> GraphwalksScore:
    target, last_line = {*task.gold}, published_answer(trajectory.reply)
    theirs = {*(task.gold if task.published_gold is None else task.published_gold)}
    answer: set[str] | None = None if extraction.answer is None else {*extraction.answer}
    compared = NOTHING_RIGHT if answer is None else compare_sets(answer, target)
    error: ErrorClass | None = None
    if answer is None:
        error = "wrong_form" if visible_text(trajectory.reply) else "no_answer"
    elif answer != target:
        error = "extra_nodes" if answer > target else "missing_nodes" if answer < target else "other_nodes"
    return GraphwalksScore(
        **asdict(compared),
        extraction_stage=extraction.stage,
        published_f1=0.0 if last_line is None else compare_sets(last_line, theirs).f1,
        last_line_correct=last_line == target,
        error_class=error,
    )
