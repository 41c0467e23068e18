"""Thoughts of the scripted agents for algorithm traces, for training data."""

from random import Random
from typing import TYPE_CHECKING

from graphwalk.config.agent import AgentConfig
from graphwalk.suites.magma import prompts
from graphwalk.suites.magma.generate import Instance, Step, run_algorithm, state_before
from graphwalk.suites.thoughts import Thoughts
from graphwalk.types.episode import Trajectory

if TYPE_CHECKING:
    from graphwalk.suites.magma.task import MagmaTask


def states_of(task: "MagmaTask", instance: Instance) -> dict[int, Step]:
    """Return the number of each step of the task's trace → its hint and state."""
    before = state_before(task.algorithm, instance) if task.first_step == 0 else None
    return ({} if before is None else {0: before}) | dict(enumerate(run_algorithm(task.algorithm, instance), 1))


def steps_in_words(task: "MagmaTask", setting: str, trajectory: Trajectory, draw: Random) -> list[str]:
    """Return a thought before every reply: the working state of its step, or of all steps for a single reply.

    Turns with tool calls have no thought.
    """
    instance = prompts.read_problem(task.question, task.n) or Instance(task.n, (), None, None)
    thoughts = Thoughts("magma", draw)
    texts = {
        number: thoughts.say("step", step=number, state=prompts.hint_in_words(task.algorithm, step, AgentConfig()))
        for number, step in states_of(task, instance).items()
    }
    words = iter(
        texts[step]
        if setting in prompts.STEPWISE
        else "\n".join(text for number, text in texts.items() if number <= step)
        for step, _ in task.requested_states(setting)
    )
    return ["" if turn.message.tool_calls else next(words, "") for turn in trajectory.turns]
