"""Suite of questions on property graphs."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace

from graphwalk.config.agent import AgentConfig
from graphwalk.graphs.anonymise import AnonymisedCopy, make_anonymised_copy
from graphwalk.graphs.generate import generate_graph
from graphwalk.graphs.graph import PropertyGraph
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.stores.sources import read_source
from graphwalk.suites.graph_prompts import GRAPH_SETTINGS
from graphwalk.suites.loaded_graph import (
    GraphInstance,
    LoadedGraph,
    file_of,
    own_instance,
    queries_left_out,
    settings_left_out,
)
from graphwalk.suites.questions.agents.scripted import PLAYERS
from graphwalk.suites.questions.config import GeneratedGraph, QuestionedGraph, QuestionsConfig
from graphwalk.suites.questions.task import QuestionScore, QuestionTask
from graphwalk.suites.questions.tasks.make_tasks import OWN_ROWS, copy_tasks, in_other_words, make_tasks
from graphwalk.suites.suite import Suite, Tasks
from graphwalk.tools.graph_toolbox import GRAPH_TOOLS
from graphwalk.variables import Variables


class QuestionsSuite(Suite[QuestionsConfig, QuestionTask]):
    """Questions about generated graphs (docs/method.md, Questions and Graphs) and your own."""

    name = "questions"
    settings = GRAPH_SETTINGS
    config_type = QuestionsConfig
    task_type = QuestionTask
    score_type = QuestionScore
    tools = GRAPH_TOOLS
    players = PLAYERS

    def graphs(self, config: QuestionsConfig, seed: int) -> Iterator[GraphInstance]:
        for place, entry in enumerate(config.graphs):
            if isinstance(entry, GeneratedGraph):
                yield from _generated(place, entry, seed, config)
            else:
                yield from _own(place, entry, seed, file_of(entry))

    async def read_graphs(
        self, config: QuestionsConfig, seed: int, variables: Variables
    ) -> AsyncIterator[GraphInstance]:
        for place, entry in enumerate(config.graphs):
            if isinstance(entry, GeneratedGraph):
                instances = _generated(place, entry, seed, config)
            else:
                instances = _own(place, entry, seed, await read_source(entry, variables))
            for instance in instances:
                yield instance

    async def tasks(
        self, about: LoadedGraph, config: QuestionsConfig, seed: int, agent: AgentConfig
    ) -> Tasks[QuestionTask]:
        assert about.store is not None
        left_out: dict[str, str] = {}
        if about.instance.source is not None:
            tasks = await _own_tasks(about, config, seed, left_out)
            left_out = {**dict(settings_left_out(about.graph, about.store, agent)), **left_out}
        else:
            tasks = await make_tasks(about.graph, about.store, config, seed=seed, left_out=left_out)
            left_out |= dict(queries_left_out(about.store))
        if config.wording != "standard":
            kinds = {kind.name: kind for kind in config.own_kinds}
            tasks = [in_other_words(task, kinds[task.template], config.wording, seed) for task in tasks]
        return Tasks(tasks, left_out)


async def _own_tasks(
    about: LoadedGraph, config: QuestionsConfig, seed: int, left_out: dict[str, str]
) -> list[QuestionTask]:
    """Return the tasks about an own graph; about its copy, those about the original in the copy's names."""
    assert about.store is not None
    copy = about.instance.source
    config = config.model_copy(update={"most_rows": config.most_rows or OWN_ROWS})
    if not isinstance(copy, AnonymisedCopy):
        return await make_tasks(about.graph, about.store, config, seed=seed, left_out=left_out)
    store = await EmbeddedDatabase().load(copy.original)
    originals = await make_tasks(copy.original, store, config, seed=seed, left_out={})
    return await copy_tasks(copy, originals, about.store, config=config, seed=seed, left_out=left_out)


def _generated(place: int, spec: GeneratedGraph, seed: int, config: QuestionsConfig) -> Iterator[GraphInstance]:
    for index in range(spec.count):
        graph = generate_graph(spec, seed, index)
        named = {} if spec.name is None else {"name": spec.name}
        facts = {"entry": place, "index": index, "preset": spec.preset, **named}
        yield GraphInstance.of(graph, facts=facts)


def _own(place: int, entry: QuestionedGraph, seed: int, graph: PropertyGraph) -> Iterator[GraphInstance]:
    """Yield your own graph and, if configured, its anonymised copy, whose source is the copy with its mapping."""
    original = own_instance(place, entry, graph)
    yield original
    if entry.twin:
        copy = make_anonymised_copy(graph, seed)
        facts = {**original.facts, "name": f"{entry.name} (twin)", "twin_of": graph.digest}
        yield replace(GraphInstance.of(copy.graph, copy, facts), in_memory=entry.neo4j is not None)
