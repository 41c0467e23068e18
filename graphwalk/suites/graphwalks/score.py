"""Task and score of one problem: the nodes of an answer against our target and the published one."""

import re
from typing import Literal

from pydantic import Field

from graphwalk.suites.graphwalks.config import Operation
from graphwalk.types.episode import Score, Task

ErrorClass = Literal["no_answer", "wrong_form", "missing_nodes", "extra_nodes", "other_nodes"]
ANSWER = re.compile(r"final answer:[\s*_`]*\[(.*)\]", re.IGNORECASE)
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

    `published_f1` is from the last line alone and against the target of the file; two empty sets give 1, a reply
    without the line 0. `last_line_correct`: the last line has our target. `error_class`: "wrong_form" is a text without
    the line, "other_nodes" has missing and extra nodes.
    """

    published_f1: float = Field(ge=0, le=1)
    last_line_correct: bool
    error_class: ErrorClass | None = None


def published_answer(reply: str) -> set[str] | None:
    """Return the nodes in the last line by the published rule, or None; blank lines at the end are ignored."""
    match = _PUBLISHED.search(reply.rstrip().rpartition("\n")[2])
    return match and {key.strip() for key in match[1].split(",") if key.strip()}
