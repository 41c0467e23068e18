"""The suite `chains`: tasks, prompts, tools, scores and scripted agents."""

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

from graphwalk.config.agent import AgentConfig
from graphwalk.config.jinja import render_text
from graphwalk.config.strict import SuiteConfig
from graphwalk.models.scripted import Ask, Policy
from graphwalk.seeds import stdlib_random
from graphwalk.stores.base import GraphStore
from graphwalk.suites.suite import EpisodeSetup, Extraction, GraphInstance, Presentation, ScriptedAgents, Suite
from graphwalk.tools.graph_toolbox import GraphToolbox
from graphwalk.tools.tool import Tool, load_tools
from graphwalk.types.chat import Message
from graphwalk.types.episode import Score, Task, Trajectory
from graphwalk.types.schema import Schema
from graphwalk_chains.chains import ChainsConfig, chain_graph, make_chain

FOLDER = Path(__file__).parent


# --- what is logged of a task and of its score ---


class ChainTask(Task):
    length: int


class ChainScore(Score):
    steps_short: int | None
    """Nodes between the answer and the end; None where the answer is no node of the chain."""


# --- optional: scripted agents, and the commands `graphwalk generate chain` and `graphwalk export chains` ---


class ChainAgents(ScriptedAgents[ChainTask]):
    names: ClassVar[tuple[str, ...]] = ("expert", "lazy", "guess")
    default_names: ClassVar[tuple[str, ...]] = ("expert", "guess")

    def can_play(self, name: str, setting: str, task: ChainTask | None = None) -> bool:
        return setting == "tools" or name == "guess"

    def policy(self, name: str, task: ChainTask, setting: str, schema: Schema | None, seed: int) -> Policy:
        if name == "guess":
            return _answers(stdlib_random(seed, "guess").choice(["k1", "k2"]))
        return _walks(str(task.parameters["start"]), 1 if name == "lazy" else task.length)


def _answers(key: str) -> Policy:
    yield from ()
    return json.dumps({"end": key})


def _walks(key: str, steps: int) -> Policy:
    """Follow the chain for so many steps, or to its end."""
    for _ in range(steps):
        (text,) = yield [Ask("next_node", {"key": key})]
        if not text.startswith("[{"):
            break
        key = json.loads(text)[0]["next"]
    return json.dumps({"end": key})


class ChainPresentation(Presentation[ChainTask]):
    commands: ClassVar[str | None] = "graphwalk_chains.commands"


# --- the suite ---


class ChainsSuite(Suite[ChainsConfig, ChainTask]):
    name: ClassVar[str] = "chains"
    settings: ClassVar[tuple[str, ...]] = ("tools", "no_tools")
    config_type: ClassVar[type[SuiteConfig]] = ChainsConfig
    graphs_field: ClassVar[str] = "chains"
    thing: ClassVar[str] = "chain"
    task_type: ClassVar[type[Task]] = ChainTask
    score_type: ClassVar[type[Score]] = ChainScore
    tools: ClassVar[tuple[str, ...]] = (str(FOLDER / "next_node.yaml"),)
    agents: ClassVar[ScriptedAgents[Any]] = ChainAgents()
    presentation: ClassVar[Presentation[Any]] = ChainPresentation()

    # --- graphs and tasks ---

    def graphs(self, config: ChainsConfig, seed: int) -> Iterator[GraphInstance]:
        for spec in config.chains:
            for number in range(spec.count):
                keys = make_chain(spec.length, seed, number)
                yield GraphInstance.of(chain_graph(keys), keys, {"number": number})

    async def tasks(
        self,
        instance: GraphInstance,
        store: GraphStore | None,
        config: ChainsConfig,
        seed: int,
        agent: AgentConfig = AgentConfig(),
    ) -> list[ChainTask]:
        keys: list[str] = instance.source
        task = ChainTask(
            task_id=f"{instance.digest[:12]}-chain",
            suite=self.name,
            template="end_of_chain",
            question=f"Which node does the chain that begins at {keys[0]} end at?",
            parameters={"start": keys[0]},
            gold=keys,
            gold_size=1,
            seed=seed,
            graph_digest=instance.digest,
            reference_turns=len(keys),
            reference_calls=len(keys),
            length=len(keys),
        )
        return [task]

    # --- prompt and tools ---

    async def setup(
        self,
        task: ChainTask,
        setting: str,
        instance: GraphInstance,
        store: GraphStore | None,
        agent: AgentConfig,
        tools: Sequence[Tool] | None = None,
    ) -> EpisodeSetup:
        links = sorted(pairwise(task.gold)) if setting == "no_tools" else None
        text = (FOLDER / "prompt.j2").read_text(encoding="utf-8")
        prompt = (Message("user", render_text(text, start=task.parameters["start"], links=links)),)
        if store is None or setting == "no_tools":
            return EpisodeSetup(prompt)
        offered = tools or load_tools(self.tools)
        return EpisodeSetup(prompt, GraphToolbox(store, await store.schema(), offered, agent))

    # --- reading and scoring an answer ---

    def extract(self, task: ChainTask, reply: str) -> Extraction:
        try:
            return Extraction(str(json.loads(reply)["end"]), "strict")
        except (ValueError, KeyError, TypeError, RecursionError):
            return Extraction()

    def answer_format(self, task: ChainTask, agent: AgentConfig = AgentConfig()) -> str:
        return 'a JSON object: {"end": "<key of the node>"}'

    def score(self, task: ChainTask, setting: str, trajectory: Trajectory, extraction: Extraction) -> ChainScore:
        answer = extraction.answer
        right = answer == task.gold[-1]
        return ChainScore(
            correct=right,
            precision=float(right),
            recall=float(right),
            f1=float(right),
            false_positives=int(answer is not None and not right),
            extraction_stage=extraction.stage,
            steps_short=len(task.gold) - 1 - task.gold.index(answer) if answer in task.gold else None,
        )
