"""Task of MAGMA: one state of a trace."""

from graphwalk.config.agent import AgentConfig
from graphwalk.config.scoring import Scoring
from graphwalk.evaluation.extraction import Extraction
from graphwalk.suites.loaded_graph import LoadedGraph
from graphwalk.suites.magma import prompts
from graphwalk.suites.magma.answers import PREFIXES, read_answer
from graphwalk.suites.magma.config import Algorithm, MagmaConfig
from graphwalk.suites.magma.generate import MagmaTrace
from graphwalk.suites.magma.score import MagmaScore, judge
from graphwalk.suites.task import Prompt, Task
from graphwalk.tools.graph_toolbox import GRAPH_TOOLS
from graphwalk.types.episode import Trajectory
from graphwalk.types.values import Scalar


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
        trace, schema, toolbox = about.instance.source, None, None
        if setting == "tools":
            assert about.store is not None
            schema, toolbox = await about.store.schema(), await about.toolbox(agent, GRAPH_TOOLS)
        messages = prompts.conversation(trace, setting, self.step, agent, schema, explain=self.explain)
        return Prompt(messages, toolbox)

    def read(self, reply: str) -> Extraction:
        return read_answer(self.algorithm, reply)

    def answer_format(self, agent: AgentConfig) -> str:
        return agent.render("magma_format.j2", algorithm=self.algorithm, prefix=PREFIXES[self.algorithm]).strip()

    def score(
        self, setting: str, trajectory: Trajectory, extraction: Extraction, scoring: Scoring = Scoring()
    ) -> MagmaScore:
        return judge(self.algorithm, extraction, self.target)


def make_task(
    trace: MagmaTrace, step: int, agent: AgentConfig = AgentConfig(), config: MagmaConfig = MagmaConfig()
) -> MagmaTask:
    """Return the task of one step."""
    algorithm, instance, total = trace.algorithm, trace.instance, len(trace.steps)
    target = trace.states[step].answer
    parameters: dict[str, Scalar] = {"nodes": instance.n, "edges": len(instance.edges), "p": trace.p, "steps": total}
    if instance.source is not None:
        parameters["source"] = instance.source
    parameters["step"] = step
    return MagmaTask(
        task_id=f"{trace.trace_id}-{step}",
        suite="magma",
        template=algorithm,
        question=prompts.problem(trace, agent),
        parameters=parameters,
        target=target,
        target_size=len(target),
        seed=trace.seed,
        graph_digest=trace.digest,
        reference_turns=1,
        reference_calls=0,
        algorithm=algorithm,
        n=instance.n,
        trace_id=trace.trace_id,
        split=trace.split,
        index=trace.index,
        step=step,
        total_steps=total,
        first_step=min(trace.states),
        explain=config.explain,
    )
