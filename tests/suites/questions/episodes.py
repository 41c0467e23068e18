"""Episodes of scripted agents through the agent's loop, scored as in a run."""

from dataclasses import dataclass

from graphwalk.config.agent import AgentConfig
from graphwalk.graphs.generate import GraphSpec, generate_graph
from graphwalk.graphs.schema import Schema
from graphwalk.models.scripted import Policy
from graphwalk.models.trajectory import Trajectory
from graphwalk.seeds import stdlib_random
from graphwalk.stores.base import GraphStore
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.flawed import FLAWS
from graphwalk.suites.loaded_graph import GraphInstance, LoadedGraph
from graphwalk.suites.questions.config import QuestionsConfig
from graphwalk.suites.questions.make_tasks import make_tasks
from graphwalk.suites.questions.scripted import expert
from graphwalk.suites.questions.suite import QuestionsSuite
from graphwalk.suites.questions.task import QuestionScore, QuestionTask
from tests.suites.players import played, policy_of


@dataclass
class Stage:
    """A loaded graph with its tasks."""

    instance: GraphInstance
    store: GraphStore
    tasks: list[QuestionTask]

    async def play(
        self, name: str, task: QuestionTask, seed: int = 0, agent: AgentConfig | None = None, setting: str = "tools"
    ) -> tuple[QuestionScore, Trajectory]:
        player = policy_of(QuestionsSuite(), name, task, setting, await self.store.schema(), seed)
        return await self.play_policy(player, task, agent, setting)

    async def play_flaw(self, flaw: str, task: QuestionTask) -> tuple[QuestionScore, Trajectory]:
        """Play the expert with one flaw in its answer."""
        return await self.play_policy(expert_with(flaw, task, await self.store.schema()), task)

    async def play_policy(
        self, policy: Policy, task: QuestionTask, agent: AgentConfig | None = None, setting: str = "tools"
    ) -> tuple[QuestionScore, Trajectory]:
        return await played(policy, task, LoadedGraph(self.instance, self.store), setting, agent or AgentConfig())


def expert_with(flaw: str, task: QuestionTask, schema: Schema) -> Policy:
    answer = yield from expert(task.template, task.parameters, schema)
    return FLAWS[flaw](answer, stdlib_random(0, "flaw", task.task_id))


async def stage(preset: str = "paper-100", seed: int = 0) -> Stage:
    graph = generate_graph(GraphSpec(preset=preset), seed)
    store = await EmbeddedDatabase().load(graph)
    tasks = await make_tasks(graph, store, QuestionsConfig(), seed=seed)
    return Stage(GraphInstance(graph.digest, graph), store, [*tasks.asked])
