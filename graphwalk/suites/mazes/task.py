"""Task of one maze: how it is asked, read and scored."""

import json
from dataclasses import fields
from functools import cached_property

from graphwalk.config.agent import AgentConfig
from graphwalk.config.scoring import Scoring
from graphwalk.evaluation.extraction import Extraction
from graphwalk.suites.loaded_graph import LoadedGraph
from graphwalk.suites.mazes.config import Layout
from graphwalk.suites.mazes.drawing import draw_with_keys
from graphwalk.suites.mazes.generate import Maze
from graphwalk.suites.mazes.score import MazeScore, extract_path, score_path
from graphwalk.suites.mazes.toolbox import MazeToolbox
from graphwalk.suites.task import AnswerForm, Prompt, Task, keys_as_answer
from graphwalk.tools.tool import load_tools
from graphwalk.types.chat import Message
from graphwalk.types.episode import Trajectory
from graphwalk.types.schema import Schema


class MazeTask(Task):
    """A maze to solve. `target` is a shortest path as a list of keys; every valid path is correct.

    `layout` is that of the drawing without tools.
    """

    size: int
    walls: tuple[int, ...]
    start: int
    goal: int
    shortest_path_length: int
    index: int
    layout: Layout = "standard"

    @cached_property
    def maze(self) -> Maze:
        return Maze(**{field.name: getattr(self, field.name) for field in fields(Maze)})

    async def prompt(self, about: LoadedGraph, setting: str, agent: AgentConfig) -> Prompt:
        """Return the drawn maze, or the tools through which a model sees it."""
        if setting == "no_tools":
            return Prompt(no_tools_prompt(self, agent))
        assert about.store is not None
        schema = await about.store.schema()
        tools = None if agent.tools is None else load_tools(agent.tools)
        toolbox = MazeToolbox(about.store, self.size, agent=agent, tools=tools, schema=schema)
        return Prompt(tools_prompt(self, schema, agent), toolbox)

    def read(self, reply: str) -> Extraction:
        return extract_path(reply)

    def answer_form(self, setting: str) -> AnswerForm:
        return keys_as_answer(lambda keys: json.dumps({"path": keys}))

    def answer_format(self, agent: AgentConfig) -> str:
        return agent.render("maze_format.j2").strip()

    def score(
        self, setting: str, trajectory: Trajectory, extraction: Extraction, scoring: Scoring = Scoring()
    ) -> MazeScore:
        return score_path(self.maze, trajectory, extraction)


def tools_prompt(task: MazeTask, schema: Schema, agent: AgentConfig) -> tuple[Message, ...]:
    """Return the system prompt with the schema table (docs/method.md, Schema), and the question."""
    system = agent.render(
        "maze_tools.j2",
        rows=tuple(schema.rows()),
        size=task.size,
        start=task.start,
        goal=task.goal,
    )
    return Message("system", system), Message("user", task.question)


def no_tools_prompt(task: MazeTask, agent: AgentConfig) -> tuple[Message, ...]:
    """Return the system prompt with the drawn maze, and the question."""
    drawing, ends = draw_with_keys(task.maze, task.layout), {"start": task.start, "goal": task.goal}
    system = agent.render("maze_no_tools.j2", drawing=drawing, size=task.size, **ends)
    return Message("system", system), Message("user", task.question)
