"""Configuration, tasks and scores of free questions."""

import hashlib
import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from graphwalk.config.agent import AgentConfig
from graphwalk.config.graph_source import GraphSource
from graphwalk.config.scoring import Scoring
from graphwalk.config.strict import Strict, SuiteConfig
from graphwalk.evaluation.extraction import Extraction, visible_text
from graphwalk.suites.loaded_graph import LoadedGraph
from graphwalk.suites.task import Prompt, Task
from graphwalk.tools.graph_toolbox import OWN_GRAPH_TOOLS
from graphwalk.tools.schema_text import schema_text
from graphwalk.types.chat import Message
from graphwalk.types.episode import Score, Trajectory

CITED = re.compile(r"\[([^\[\]\n]{1,200})\](?!\()")
"""Keys in square brackets, but no link of Markdown."""


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


class AskScore(Score):
    """The score of an answer without a target.

    `cited` is the number of keys in square brackets.
    """

    answered: bool
    cited: int


class AskTask(Task):
    """A free question; `number` counts the questions of a run from 1."""

    number: int
    earlier: tuple[Exchange, ...] = ()

    async def prompt(self, about: LoadedGraph, setting: str, agent: AgentConfig) -> Prompt:
        return await asked_in_words(self.question, self.earlier, about, agent)

    def read(self, reply: str) -> Extraction:
        """Return the reply without its reasoning."""
        answer = visible_text(reply)
        return Extraction(answer, "strict") if answer else Extraction()

    def answer_format(self, agent: AgentConfig) -> str:
        return "The answer in words."

    def score(
        self, setting: str, trajectory: Trajectory, extraction: Extraction, scoring: Scoring = Scoring()
    ) -> AskScore:
        answer: str | None = extraction.answer
        return AskScore(
            extraction_stage=None if answer is None else "strict",
            answered=answer is not None,
            cited=len(cited_keys(answer or "")),
        )


async def asked_in_words(question: str, earlier: Sequence[Exchange], about: LoadedGraph, agent: AgentConfig) -> Prompt:
    """Return the prompt of a question about an own graph, after the earlier exchanges. Raise StoreError."""
    schema, toolbox = await about.schema(agent), await about.toolbox(agent, OWN_GRAPH_TOOLS)
    text = schema_text(schema, agent)
    prompt = [Message("system", agent.render("ask.j2", schema=text, search=toolbox.searches))]
    for exchange in earlier:
        prompt += [Message("user", exchange.question), Message("assistant", exchange.answer or "(no answer)")]
    return Prompt((*prompt, Message("user", question)), toolbox)


def task_about(entry: FreeQuestion, number: int, digest: str, seed: int) -> AskTask:
    """Return the task of a question; its id depends on graph, question and conversation, for replays."""
    texts = [digest, entry.question, *(text for one in entry.earlier for text in (one.question, one.answer))]
    return AskTask(
        task_id="ask-" + hashlib.sha256("\x1f".join(texts).encode("utf-8", "replace")).hexdigest()[:12],
        suite="ask",
        template="ask",
        question=entry.question,
        parameters={},
        target=None,
        target_size=0,
        seed=seed,
        graph_digest=digest,
        number=number,
        earlier=entry.earlier,
    )


def cited_keys(answer: str) -> tuple[str, ...]:
    """Return the keys in square brackets, once each, in order: `Ida [p3] and Bo [p4, p5]` cites p3, p4 and p5."""
    keys: dict[str, None] = {}
    for match in CITED.finditer(answer):
        keys |= dict.fromkeys(part.strip(" `'\"") for part in match[1].split(","))
    return tuple(key for key in keys if key)
