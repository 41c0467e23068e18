"""Par: turns, calls and tokens of the expert, and what happens when it finds another answer."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from graphwalk.agent import Episode, run_episode
from graphwalk.config.agent import AgentConfig, foreign_agent
from graphwalk.errors import OracleError
from graphwalk.graphs.generate import GraphSpec, generate_graph
from graphwalk.models.scripted import ScriptedModel
from graphwalk.models.tokens import count_tokens
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.graph_prompts import tools_system
from graphwalk.suites.loaded_graph import LoadedGraph
from graphwalk.suites.questions.agents.expert_effort import ExpertReference
from graphwalk.suites.questions.agents.scripted import expert
from graphwalk.suites.questions.config import QuestionsConfig
from graphwalk.suites.questions.suite import QuestionsSuite
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.suites.questions.tasks.make_tasks import make_tasks
from graphwalk.suites.reference import drive
from graphwalk.suites.task import Prompt
from graphwalk.tools.graph_toolbox import GraphToolbox
from graphwalk.types.chat import CallOptions, Message, Reply, ToolSpec
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


async def test_the_tokens_of_par_are_those_of_the_same_walk_in_the_agents_loop(setting: Setting) -> None:
    """Count the loop's tokens, sent and received, message by message."""
    schema, toolbox, reference, tasks = setting
    for task in tasks.values():
        seen = Listener(ScriptedModel("expert", expert(task.template, task.parameters, schema)))
        setup = Prompt((tools_system(schema, AgentConfig()), Message("user", task.question)), toolbox)
        await run_episode(Episode(setup, seen, AgentConfig(), CallOptions()))
        played = await reference(task)
        assert (played.input_tokens, played.output_tokens) == (seen.read, seen.written), task.template
        assert played == await reference(task)
        assert 2 <= played.turns <= 5
        assert played.turns - 1 <= played.calls <= 60


class Listener:
    """Counts what passes to and from a model."""

    def __init__(self, model: ScriptedModel) -> None:
        self.name, self._model = model.name, model
        self.read = self.written = 0

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        self.read += sum(tokens_of(message) for message in messages)
        self.read += sum(count_tokens(json.dumps(tool.as_openai(), ensure_ascii=False)) for tool in tools)
        reply = await self._model.complete(messages, tools, options)
        self.written += tokens_of(reply.message)
        return reply

    async def close(self) -> None:
        await self._model.close()


def tokens_of(message: Message) -> int:
    texts = [message.content or ""]
    for call in message.tool_calls:
        texts += [call.name, call.arguments]
    return sum(count_tokens(text) for text in texts)


@pytest.mark.parametrize("template", ["node_count", "node_by_property", "remote_node_property"])
async def test_a_target_that_the_expert_does_not_find_is_an_error(setting: Setting, template: str) -> None:
    _, _, reference, tasks = setting
    wrong = tasks[template].model_copy(update={"target": [dict.fromkeys(tasks[template].answer_fields, "nothing")]})
    with pytest.raises(OracleError, match="differs from the target") as error:
        await reference(wrong)
    assert wrong.task_id in str(error.value)
    assert '"nothing"' in str(error.value)


FILMS = Path(__file__).parents[3] / "data" / "films.json"
PAGED = [
    AgentConfig(result_tokens=400),
    AgentConfig(result_tokens=200, encoding="compact"),
    foreign_agent(AgentConfig(result_tokens=800)),
]


@pytest.mark.parametrize("agent", PAGED)
async def test_pages_that_the_agent_reads_are_counted(agent: AgentConfig) -> None:
    graphs = [{"file": str(FILMS), "twin": True}, {"nodes": 40}]
    suite, config = QuestionsSuite(), QuestionsConfig.model_validate({"graphs": graphs})
    for instance in suite.graphs(config, 1):
        assert instance.graph is not None
        store = await EmbeddedDatabase().load(instance.graph)
        toolbox = GraphToolbox(store, await store.schema(), agent=agent)
        for task in (await suite.tasks(LoadedGraph(instance, store), config, 1, agent)).asked:
            walk = await drive(expert(task.template, task.parameters, await store.schema()), toolbox)
            assert (task.reference_turns, task.reference_calls) == (walk.turns, walk.calls), task.template
