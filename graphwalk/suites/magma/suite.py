"""MAGMA: classical graph algorithms carried out step by step, every step scored (arXiv 2410.22597; docs/method.md)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations
from random import Random
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, TypeVar

from pydantic import BeforeValidator, Field

from graphwalk.agent.prompt import Prompt
from graphwalk.config.agent import AgentConfig, Scoring
from graphwalk.config.strict import MOST, Strict, SuiteConfig
from graphwalk.graphs.schema import Schema
from graphwalk.graphs.values import Scalar
from graphwalk.models.chat import Message
from graphwalk.models.scripted import Policy
from graphwalk.models.trajectory import Trajectory
from graphwalk.suites.extraction import Extraction
from graphwalk.suites.flawed import flawed
from graphwalk.suites.loaded_graph import GraphInstance, LoadedGraph
from graphwalk.suites.magma.algorithms import WEIGHTED, Algorithm, FirstState, Instance, run_algorithm
from graphwalk.suites.magma.answers import PREFIXES, MagmaScore, read_states, score_states, write_answer
from graphwalk.suites.magma.prompts import ABBREVIATIONS, OWN_STATES, STEPWISE, STRATEGIES, conversation, problem
from graphwalk.suites.magma.traces import (
    NODE,
    MagmaSpec,
    MagmaTrace,
    Nodes,
    Split,
    graph_of_trace,
    make_traces,
)
from graphwalk.suites.questions.walker import neighborhood, read, unique_values
from graphwalk.suites.suite import ScriptedAgent, Suite, Task, Tasks
from graphwalk.tools.graph_toolbox import GRAPH_TOOLS

if TYPE_CHECKING:
    from graphwalk.suites.magma.report import MagmaAnalysis

T = TypeVar("T")


def _as_tuple(value: object) -> object:
    return value if isinstance(value, list | tuple) else (value,)


OneOrMore = Annotated[tuple[T, ...], BeforeValidator(_as_tuple)]


class MagmaGrid(Strict):
    """Algorithms × sizes with `count` traces each; a single value may be given without a list."""

    algorithm: OneOrMore[Algorithm] = ("bfs",)
    """Algorithms."""
    nodes: OneOrMore[Nodes] = (5,)
    """Nodes per graph."""
    count: Annotated[int, Field(ge=1, le=MOST)] | None = None
    """Traces per algorithm and size; None: as in the paper (test 125, with five nodes 112; train 1000 and 800)."""
    p: float = Field(default=0.5, ge=0, le=1)
    """Edge probability."""
    split: Split = "test"
    """Split of the traces; splits never share a graph."""

    def specs(self) -> Iterator[MagmaSpec]:
        """Yield the specs, algorithm by algorithm and size by size."""
        for algorithm in self.algorithm:
            for nodes in self.nodes:
                count = self.count or self._count_in_paper(nodes)
                yield MagmaSpec(count=count, algorithm=algorithm, nodes=nodes, p=self.p, split=self.split)

    def _count_in_paper(self, nodes: int) -> int:
        if self.split == "train":
            return 800 if nodes <= 5 else 1000
        return 112 if nodes <= 5 else 125


class MagmaConfig(SuiteConfig):
    """The suite `magma`: graph algorithms step by step, on the traces of every entry of `traces`."""

    graphs_field: ClassVar[str] = "traces"

    name: Literal["magma"] = "magma"
    traces: tuple[MagmaGrid, ...] = Field(default=(MagmaGrid(),), min_length=1)
    in_store: bool = False
    """Load every graph into the store; required by the setting `tools`."""
    io_steps: bool = False
    """Ask the input–output strategies also for the state after every step, in separate prompts."""
    first_state: FirstState = "graphwalk"
    """First state of a trace: after the first step (graphwalk), or before it (paper): [] in Dijkstra's and Prim's
    algorithm, the weights of all edges in Floyd–Warshall. Searches begin after the first step in both."""
    explain: bool = True
    """Explain in the prompt what one step of the algorithm does and what its state contains."""

    def specs(self) -> tuple[MagmaSpec, ...]:
        """Return the specs of all entries in order."""
        return tuple(chain.from_iterable(grid.specs() for grid in self.traces))

    @property
    def graph_count(self) -> int:
        return sum(spec.count for spec in self.specs())


class MagmaTask(Task):
    """A state to find. `target` is the state after `step`, a list as in the data set: nodes, components, or triples."""

    algorithm: Algorithm
    n: int
    trace_id: str
    split: str
    index: int
    step: int
    total_steps: int
    first_step: int = 1
    """0 if the trace begins with the state before the first step."""
    explain: bool = True

    async def prompt(self, about: LoadedGraph, setting: str, agent: AgentConfig) -> Prompt:
        """Return the conversation up to the question for the task's state."""
        trace = about.instance.source
        if setting == OWN_STATES:
            return _with_own_states(conversation(trace, "is", self.step, agent, explain=self.explain))
        if setting != "tools":
            return Prompt(conversation(trace, setting, self.step, agent, explain=self.explain))
        assert about.store is not None
        schema = await about.store.schema()
        toolbox = await about.toolbox(agent, GRAPH_TOOLS)
        return Prompt(conversation(trace, setting, self.step, agent, schema, explain=self.explain), toolbox)

    def read(self, reply: str) -> Extraction:
        return read_states(self.algorithm, reply)

    def answer_format(self, agent: AgentConfig) -> str:
        return agent.render("magma_format.j2", algorithm=self.algorithm, prefix=PREFIXES[self.algorithm]).strip()

    def score(self, trajectory: Trajectory, extraction: Extraction, scoring: Scoring = Scoring()) -> MagmaScore:
        return score_states(self.algorithm, extraction, self.target)


