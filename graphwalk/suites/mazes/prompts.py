"""What a model is told about a maze: with tools how to explore, without them the whole maze as a drawing."""

from graphwalk.config.agent import AgentConfig
from graphwalk.suites.mazes.pictures import draw_with_keys
from graphwalk.suites.mazes.task import MazeTask
from graphwalk.types.chat import Message
from graphwalk.types.schema import Schema


def question(start: int, goal: int, agent: AgentConfig) -> str:
    """The task in one sentence with the format of the answer."""
    return agent.render("maze_question.j2", start=start, goal=goal).strip()


def answer_format(agent: AgentConfig) -> str:
    """The answer format in words."""
    return agent.render("maze_format.j2").strip()


def tools_prompt(task: MazeTask, schema: Schema, agent: AgentConfig) -> tuple[Message, ...]:
    """System prompt with the schema table (docs/method.md, Schema), and the question as user message."""
    system = agent.render(
        "maze_tools.j2",
        rows=tuple(schema.rows()),
        size=task.size,
        start=task.start,
        goal=task.goal,
        strict=task.strict,
        clock=agent.clock,
    )
    return Message("system", system), Message("user", task.question)


def no_tools_prompt(task: MazeTask, agent: AgentConfig) -> tuple[Message, ...]:
    """System prompt with the drawn maze, and the question as user message."""
    drawing = draw_with_keys(task.maze)
    system = agent.render("maze_no_tools.j2", drawing=drawing, size=task.size, clock=agent.clock)
    return Message("system", system), Message("user", task.question)
