"""Suite of questions on property graphs."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from graphwalk.config.agent import AgentConfig
from graphwalk.graphs.anonymise import AnonymisedCopy, make_anonymised_copy
from graphwalk.graphs.generate import generate_graph
from graphwalk.graphs.graph import PropertyGraph
from graphwalk.stores.open import graph_in_memory
from graphwalk.suites.graph_prompts import GRAPH_SETTINGS
from graphwalk.suites.loaded_graph import (
    GraphInstance,
    LoadedGraph,
    file_of,
    own_instance,
    queries_left_out,
    settings_left_out,
)
from graphwalk.suites.questions.config import GeneratedGraph, QuestionedGraph, QuestionsConfig
from graphwalk.suites.questions.make_tasks import copy_tasks, in_other_words, make_tasks
from graphwalk.suites.questions.scripted import SCRIPTED_AGENTS
from graphwalk.suites.questions.task import QuestionScore, QuestionTask
from graphwalk.suites.suite import Suite, Tasks
from graphwalk.tools.graph_toolbox import GRAPH_TOOLS
from graphwalk.variables import Variables

if TYPE_CHECKING:
    from graphwalk.suites.questions.report import QuestionsAnalysis


class QuestionsSuite(Suite[QuestionsConfig, QuestionTask]):
    """Questions about generated graphs (docs/method.md, Questions and Graphs) and your own."""

    name = "questions"
    settings = GRAPH_SETTINGS
    config_type = QuestionsConfig
    task_type = QuestionTask
    score_type = QuestionScore
    tools = GRAPH_TOOLS
    scripted_agents = SCRIPTED_AGENTS

    @classmethod
    def analysis_type(cls) -> "type[QuestionsAnalysis]":
        from graphwalk.suites.questions.report import QuestionsAnalysis

        return QuestionsAnalysis

    def graphs(self, config: QuestionsConfig, seed: int) -> Iterator[GraphInstance]:
        for place, entry in enumerate(config.graphs):
            if isinstance(entry, GeneratedGraph):
                yield from _generated(place, entry, seed)
            else:
                yield from _own_and_copy(place, entry, seed, file_of(entry))

    async def read_graphs(
        self, config: QuestionsConfig, seed: int, variables: Variables
    ) -> AsyncIterator[GraphInstance]:
        for place, entry in enumerate(config.graphs):
            if isinstance(entry, GeneratedGraph):
                instances = _generated(place, entry, seed)
            else:
                instances = _own_and_copy(place, entry, seed, await graph_in_memory(entry, variables))
            for instance in instances:
                yield instance

    async def tasks(
        self, about: LoadedGraph, config: QuestionsConfig, seed: int, agent: AgentConfig
    ) -> Tasks[QuestionTask]:
        return await self.first_tasks(about, config, seed, agent, most=None)

    async def first_tasks(
        self, about: LoadedGraph, config: QuestionsConfig, seed: int, agent: AgentConfig, most: int | None
    ) -> Tasks[QuestionTask]:
        assert about.store is not None
        copy = about.instance.source
        if isinstance(copy, AnonymisedCopy):
            tasks, left_out, _ = await copy_tasks(copy, about.store, config, seed=seed)
            tasks = tasks[:most]
        else:
            tasks, left_out, _ = await make_tasks(about.graph, about.store, config, seed=seed, most=most)
        if config.wording != "standard":
            kinds = {kind.name: kind for kind in config.own_kinds}
            tasks = [in_other_words(task, kinds[task.template], config.wording, seed) for task in tasks]

        is_own_graph = about.instance.source is not None
        if is_own_graph:
            settings = settings_left_out(about.graph, about.store, agent)
        else:
            settings = queries_left_out(about.store)
        return Tasks(tasks, {**settings, **left_out})


def _generated(place: int, entry: GeneratedGraph, seed: int) -> Iterator[GraphInstance]:
    """Yield the graphs of an entry: {"preset": "small", "count": 2} gives those of index 0 and 1."""
    for index in range(entry.count):
        facts: dict[str, Any] = {"entry": place, "index": index, "preset": entry.preset}
        if entry.name is not None:
            facts["name"] = entry.name
        yield GraphInstance.of(generate_graph(entry, seed, index), facts=facts)


def _own_and_copy(place: int, entry: QuestionedGraph, seed: int, graph: PropertyGraph) -> Iterator[GraphInstance]:
    """Yield a graph of yours, and its anonymised copy if it is configured."""
    original = own_instance(place, entry, graph)
    yield original
    if entry.twin:
        copy = make_anonymised_copy(graph, seed)
        facts = {**original.facts, "name": f"{entry.name} (twin)", "twin_of": graph.digest}
        # A copy of a Neo4j database is not written into it.
        yield replace(GraphInstance.of(copy.graph, copy, facts), in_memory=entry.neo4j is not None)
