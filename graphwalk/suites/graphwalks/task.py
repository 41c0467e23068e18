"""Task of GraphWalks: how one problem is asked, read and scored, against our target and the published one."""

import re
from dataclasses import asdict

from pydantic import Field

from graphwalk.config.agent import AgentConfig
from graphwalk.config.scoring import Scoring
from graphwalk.evaluation.extraction import Extraction, visible_text
from graphwalk.evaluation.rows import NOTHING_RIGHT, compare_sets
from graphwalk.suites.graph_prompts import graph_prompt
from graphwalk.suites.graphwalks.config import Operation
from graphwalk.suites.loaded_graph import GraphInstance, LoadedGraph
from graphwalk.suites.task import AnswerForm, Prompt, Task, keys_as_answer
from graphwalk.types.chat import Message
from graphwalk.types.episode import Score, Trajectory

ANSWER = re.compile(r"final answer:[\s*_`]*\[(.*)\]", re.IGNORECASE)
_PUBLISHED = re.compile(r"Final Answer: ?\[(.*)\]")


class GraphwalksScore(Score):
    """The score of the nodes in the last line that has `Final Answer: […]`.

    `published_f1` is from the last line alone and against the target of the file; two empty sets give 1, a reply
    without the line 0.
    """

    published_f1: float = Field(ge=0, le=1)


class GraphwalksTask(Task):
    """A problem with its sorted target. `prompt_chars`: length of its prompt without tools."""

    template: Operation
    target: list[str]
    prompt_chars: int = 0
    row: int | None = None
    """Row of the file, from 1 on."""
    published_target: list[str] | None = None
    """Target of the file, if it differs."""

    async def prompt(self, about: LoadedGraph, setting: str, agent: AgentConfig) -> Prompt:
        """Return the prompt of a graph with tools, or that of the data set as it is, or our own words."""
        if setting != "no_tools":
            return await graph_prompt(self.question, about, setting, agent)
        return Prompt((self.whole_prompt(about.instance, agent),))

    def whole_prompt(self, instance: GraphInstance, agent: AgentConfig) -> Message:
        assert instance.graph is not None
        text = next((problem.prompt for problem in instance.source or ()), None)
        if text is None:
            edges = "\n".join(f"{source} -> {target}" for source, target in instance.graph.edges())
            text = agent.render("graphwalks_no_tools.j2", edges=edges, question=self.question).strip()
        return Message("user", text)

    def read(self, reply: str) -> Extraction:
        """Extract the last line with `Final Answer: […]`; "strict" if it is the last line of the reply."""
        for number, line in enumerate(reversed(visible_text(reply).splitlines())):
            if match := ANSWER.search(line):
                keys = (key.strip(" \t\"'`*") for key in match[1].split(","))
                return Extraction([*dict.fromkeys(filter(None, keys))], "embedded" if number else "strict")
        return Extraction()

    def answer_form(self, setting: str) -> AnswerForm:
        return keys_as_answer(lambda keys: f"Final Answer: [{', '.join(keys)}]")

    def answer_format(self, agent: AgentConfig) -> str:
        return agent.render("graphwalks_format.j2").strip()

    def score(
        self, setting: str, trajectory: Trajectory, extraction: Extraction, scoring: Scoring = Scoring()
    ) -> GraphwalksScore:
        target, last_line = {*self.target}, published_answer(trajectory.reply)
        theirs = {*(self.target if self.published_target is None else self.published_target)}
        answer: set[str] | None = None if extraction.answer is None else {*extraction.answer}
        compared = NOTHING_RIGHT if answer is None else compare_sets(answer, target)
        return GraphwalksScore(
            **asdict(compared),
            extraction_stage=extraction.stage,
            published_f1=0.0 if last_line is None else compare_sets(last_line, theirs).f1,
        )


def published_answer(reply: str) -> set[str] | None:
    """Return the nodes in the last line by the published rule, or None; blank lines at the end are ignored."""
    match = _PUBLISHED.search(reply.rstrip().rpartition("\n")[2])
    return match and {key.strip() for key in match[1].split(",") if key.strip()}
