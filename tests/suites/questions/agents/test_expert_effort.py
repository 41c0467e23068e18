"""The reference: turns, calls and tokens of the expert, and what happens when it finds another answer."""

from pathlib import Path

import pytest

from graphwalk.analysis.suite_analysis import analysis_of
from graphwalk.config.agent import AgentConfig
from graphwalk.errors import OracleError
from graphwalk.graphs.generate import GraphSpec, generate_graph
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.loaded_graph import LoadedGraph
from graphwalk.suites.questions.agents.expert_effort import ExpertReference
from graphwalk.suites.questions.agents.scripted import expert
from graphwalk.suites.questions.config import QuestionsConfig
from graphwalk.suites.questions.suite import QuestionsSuite
from graphwalk.suites.questions.tasks.make_tasks import make_tasks
from graphwalk.suites.reference import drive
from graphwalk.tools.graph_toolbox import GraphToolbox

FILMS = Path(__file__).parents[3] / "data" / "films.json"


async def test_a_target_that_the_expert_does_not_find_is_an_error() -> None:
    graph = generate_graph(GraphSpec(preset="paper-100"), 5)
    store = await EmbeddedDatabase().load(graph)
    reference = ExpertReference(store, graph, AgentConfig())
    for task in await make_tasks(graph, store, QuestionsConfig(questions=("node_count", "node_by_property")), seed=5):
        wrong = task.model_copy(update={"target": [dict.fromkeys(task.answer_fields, "nothing")]})
        with pytest.raises(OracleError, match="differs from the target") as error:
            await reference(wrong)
        assert wrong.task_id in str(error.value)
        assert '"nothing"' in str(error.value)


async def test_pages_that_the_agent_reads_are_counted() -> None:
    agent = AgentConfig(result_tokens=400)
    suite, config = QuestionsSuite(), QuestionsConfig.model_validate({"graphs": [{"file": str(FILMS)}]})
    (instance,) = suite.graphs(config, 1)
    assert instance.graph is not None
    store = await EmbeddedDatabase().load(instance.graph)
    toolbox = GraphToolbox(store, await store.schema(), agent=agent)
    about = LoadedGraph(instance, store)
    for task in (await suite.tasks(about, config, 1, agent)).asked:
        walk = await drive(expert(task.template, task.parameters, await store.schema()), toolbox)
        reference = await analysis_of(suite).reference(task, about, agent)
        assert reference is not None
        assert (reference.turns, reference.calls) == (walk.turns, walk.calls), task.template
