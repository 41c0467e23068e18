"""Which questions are asked on which graphs."""

from typing import Literal

from pydantic import PositiveInt

from graphwalk.config.strict import SuiteConfig
from graphwalk.graphs.random.spec import GraphSpec


class QuestionsConfig(SuiteConfig):
    """The suite `questions`, on generated property graphs. Every entry of `graphs` is made `count` times."""

    name: Literal["questions"] = "questions"
    graphs: tuple[GraphSpec, ...] = (GraphSpec(),)
    questions: tuple[str, ...] | None = None
    """Names of questions that ship; None: all twelve."""
    per_question: PositiveInt = 1
    """Tasks per graph and question."""