def _with_own_states(messages: Sequence[Message]) -> Prompt:
    """Return a prompt that asks the questions of a conversation in turn, without the correct states."""
    system = messages[0]
    questions = [message for message in messages if message.role == "user"]
    follow_ups = [question.content or "" for question in questions[1:]]
    return Prompt((system, questions[0]), follow_ups=tuple(follow_ups))


def expert(task: MagmaTask, setting: str, schema: Schema | None, random: Random) -> Policy:
    """Give the correct state; with tools, read the neighbourhood of every node, and run the algorithm on the edges."""
    if setting != "tools":
        return write_answer(task.algorithm, task.target)
    (keys,) = yield from read([unique_values("key", NODE)])
    results = yield from read([neighborhood(NODE, "key", row["values"]) for row in keys])
    edges: dict[tuple[int, int], float] = {}
    for row in chain.from_iterable(results):
        neighbour = row.get("neighbor_properties") or {}
        relationship = row.get("relationship_properties") or {}
        i, j = sorted((int(str(row["center_key"])), int(str(neighbour["key"]))))
        edges[i, j] = float(str(relationship.get("weight", 1.0)))
    edges = dict(sorted(edges.items()))

    weights = None
    if task.algorithm in WEIGHTED:
        weights = tuple(edges.values())
    source = None
    if "source" in task.parameters:
        source = int(task.parameters["source"])
    instance = Instance(task.n, tuple(edges), weights, source)
    states = run_algorithm(task.algorithm, instance, "graphwalk" if task.first_step else "paper")
    return write_answer(task.algorithm, states[task.step].answer)


def any_state(task: MagmaTask, setting: str, schema: Schema | None, random: Random) -> Policy:
    """Give a random state of the right form, knowing only the number of nodes and the source."""
    yield from ()
    nodes = list(range(task.n))
    if task.algorithm == "bfs":
        return write_answer("bfs", [node for node in nodes if random.random() < 0.5])
    if task.algorithm == "dfs":
        component_of = [random.randrange(task.n) for _ in nodes]
        components = []
        for component in sorted(set(component_of)):
            components.append([node for node in nodes if component_of[node] == component])
        return write_answer("dfs", components)

    pairs = list(combinations(nodes, 2))
    if task.algorithm == "dijkstra":
        source = int(task.parameters["source"])
        pairs = [(source, node) for node in nodes if node != source]
    triples = []
    for i, j in pairs:
        if random.random() < 0.5:
            triples.append([i, j, float(random.randint(1, 10))])
    return write_answer(task.algorithm, triples)


