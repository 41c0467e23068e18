"""Episodes of scripted agents through the agent's loop, scored as in a run."""

from dataclasses import dataclass

from graphwalk.agent import Episode, run_episode
from graphwalk.config.agent import AgentConfig
from graphwalk.graphs.generate import GraphSpec, generate_graph
from graphwalk.models.scripted import ScriptedModel
from graphwalk.stores.base import GraphStore
from graphwalk.stores.embedded import EmbeddedDatabase
from graphwalk.suites.questions.generate import make_tasks
from graphwalk.suites.questions.score import QuestionScore
from graphwalk.suites.questions.suite import QuestionsSuite
from graphwalk.suites.questions.task import QuestionTask
from graphwalk.suites.suite import GraphInstance
from graphwalk.types.chat import CallOptions
from graphwalk.types.episode import Trajectory


@dataclass
class Stage:
    """A loaded graph with its tasks."""

    instance: GraphInstance
    store: GraphStore
    tasks: list[QuestionTask]

    async def play(
        self, name: str, task: QuestionTask, seed: int = 0, agent: AgentConfig | None = None, setting: str = "tools"
    ) -> tuple[QuestionScore, Trajectory]:
        suite, config = QuestionsSuite(), agent or AgentConfig()
        setup = await suite.setup(task, setting, self.instance, self.store, config)
        player = suite.agents.policy(name, task, setting, await self.store.schema(), seed)
        options = CallOptions(parallel_tool_calls=config.parallel_tool_calls)
        trajectory = await run_episode(Episode(setup, ScriptedModel(f"scripted/{name}", player), config, options))
        extraction = suite.extract(task, trajectory.reply)
        return suite.score(task, setting, trajectory, extraction), trajectory


async def stage(preset: str = "paper-100", seed: int = 0) -> Stage:
    graph = generate_graph(GraphSpec(preset=preset), seed)
    store = await EmbeddedDatabase().load(graph)
    return Stage(GraphInstance(graph.digest, graph), store, await make_tasks(graph, store, seed=seed))
