"""The suite `NAME`: how many nodes of a label has a graph?"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from random import Random
from typing import ClassVar

from graphwalk.extend import (
    GRAPH_TOOLS,
    AgentConfig,
    Ask,
    Extraction,
    GraphInstance,
    GraphSpec,
    LoadedGraph,
    Player,
    Policy,
    Prompt,
    Schema,
    Score,
    Scoring,
    Suite,
    SuiteConfig,
    Task,
    Tasks,
    Trajectory,
    compare_sets,
    generate_graph,
    graph_prompt,
    read_rows,
)


class Config(SuiteConfig):
    """The fields of `suite` in an experiment."""

    name: str = "NAME"
    graphs: tuple[GraphSpec, ...] = (GraphSpec(preset="paper-100"),)


class CountTask(Task):
    """A question with its target. Its fields are those of a line of results.jsonl."""

    async def prompt(self, about: LoadedGraph, setting: str, agent: AgentConfig) -> Prompt:
        return await graph_prompt(f"{self.question} Answer with {self.answer_format(agent)}.", about, setting, agent)

    def read(self, reply: str) -> Extraction:
        try:
            return Extraction(int(json.loads(reply)["count"]), "strict")
        except (ValueError, KeyError, TypeError, RecursionError):
            return Extraction()

    def answer_format(self, agent: AgentConfig) -> str:
        return 'a JSON object alone: {"count": <number>}'

    def score(self, trajectory: Trajectory, extraction: Extraction, scoring: Scoring = Scoring()) -> Score:
        answers = set() if extraction.answer is None else {extraction.answer}
        return Score(**asdict(compare_sets(answers, {self.target})), extraction_stage=extraction.stage)


def expert(task: CountTask, setting: str, schema: Schema | None, random: Random) -> Policy:
    """Play without a mistake: list the keys of the label, and count them."""
    keys = {"property_name": "key", "entity_name": task.parameters["label"], "entity_type": "node"}
    (text,) = yield [Ask("get_unique_property_values", keys)]
    return json.dumps({"count": len(read_rows(text) or ())})


class CountSuite(Suite[Config, CountTask]):
    name = "NAME"
    settings = ("tools", "no_tools")
    config_type = Config
    task_type = CountTask
    score_type = Score
    tools = GRAPH_TOOLS
    players: ClassVar[Mapping[str, Player[CountTask]]] = {"expert": Player(expert, default=True)}

    def graphs(self, config: Config, seed: int) -> Iterator[GraphInstance]:
        for place, spec in enumerate(config.graphs):
            for index in range(spec.count):
                yield GraphInstance.of(generate_graph(spec, seed, index), facts={"graph": place, "index": index})

    async def tasks(self, about: LoadedGraph, config: Config, seed: int, agent: AgentConfig) -> Tasks[CountTask]:
        tasks = [
            CountTask(
                task_id=f"{about.instance.digest[:12]}-{table.label}",
                suite=self.name,
                template="count",
                question=f"How many nodes have the label {table.label}?",
                parameters={"label": table.label},
                target=len(table.numbers),
                target_size=1,
                seed=seed,
                graph_digest=about.instance.digest,
            )
            for table in about.graph.node_tables
        ]
        return Tasks(tasks)
