"""Par: turns, calls and tokens of the expert, and what happens when it finds another answer."""

from pathlib import Path

import pytest

from graphwalk.analysis.suite_analysis import analysis_of
from graphwalk.config.agent import AgentConfig, foreign_agent
from graphwalk.errors import OracleError
from graphwalk.graphs.generate import GraphSpec, generate_graph
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.loaded_graph import LoadedGraph
from graphwalk.suites.questions.agents.expert_effort import ExpertReference
from graphwalk.suites.questions.agents.scripted import expert
from graphwalk.suites.questions.config import QuestionsConfig
from graphwalk.suites.questions.suite import QuestionsSuite
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.suites.questions.tasks.make_tasks import make_tasks
from graphwalk.suites.reference import drive
from graphwalk.tools.graph_toolbox import GraphToolbox
from graphwalk.types.schema import Schema

Setting = tuple[Schema, GraphToolbox, ExpertReference, dict[str, QuestionTask]]


@pytest.fixture
async def setting() -> Setting:
    graph = generate_graph(GraphSpec(preset="paper-100"), 5)
    store = await EmbeddedDatabase().load(graph)
    schema = await store.schema()
    tasks = await make_tasks(graph, store, QuestionsConfig(), seed=5)
    reference = ExpertReference(store, graph, AgentConfig())
    return schema, GraphToolbox(store, schema), reference, {task.template: task for task in tasks}


async def test_a_target_that_the_expert_does_not_find_is_an_error(setting: Setting) -> None:
    _, _, reference, tasks = setting
    for template in ("node_count", "node_by_property", "remote_node_property"):
        wrong = tasks[template].model_copy(update={"target": [dict.fromkeys(tasks[template].answer_fields, "nothing")]})
        with pytest.raises(OracleError, match="differs from the target") as error:
            await reference(wrong)
        assert wrong.task_id in str(error.value)
        assert '"nothing"' in str(error.value)


FILMS = Path(__file__).parents[3] / "data" / "films.json"
PAGED = [AgentConfig(result_tokens=400), foreign_agent(AgentConfig(result_tokens=800, encoding="compact"))]


@pytest.mark.parametrize("agent", PAGED)
async def test_pages_that_the_agent_reads_are_counted(agent: AgentConfig) -> None:
    graphs = [{"file": str(FILMS), "twin": True}]
    suite, config = QuestionsSuite(), QuestionsConfig.model_validate({"graphs": graphs})
    for instance in suite.graphs(config, 1):
        assert instance.graph is not None
        store = await EmbeddedDatabase().load(instance.graph)
        toolbox = GraphToolbox(store, await store.schema(), agent=agent)
        about = LoadedGraph(instance, store)
        for task in (await suite.tasks(about, config, 1, agent)).asked:
            walk = await drive(expert(task.template, task.parameters, await store.schema()), toolbox)
            reference = await analysis_of(suite).reference(task, about, agent)
            assert reference is not None
            assert (reference.turns, reference.calls) == (walk.turns, walk.calls), task.template
