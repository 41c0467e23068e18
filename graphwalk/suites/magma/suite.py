"""MAGMA: classical graph algorithms carried out step by step, every step scored (arXiv 2410.22597; docs/method.md)."""

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
from graphwalk.suites.magma.generate import MagmaTrace, check_states, make_traces
from graphwalk.suites.magma.report import MagmaPresentation
from graphwalk.suites.magma.score import score_episode
from graphwalk.suites.magma.scripted import MagmaAgents
from graphwalk.suites.magma.task import MagmaScore, MagmaTask, make_task, stored_graph
from graphwalk.suites.suite import EpisodeSetup, GraphInstance, Presentation, ScriptedAgents, Suite, Verification
from graphwalk.tools.graph_toolbox import GRAPH_TOOLS, GraphToolbox
from graphwalk.tools.tool import Tool
from graphwalk.types.episode import Score, Task, Trajectory, Turn


class MagmaVerification(Verification[MagmaConfig, MagmaTask]):
    async def confirm(self, task: MagmaTask, instance: GraphInstance, config: MagmaConfig) -> str:
        states = dict(enumerate(task.gold, task.first_step)) if task.step is None else {task.step: task.gold}
        check_states(task.algorithm, instance.source.instance, states)
        return "networkx"


class MagmaSuite(Suite[MagmaConfig, MagmaTask]):
    """Graph algorithms step by step. Settings are strategies of prompting, and `tools` with the graph in the store."""

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
        """Yield one graph per trace. Raise ConfigError if a split has fewer distinct traces than requested."""
        for spec in config.specs():
            for trace in make_traces(spec, seed):
                trace = trace.beginning(config.first_state)
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
        """Return one task per state of the trace; in free-running mode one for all states."""
        form = prompts.Form(config.explain, config.input)
        steps = [None] if config.free_running else instance.source.states
        return [make_task(instance.source, step, agent, form) for step in steps]

    def applies(self, task: MagmaTask, setting: str, config: MagmaConfig) -> bool:
        """Return False for earlier states in input–output strategies without `io_steps`, and for impossible settings.

        A trace of one step has no other step whose hint could be the wrong one.
        """
        if (setting == "tools" and not config.in_store) or (setting == "ish_wrong" and task.total_steps == 1):
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
        """Return the conversation up to the question for the task's state, or for the first one if it runs freely."""
        schema = toolbox = None
        if setting == "tools":
            assert store is not None
            schema = await store.schema()
            toolbox = GraphToolbox(store, schema, tools, agent)
        if task.whole and setting in prompts.STEPWISE:
            first = prompts.conversation(instance.source, setting, task.first_step, agent, schema, task.form)
            return EpisodeSetup(first, toolbox, partial(_next_user, instance.source, setting, agent, task.form))
        step = task.total_steps if task.step is None else task.step
        return EpisodeSetup(prompts.conversation(instance.source, setting, step, agent, schema, task.form), toolbox)

    def extract(self, task: MagmaTask, reply: str) -> Extraction:
        return read_answer(task.algorithm, reply)

    def answer_format(self, task: MagmaTask, agent: AgentConfig = AgentConfig()) -> str:
        return prompts.answer_format(task.algorithm, agent)

    def score(self, task: MagmaTask, setting: str, trajectory: Trajectory, extraction: Extraction) -> MagmaScore:
        return score_episode(task, setting, trajectory, extraction)


def _next_user(
    trace: MagmaTrace, setting: str, agent: AgentConfig, form: prompts.Form, turns: Sequence[Turn]
) -> str | None:
    """Return the question for the next state; None if all states were asked for."""
    replies = sum(not turn.message.tool_calls for turn in turns)
    step = min(trace.states) + replies
    return prompts.turn(trace, setting, step, agent, form) if step in trace.states else None


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
