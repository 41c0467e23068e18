"""What is asked, and of which graphs."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from graphwalk.config.graph_source import GraphSource
from graphwalk.config.strict import Strict, SuiteConfig


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
