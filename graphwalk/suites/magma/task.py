"""Task of MAGMA: one state of a trace after the correct earlier states, or a whole free-running trace."""

from functools import partial
from typing import Any

from graphwalk.config.agent import AgentConfig
from graphwalk.config.scoring import Scoring
from graphwalk.evaluation.extraction import Extraction
from graphwalk.reports.scene import Scene
from graphwalk.reports.suite_report import ResultRecord
from graphwalk.suites.loaded_graph import LoadedGraph
from graphwalk.suites.magma import prompts
from graphwalk.suites.magma.answers import PREFIXES, read_answer
from graphwalk.suites.magma.config import Algorithm, MagmaConfig
from graphwalk.suites.magma.generate import MagmaTrace
from graphwalk.suites.magma.scene import magma_scene
from graphwalk.suites.magma.score import MagmaScore, judge, score_episode
from graphwalk.suites.task import Prompt, Task
from graphwalk.tools.graph_toolbox import GRAPH_TOOLS
from graphwalk.types.episode import Trajectory
from graphwalk.types.values import Scalar


class MagmaTask(Task):
    """A state to find. `target` is the state after `step`; in free-running mode `step` is None and it has all states.

    States are lists as in the data set: nodes, components, or triples.
    """

    algorithm: Algorithm
    n: int
    trace_id: str
    split: str
    index: int
    step: int | None
    total_steps: int
    first_step: int = 1
    """0 if the trace begins with the state before the first step."""
    explain: bool = True

    @property
    def whole(self) -> bool:
        """Return True in free-running mode."""
        return self.step is None

    def requested_states(self, setting: str) -> list[tuple[int, list[Any]]]:
        """Return (step, state) of every reply that the setting requests."""
        if self.step is not None:
            return [(self.step, self.target)]
        states = list(enumerate(self.target, start=self.first_step))
        return states if setting in prompts.STEPWISE else states[-1:]

    async def prompt(self, about: LoadedGraph, setting: str, agent: AgentConfig) -> Prompt:
        """Return the conversation up to the question for the task's state, or for the first one if it runs freely."""
        trace, schema, toolbox = about.instance.source, None, None
        if setting == "tools":
            assert about.store is not None
            schema, toolbox = await about.store.schema(), await about.toolbox(agent, GRAPH_TOOLS)
        if self.whole and setting in prompts.STEPWISE:
            first = prompts.conversation(trace, setting, self.first_step, agent, schema, explain=self.explain)
            return Prompt(first, toolbox, partial(_next_user, trace, setting, agent, self.explain))
        step = self.total_steps if self.step is None else self.step
        return Prompt(prompts.conversation(trace, setting, step, agent, schema, explain=self.explain), toolbox)

    def read(self, reply: str) -> Extraction:
        return read_answer(self.algorithm, reply)

    def answer_format(self, agent: AgentConfig) -> str:
        return agent.render("magma_format.j2", algorithm=self.algorithm, prefix=PREFIXES[self.algorithm]).strip()

    def score(
        self, setting: str, trajectory: Trajectory, extraction: Extraction, scoring: Scoring = Scoring()
    ) -> MagmaScore:
        return score_episode(self, setting, trajectory, extraction)

    def asked_in(self, text: str) -> bool:
        """Return True if this message of a prompt states the problem, with its graph or, for tools, without one."""
        without_graph = prompts.read_problem(text, self.n) is None
        return self.question in text or (without_graph and self.question.partition("\n")[0] in text)

    def potential(self, trajectory: Trajectory) -> float:
        """Return the share of the requested states that are right so far; here the replies are the results."""
        stepwise = self.whole and any(turn.next_user is not None for turn in trajectory.turns)
        states = self.requested_states("is" if stepwise else "io")
        replies = [turn.message.content or "" for turn in trajectory.turns if not turn.message.tool_calls]
        pairs = zip(states, replies, strict=False)
        right = (judge(self.algorithm, step, self.read(reply).answer, state).exact for (step, state), reply in pairs)
        return sum(right) / len(states)

    def scene(self, record: ResultRecord) -> Scene:
        return magma_scene(self, record)


def _next_user(trace: MagmaTrace, setting: str, agent: AgentConfig, explain: bool, replies: int) -> str | None:
    """Return the question for the next state; None if all states were asked for."""
    step = min(trace.states) + replies
    return prompts.turn(trace, setting, step, agent, explain=explain) if step in trace.states else None


def make_task(
    trace: MagmaTrace, step: int | None, agent: AgentConfig = AgentConfig(), config: MagmaConfig = MagmaConfig()
) -> MagmaTask:
    """Return the task of one step, or of the whole trace."""
    algorithm, instance, total = trace.algorithm, trace.instance, len(trace.steps)
    states = {number: state.answer for number, state in trace.states.items()}
    target = list(states.values()) if step is None else states[step]
    parameters: dict[str, Scalar] = {"nodes": instance.n, "edges": len(instance.edges), "p": trace.p, "steps": total}
    if instance.source is not None:
        parameters["source"] = instance.source
    if step is not None:
        parameters["step"] = step
    return MagmaTask(
        task_id=f"{trace.trace_id}-{'free' if step is None else step}",
        suite="magma",
        template=algorithm,
        question=prompts.problem(trace, agent),
        parameters=parameters,
        target=target,
        target_size=len(states[total] if step is None else target),
        seed=trace.seed,
        graph_digest=trace.digest,
        reference_turns=1 if step is not None else len(states),
        reference_calls=0,
        algorithm=algorithm,
        n=instance.n,
        trace_id=trace.trace_id,
        split=trace.split,
        index=trace.index,
        step=step,
        total_steps=total,
        first_step=min(states),
        explain=config.explain,
    )
