"""Configuration, tasks and scores of free questions."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from graphwalk.config.agent import AgentConfig
from graphwalk.config.graph_source import GraphSource
from graphwalk.config.scoring import Scoring
from graphwalk.config.strict import Strict, SuiteConfig
from graphwalk.evaluation.extraction import Extraction, visible_text
from graphwalk.reports.scene import Scene, StateTable, trajectory_of
from graphwalk.reports.suite_report import ResultRecord
from graphwalk.reports.text_table import plain
from graphwalk.suites.ask.evidence import cited_keys, evidence_keys, named_in
from graphwalk.suites.loaded_graph import LoadedGraph
from graphwalk.suites.task import Prompt, Task
from graphwalk.suites.walked import walked_scene
from graphwalk.tools.graph_toolbox import OWN_GRAPH_TOOLS
from graphwalk.tools.observed import observed_graph
from graphwalk.tools.observed_values import tool_evidence
from graphwalk.tools.schema_text import schema_text
from graphwalk.types.chat import Message
from graphwalk.types.episode import Score, Trajectory


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

    `cited` is the number of keys in square brackets. `grounded` is the share of them in tool results; None if there
    are none.
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
        cited, unseen = cited_keys(answer or ""), unseen_keys(trajectory, answer)
        return AskScore(
            extraction_stage=None if answer is None else "strict",
            grounded=round(1 - len(unseen) / len(cited), 6) if cited else None,
            answered=answer is not None,
            cited=len(cited),
        )

    def scene(self, record: ResultRecord) -> Scene:
        """Return the scene of an episode, with the evidence of the answer marked."""
        trajectory, question, answer = trajectory_of(record), record["task"]["question"], record["answer"]
        seen = observed_graph(trajectory.results)
        keys = evidence_keys(question, None if answer is None else plain(answer), seen)
        asked_about = set(named_in(question, seen)).intersection(keys)
        evidence = [key for key in keys if key not in asked_about]
        table = None if record["task"].get("gold") is not None else StateTable(("answer",), (("", answer),))
        scene = walked_scene(record, trajectory, asked_about, dict.fromkeys(evidence, "right"), table)
        return replace(scene, legend={**scene.legend, "right": "supports the answer"})


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


def unseen_keys(trajectory: Trajectory, answer: str | None) -> tuple[str, ...]:
    """Return the cited keys that no tool result contains."""
    shown = tool_evidence(trajectory)
    return tuple(key for key in cited_keys(answer or "") if not shown.holds(key))
