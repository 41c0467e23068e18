"""The expert's working state in words: the algorithm is run on the graph that the prompt shows, step by step."""

import random
import re

from graphwalk.config.agent import AgentConfig
from graphwalk.suites.magma import prompts
from graphwalk.suites.magma.generator.instances import Instance
from graphwalk.suites.magma.generator.traces import run_algorithm
from graphwalk.suites.magma.task import MagmaTask
from graphwalk.suites.thoughts import Thoughts
from graphwalk.types.episode import Trajectory

_EDGES = re.compile(r"^Edges: (\[.*\])$", re.MULTILINE)
_EDGE = re.compile(r"\((\d+), (\d+)(?:, ([\d.]+))?\)")
_SOURCE = re.compile(r"^Source: (\d+)$", re.MULTILINE)


def steps_in_words(task: MagmaTask, setting: str, trajectory: Trajectory, draw: random.Random) -> list[str]:
    """A thought before every reply: the state that a step begins with; of all steps where the reply is the only one.

    Turns that call tools have none: what they look up is what the next replies need.
    """
    steps = run_algorithm(task.algorithm, instance_in(task))
    thoughts = Thoughts("magma", draw)
    texts = [
        thoughts.say("step", step=number, state=prompts.hint_in_words(task.algorithm, step, AgentConfig()))
        for number, step in enumerate(steps, 1)
    ]
    asked = [step for step, _ in task.asked(setting)]
    words = iter(texts[step - 1] if setting in prompts.STEPWISE else "\n".join(texts[:step]) for step in asked)
    return ["" if turn.message.tool_calls else next(words, "") for turn in trajectory.turns]


def instance_in(task: MagmaTask) -> Instance:
    """The graph of a problem statement, read from its text."""
    edges, source = _EDGES.search(task.question), _SOURCE.search(task.question)
    listed = _EDGE.findall(edges[1]) if edges else []
    weighted = bool(listed) and bool(listed[0][2])
    return Instance(
        task.n,
        tuple((int(i), int(j)) for i, j, _ in listed),
        tuple(float(weight) for _, _, weight in listed) if weighted else None,
        int(source[1]) if source else None,
    )
