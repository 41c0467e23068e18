"""MAGMA: classical graph algorithms carried out step by step, every step scored (arXiv 2410.22597; docs/method.md)."""

from collections.abc import Iterator

from graphwalk.config.agent import AgentConfig
from graphwalk.suites.loaded_graph import GraphInstance, LoadedGraph
from graphwalk.suites.magma import prompts
from graphwalk.suites.magma.config import MagmaConfig
from graphwalk.suites.magma.generate import MagmaTrace, make_traces, stored_graph
from graphwalk.suites.magma.players import PLAYERS
from graphwalk.suites.magma.score import MagmaScore
from graphwalk.suites.magma.task import MagmaTask, make_task
from graphwalk.suites.suite import Suite
from graphwalk.suites.task import Tasks
from graphwalk.tools.graph_toolbox import GRAPH_TOOLS


class MagmaSuite(Suite[MagmaConfig, MagmaTask]):
    """Graph algorithms step by step. Settings are strategies of prompting, and `tools` with the graph in the store."""

    name = "magma"
    settings = (*prompts.STRATEGIES, "tools")
    abbreviations = prompts.STRATEGIES
    config_type = MagmaConfig
    task_type = MagmaTask
    score_type = MagmaScore
    tools = GRAPH_TOOLS
    turn_limit = 100
    players = PLAYERS

    def graphs(self, config: MagmaConfig, seed: int) -> Iterator[GraphInstance]:
        """Yield one graph per trace. Raise ConfigError if a split has fewer distinct traces than requested."""
        for spec in config.specs():
            for trace in make_traces(spec, seed):
                trace = trace.beginning(config.first_state)
                yield GraphInstance(
                    trace.digest, stored_graph(trace) if config.in_store else None, trace, _facts(trace)
                )

    async def tasks(self, about: LoadedGraph, config: MagmaConfig, seed: int, agent: AgentConfig) -> Tasks[MagmaTask]:
        """Return one task per state of the trace."""
        trace = about.instance.source
        return Tasks([make_task(trace, step, agent, config) for step in trace.states])

    def asks(self, task: MagmaTask, setting: str, config: MagmaConfig) -> bool:
        """Return False for earlier states in input–output strategies without `io_steps`, and tools without a store."""
        if setting == "tools" and not config.in_store:
            return False
        return setting in prompts.STEPWISE or config.io_steps or task.step == task.total_steps


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
