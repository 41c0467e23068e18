"""The message after a reply that has neither a call nor an answer (`agent.nudges`)."""

from graphwalk.config.agent import AgentConfig
from graphwalk.levers.answer_tool import ANSWER
from graphwalk.suites.task import Task
from graphwalk.tools.toolbox import Toolbox


def nudge_for(reply: str, task: Task, toolbox: Toolbox | None, agent: AgentConfig) -> str | None:
    """Return what is missing in a reply without calls; None if the task can read an answer in it."""
    if task.read(reply).answer is not None:
        return None
    tools = [] if toolbox is None else [spec.name for spec in toolbox.specs]
    answer_format = task.answer_format(agent).strip()
    return agent.texts.message("nudge", empty=not reply.strip(), tools=tools, answer=ANSWER, format=answer_format)
