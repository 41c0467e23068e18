"""The suite `demo`: tasks with prompts, tools and scores, and scripted agents."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from graphwalk.extend import (
    AgentConfig,
    Ask,
    Extraction,
    GraphInstance,
    LoadedGraph,
    Message,
    Policy,
    Prompt,
    Schema,
    Score,
    Scoring,
    ScriptedAgent,
    Suite,
    Task,
    Tasks,
    Trajectory,
    compare_sets,
    render_text,
)
from graphwalk_demo.chains import ChainsConfig, chain_graph, make_chain

if TYPE_CHECKING:
    from graphwalk_demo.report import ChainsAnalysis

FOLDER = Path(__file__).parent
TOOLS = (str(FOLDER / "next_node.yaml"),)


# --- a task: the data that are logged, and how it is asked, read and scored ---


class ChainScore(Score):
    steps_short: int | None
    """Nodes between the answer and the end; None where the answer is no node of the chain."""


class ChainTask(Task):
    length: int

    async def prompt(self, about: LoadedGraph, setting: str, agent: AgentConfig) -> Prompt:
        links = sorted(pairwise(self.target)) if setting == "no_tools" else None
        text = (FOLDER / "prompt.j2").read_text(encoding="utf-8")
        messages = (Message("user", render_text(text, start=self.parameters["start"], links=links)),)
        return Prompt(messages, await about.toolbox(agent, TOOLS) if setting == "tools" else None)

    def read(self, reply: str) -> Extraction:
        try:
            return Extraction(str(json.loads(reply)["end"]), "strict")
        except (ValueError, KeyError, TypeError, RecursionError):
            return Extraction()

    def answer_format(self, agent: AgentConfig) -> str:
        return 'a JSON object: {"end": "<key of the node>"}'

    def score(self, trajectory: Trajectory, extraction: Extraction, scoring: Scoring = Scoring()) -> ChainScore:
        answer = extraction.answer
        return ChainScore(
            **asdict(compare_sets({answer} - {None}, {self.target[-1]})),
            extraction_stage=extraction.stage,
            steps_short=len(self.target) - 1 - self.target.index(answer) if answer in self.target else None,
        )


# --- optional: scripted agents ---


def expert(task: ChainTask, setting: str, schema: Schema | None, random: Random) -> Policy:
    return _walk(str(task.parameters["start"]), task.length)


def lazy(task: ChainTask, setting: str, schema: Schema | None, random: Random) -> Policy:
    return _walk(str(task.parameters["start"]), 1)


def guess(task: ChainTask, setting: str, schema: Schema | None, random: Random) -> Policy:
    yield from ()
    return json.dumps({"end": random.choice(["k1", "k2"])})


def _walk(key: str, steps: int) -> Policy:
    """Follow the chain for so many steps, or to its end."""
    for _ in range(steps):
        (text,) = yield [Ask("next_node", {"key": key})]
        if not text.startswith("[{"):
            break
        key = json.loads(text)[0]["next"]
    return json.dumps({"end": key})


SCRIPTED_AGENTS: Mapping[str, ScriptedAgent[ChainTask]] = {
    "expert": ScriptedAgent(expert, default=True),
    "lazy": ScriptedAgent(lazy),
    "guess": ScriptedAgent(guess, ("tools", "no_tools"), default=True),
}


# --- the suite ---


class ChainsSuite(Suite[ChainsConfig, ChainTask]):
    name = "demo"
    settings = ("tools", "no_tools")
    config_type = ChainsConfig
    task_type = ChainTask
    score_type = ChainScore
    tools = TOOLS
    scripted_agents = SCRIPTED_AGENTS

    @classmethod
    def analysis_type(cls) -> "type[ChainsAnalysis]":
        from graphwalk_demo.report import ChainsAnalysis  # not at the top: playing needs no report

        return ChainsAnalysis

    def graphs(self, config: ChainsConfig, seed: int) -> Iterator[GraphInstance]:
        for spec in config.chains:
            for number in range(spec.count):
                keys = make_chain(spec.length, seed, number)
                yield GraphInstance.of(chain_graph(keys), keys, {"number": number})

    async def tasks(self, about: LoadedGraph, config: ChainsConfig, seed: int, agent: AgentConfig) -> Tasks[ChainTask]:
        keys: list[str] = about.instance.source
        task = ChainTask(
            task_id=f"{about.instance.digest[:12]}-chain",
            suite=self.name,
            template="end_of_chain",
            question=f"Which node does the chain that begins at {keys[0]} end at?",
            parameters={"start": keys[0]},
            target=keys,
            target_size=1,
            seed=seed,
            graph_digest=about.instance.digest,
            reference_turns=len(keys),
            reference_calls=len(keys),
            length=len(keys),
        )
        return Tasks([task])
