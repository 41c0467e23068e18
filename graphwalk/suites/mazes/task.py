"""Configuration, task and score of mazes: how a maze is asked, read and scored (docs/method.md, Mazes)."""

import json
from collections.abc import Sequence
from dataclasses import fields
from functools import cached_property
from typing import Any, ClassVar, Literal

from pydantic import Field

from graphwalk.config.agent import AgentConfig, Scoring
from graphwalk.config.strict import SuiteConfig
from graphwalk.graphs.answers import parse_object
from graphwalk.graphs.schema import Schema
from graphwalk.models.chat import Message
from graphwalk.models.trajectory import ToolResult, Trajectory
from graphwalk.suites.extraction import Extraction, ReplyForm, extract
from graphwalk.suites.loaded_graph import LoadedGraph
from graphwalk.suites.mazes.generate import Maze, MazeSpec
from graphwalk.suites.mazes.toolbox import ALIASES, NEXT_CELLS, MazeToolbox
from graphwalk.suites.suite import AnswerForm, Prompt, Score, Task, keys_as_answer
from graphwalk.tools.tool import load_tools

Layout = Literal["standard", "paper"]
PathError = Literal["wrong_start", "out_of_grid", "through_wall", "not_adjacent", "wrong_goal"]
_LONGEST_KEY = 20
_NOWHERE = -1
"""Number for a cell that does not exist."""


class MazesConfig(SuiteConfig):
    """The suite `mazes`. Every entry of `mazes` is generated `count` times."""

    graphs_field: ClassVar[str] = "mazes"

    name: Literal["mazes"] = "mazes"
    mazes: tuple[MazeSpec, ...] = Field(default=(MazeSpec(),), min_length=1)
    layout: Layout = "standard"
    """Drawing of the setting no_tools: standard, or as in the paper (S and G in place of keys, a border around each
    cell)."""


class MazeScore(Score):
    """The score of one path (docs/method.md, Mazes).

    `correct` means valid: from start to goal over adjacent open cells. A path is correct or wrong as a whole, so
    precision, recall and F1 are 1 or 0. `false_positives` counts cells that are not open cells of the grid. `optimal`:
    it is a shortest path. `strict_correct`: it was not forced by a limit.
    """

    optimal: bool
    strict_correct: bool


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
        """Extract the keys in `{"path": […]}`, else in a bare list."""
        return extract_path(reply)

    def answer_form(self) -> AnswerForm:
        return keys_as_answer(lambda keys: json.dumps({"path": keys}))

    def answer_format(self, agent: AgentConfig) -> str:
        return agent.render("maze_format.j2").strip()

    def score(self, trajectory: Trajectory, extraction: Extraction, scoring: Scoring = Scoring()) -> MazeScore:
        maze = self.maze
        path = path_cells(maze, extraction.answer)
        valid = bool(path) and path_error(maze, path) is None
        return MazeScore(
            correct=valid,
            precision=float(valid),
            recall=float(valid),
            f1=float(valid),
            false_positives=sum(not maze.is_open(cell) for cell in path),
            extraction_stage=extraction.stage,
            lossy=extraction.lossy,
            optimal=valid and len(path) - 1 == maze.shortest_path_length,
            strict_correct=valid and not trajectory.exit_status.forced,
        )


def tools_prompt(task: MazeTask, schema: Schema, agent: AgentConfig) -> tuple[Message, ...]:
    """Return the system prompt with the schema table (docs/method.md, Schema), and the question."""
    names = {"size": task.size, "start": task.start, "goal": task.goal}
    system = agent.render("maze_tools.j2", rows=tuple(schema.rows()), **names)
    return Message("system", system), Message("user", task.question)


def no_tools_prompt(task: MazeTask, agent: AgentConfig) -> tuple[Message, ...]:
    """Return the system prompt with the drawn maze, and the question."""
    names = {"size": task.size, "start": task.start, "goal": task.goal}
    system = agent.render("maze_no_tools.j2", drawing=draw(task.maze, task.layout), **names)
    return Message("system", system), Message("user", task.question)


def draw(maze: Maze, layout: Layout) -> str:
    """Return the maze in a border: keys in open cells, S and G before the keys of start and goal, `#` signs for walls.

    With "paper" S and G are in place of the keys, a wall is one `#`, and borders separate cells and rows (GraphWalk,
    Appendix D.1 and Figure 1).
    """
    paper = layout == "paper"
    digits = len(str(maze.size**2 - 1))
    texts = [str(cell) for cell in range(maze.size**2)]
    texts[maze.start], texts[maze.goal] = ("S", "G") if paper else (f"S{maze.start}", f"G{maze.goal}")
    for wall in maze.walls:
        texts[wall] = "#" if paper else "#" * digits
    rows = [texts[first : first + maze.size] for first in range(0, maze.size**2, maze.size)]
    if paper:
        border = "+" + ("-" * (digits + 2) + "+") * maze.size
        lines = ("| " + " | ".join(text.rjust(digits) for text in row) + " |" for row in rows)
        return "\n".join([border, *(f"{line}\n{border}" for line in lines)])
    border = "+" + "-" * (maze.size * (digits + 2) + 1) + "+"
    lines = ("| " + " ".join(text.rjust(digits + 1) for text in row) + " |" for row in rows)
    return "\n".join([border, *lines, border])


def extract_path(reply: str) -> Extraction:
    return extract(reply, ReplyForm(_key_list, member="path"))


def _key_list(value: Any) -> Extraction | None:
    """Return a list of keys as text; integers count as keys. Return None for other values."""
    if not isinstance(value, list) or not all(type(key) in (str, int) for key in value):
        return None
    return Extraction([str(key).strip()[:_LONGEST_KEY] for key in value])


def path_cells(maze: Maze, answer: Sequence[str] | None) -> list[int]:
    """Return the cell numbers of an answer, with -1 for keys that name no cell."""
    return [_cell(maze, key) for key in answer or ()]


def path_error(maze: Maze, path: Sequence[int]) -> PathError | None:
    """Return the first error of a path with at least one cell, or None for a valid path."""
    for number, cell in enumerate(path):
        if cell in maze.wall_set:
            return "through_wall"
        if not maze.is_open(cell):
            return "out_of_grid"
        if number == 0 and cell != maze.start:
            return "wrong_start"
        if number and not maze.adjacent(path[number - 1], cell):
            return "not_adjacent"
    return None if path[-1] == maze.goal else "wrong_goal"


def called_cell(maze: Maze, result: ToolResult) -> int | None:
    """Return the cell that a call asked about; None without a cell of the grid, and for other tools."""
    if ALIASES.get(result.call.name, result.call.name) != NEXT_CELLS:
        return None
    cell = _cell(maze, str(parse_object(result.call.arguments).get("node_id")))
    return None if cell == _NOWHERE else cell


def _cell(maze: Maze, key: str) -> int:
    number = int(key) if key.isascii() and key.isdecimal() else _NOWHERE
    return number if str(number) == key and number < maze.size**2 else _NOWHERE
