"""MAGMA: classical graph algorithms carried out step by step, every step scored (arXiv 2410.22597; docs/magma.md)."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, ClassVar

from graphwalk.config.agent import AgentConfig
from graphwalk.config.strict import SuiteConfig
from graphwalk.evaluation.extraction import Extraction
from graphwalk.stores.base import GraphStore
from graphwalk.suites.magma import prompts
from graphwalk.suites.magma.answers import read_answer
from graphwalk.suites.magma.config import MagmaConfig
from graphwalk.suites.magma.generate import MagmaTrace, make_traces
from graphwalk.suites.magma.report import MagmaPresentation
from graphwalk.suites.magma.score import score_episode
from graphwalk.suites.magma.scripted import MagmaAgents
from graphwalk.suites.magma.task import MagmaScore, MagmaTask, make_task, stored_graph
from graphwalk.suites.magma.verification import MagmaVerification
from graphwalk.suites.suite import EpisodeSetup, GraphInstance, Presentation, ScriptedAgents, Suite, Verification
from graphwalk.tools.graph_toolbox import GRAPH_TOOLS, GraphToolbox
from graphwalk.tools.tool import Tool
from graphwalk.types.episode import Score, Task, Trajectory, Turn


class MagmaSuite(Suite[MagmaConfig, MagmaTask]):
    """Settings are the paper's strategies: input–output without and with reasoning, steps without and with hints; and
    `tools`, in which the graph is in the store."""

    name: ClassVar[str] = "magma"
    settings: ClassVar[tuple[str, ...]] = (*prompts.STRATEGIES, "tools")
    task_type: ClassVar[type[Task]] = MagmaTask
    score_type: ClassVar[type[Score]] = MagmaScore
    config_type: ClassVar[type[SuiteConfig]] = MagmaConfig
    graphs_field: ClassVar[str] = "traces"
    thing: ClassVar[str] = "trace"
    tools: ClassVar[tuple[str, ...]] = GRAPH_TOOLS
    turn_limit: ClassVar[int] = 100
    agents: ClassVar[ScriptedAgents[Any]] = MagmaAgents()
    presentation: ClassVar[Presentation[Any]] = MagmaPresentation()
    verification: ClassVar[Verification[Any, Any]] = MagmaVerification()

    def graphs(self, config: MagmaConfig, seed: int) -> Iterator[GraphInstance]:
        """One per trace. ConfigError where a split has fewer distinct traces than asked for."""
        for spec in config.specs():
            for trace in make_traces(spec, seed):
                yield GraphInstance(
                    trace.digest, stored_graph(trace) if config.in_store else None, trace, _facts(trace)
                )

    def graph_count(self, config: MagmaConfig) -> int:
        return sum(spec.count for spec in config.specs())

    async def tasks(
        self,
        instance: GraphInstance,
        store: GraphStore | None,
        config: MagmaConfig,
        seed: int,
        agent: AgentConfig = AgentConfig(),
    ) -> list[MagmaTask]:
        """One per step of the trace; in free-running mode one for all steps."""
        if config.free_running:
            return [make_task(instance.source, None, agent)]
        return [make_task(instance.source, step, agent) for step in range(1, len(instance.source.steps) + 1)]

    def applies(self, task: MagmaTask, setting: str, config: MagmaConfig) -> bool:
        """Input–output strategies ask for the final state only, unless the experiment has `io_steps`."""
        if setting == "tools" and not config.in_store:
            return False
        return setting in prompts.STEPWISE or config.io_steps or task.step in (None, task.total_steps)

    async def setup(
        self,
        task: MagmaTask,
        setting: str,
        instance: GraphInstance,
        store: GraphStore | None,
        agent: AgentConfig,
        tools: Sequence[Tool] | None = None,
    ) -> EpisodeSetup:
        """The conversation up to the question for the task's state; a free-running one starts at the first state."""
        schema = toolbox = None
        if setting == "tools":
            assert store is not None
            schema = await store.schema()
            toolbox = GraphToolbox(store, schema, tools, agent)
        if task.whole and setting in prompts.STEPWISE:
            first = prompts.conversation(instance.source, setting, 1, agent, schema)
            return EpisodeSetup(first, toolbox, partial(_next_user, instance.source, setting, agent))
        last = task.step or task.total_steps
        return EpisodeSetup(prompts.conversation(instance.source, setting, last, agent, schema), toolbox)

    def extract(self, task: MagmaTask, reply: str) -> Extraction:
        return read_answer(task.algorithm, reply)

    def answer_format(self, task: MagmaTask, agent: AgentConfig = AgentConfig()) -> str:
        return prompts.answer_format(task.algorithm, agent)

    def score(self, task: MagmaTask, setting: str, trajectory: Trajectory, extraction: Extraction) -> MagmaScore:
        return score_episode(task, setting, trajectory, extraction)


def _next_user(trace: MagmaTrace, setting: str, agent: AgentConfig, turns: Sequence[Turn]) -> str | None:
    """The question for the state after the next step; None when all states were asked for."""
    given = sum(not turn.message.tool_calls for turn in turns)
    return prompts.turn(trace, setting, given + 1, agent) if given < len(trace.steps) else None


def _facts(trace: MagmaTrace) -> dict[str, object]:
    return {
        "trace_id": trace.trace_id,
        "algorithm": trace.algorithm,
        "n": trace.instance.n,
        "p": trace.p,
        "edges": len(trace.instance.edges),
        "steps": len(trace.steps),
        "split": trace.split,
        "index": trace.index,
        "seed": trace.seed,
    }