_ALL = (*STRATEGIES, "tools")
EXPERT = ScriptedAgent(expert, _ALL, default=True)
SCRIPTED_AGENTS: Mapping[str, ScriptedAgent[MagmaTask]] = {
    "expert": EXPERT,
    "random": ScriptedAgent(any_state, _ALL, default=True, purpose=("magma.policy", "random")),
    "flawed": replace(EXPERT.changed(flawed), default=False),
}


class MagmaSuite(Suite[MagmaConfig, MagmaTask]):
    """Graph algorithms step by step. Settings are strategies of prompting, and `tools` with the graph in the store."""

    name = "magma"
    settings = (*ABBREVIATIONS, "tools")
    abbreviations = ABBREVIATIONS
    config_type = MagmaConfig
    task_type = MagmaTask
    score_type = MagmaScore
    tools = GRAPH_TOOLS
    turn_limit = 100
    scripted_agents = SCRIPTED_AGENTS

    @classmethod
    def analysis_type(cls) -> "type[MagmaAnalysis]":
        from graphwalk.suites.magma.report import MagmaAnalysis

        return MagmaAnalysis

    def graphs(self, config: MagmaConfig, seed: int) -> Iterator[GraphInstance]:
        """Yield one graph per trace. Raise ConfigError if a split has fewer distinct traces than requested."""
        for spec in config.specs():
            for trace in make_traces(spec, seed, config.first_state):
                facts = {
                    "trace_id": trace.trace_id,
                    "algorithm": trace.algorithm,
                    "n": trace.instance.n,
                    "p": trace.p,
                    "edges": len(trace.instance.edges),
                    "steps": trace.last,
                    "split": trace.split,
                    "index": trace.index,
                    "seed": trace.seed,
                }
                graph = graph_of_trace(trace) if config.in_store else None
                yield GraphInstance(trace.digest, graph, trace, facts)

    async def tasks(self, about: LoadedGraph, config: MagmaConfig, seed: int, agent: AgentConfig) -> Tasks[MagmaTask]:
        """Return one task per state of the trace."""
        trace: MagmaTrace = about.instance.source
        instance = trace.instance
        tasks = []
        for step, state in trace.states.items():
            parameters: dict[str, Scalar] = {
                "nodes": instance.n,
                "edges": len(instance.edges),
                "p": trace.p,
                "steps": trace.last,
            }
            if instance.source is not None:
                parameters["source"] = instance.source
            parameters["step"] = step
            task = MagmaTask(
                task_id=f"{trace.trace_id}-{step}",
                suite=self.name,
                template=trace.algorithm,
                question=problem(trace, agent),
                parameters=parameters,
                target=state.answer,
                target_size=len(state.answer),
                seed=trace.seed,
                graph_digest=trace.digest,
                reference_turns=1,
                reference_calls=0,
                algorithm=trace.algorithm,
                n=instance.n,
                trace_id=trace.trace_id,
                split=trace.split,
                index=trace.index,
                step=step,
                total_steps=trace.last,
                first_step=min(trace.states),
                explain=config.explain,
            )
            tasks.append(task)
        return Tasks(tasks)

    def asks(self, task: MagmaTask, setting: str, config: MagmaConfig) -> bool:
        """Return whether a task is asked in a setting.

        Not asked: `tools` without a store; earlier states in one chat with the model's own states, and in input–output
        strategies without `io_steps`.
        """
        if setting == "tools" and not config.in_store:
            return False
        if setting in STEPWISE or task.step == task.total_steps:
            return True
        return config.io_steps and setting != OWN_STATES
