"""One question about one graph, with its proven answer."""

from graphwalk.suites.questions.template import Category, Mode
from graphwalk.types.episode import Task
from graphwalk.types.values import Row, Value


class QuestionTask(Task):
    """One of the twelve questions with its parameters.

    `gold` holds every right row once, in ascending order; `mode` says how many of them an answer must name. `cypher`
    is the unscoped text: with `cypher_parameters` it runs as it is on a database that holds nothing but this graph.
    """

    suite: str = "questions"
    gold: list[Row]
    category: Category
    cypher: str
    cypher_parameters: dict[str, Value]
    answer_fields: tuple[str, ...]
    scored_fields: tuple[str, ...]
    """The fields that decide whether a row is right; the stricter score compares all `answer_fields`."""
    mode: Mode
    template_version: int
    candidates: int | None = None
    """Rows that the form of the answer allows; None where rows hold computed values."""
