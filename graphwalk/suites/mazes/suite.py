"""Suite of mazes, the paper's first experiment: its task, score and scripted agents (docs/method.md, Mazes)."""

import json
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from functools import cached_property
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from graphwalk.agent.prompt import AnswerForm, Prompt, keys_as_answer
from graphwalk.config.agent import AgentConfig, Scoring
from graphwalk.config.strict import SuiteConfig
from graphwalk.graphs.answers import parse_object
from graphwalk.graphs.schema import Schema
from graphwalk.graphs.values import Row
from graphwalk.models.chat import Message
from graphwalk.models.scripted import AnswerNow, Ask, Policy
from graphwalk.models.trajectory import ToolResult, Trajectory
from graphwalk.suites.extraction import Extraction, ReplyForm, extract
from graphwalk.suites.flawed import flawed
from graphwalk.suites.loaded_graph import GraphInstance, LoadedGraph
from graphwalk.suites.mazes.generate import Maze, MazeSpec, check_path, generate_maze, maze_graph
from graphwalk.suites.mazes.toolbox import ALIASES, CONNECTED_PATH, MAZE_TOOLS, NEXT_CELLS, MazeToolbox
from graphwalk.suites.suite import Score, ScriptedAgent, Suite, Task, Tasks
from graphwalk.tools.encodings import read_rows
from graphwalk.tools.tool import load_tools

if TYPE_CHECKING:
    from graphwalk.suites.mazes.report import MazesAnalysis

Layout = Literal["standard", "paper"]
PathError = Literal["wrong_start", "out_of_grid", "through_wall", "not_adjacent", "wrong_goal"]


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
        places = {"size": self.size, "start": self.start, "goal": self.goal}
        question = Message("user", self.question)
        if setting == "no_tools":
            drawing = draw(self.maze, self.layout)
            return Prompt((Message("system", agent.render("maze_no_tools.j2", drawing=drawing, **places)), question))
        assert about.store is not None
        schema = await about.store.schema()
        tools = None
        if agent.tools is not None:
            tools = load_tools(agent.tools)
        toolbox = MazeToolbox(about.store, self.size, agent=agent, tools=tools, schema=schema)
        system = agent.render("maze_tools.j2", rows=tuple(schema.rows()), **places)
        return Prompt((Message("system", system), question), toolbox)

    def read(self, reply: str) -> Extraction:
        return extract_path(reply)

    def answer_form(self) -> AnswerForm:
        return keys_as_answer(answer_text)

    def answer_format(self, agent: AgentConfig) -> str:
        return agent.render("maze_format.j2").strip()

    def score(self, trajectory: Trajectory, extraction: Extraction, scoring: Scoring = Scoring()) -> MazeScore:
        maze = self.maze
        path = path_cells(maze, extraction.answer)
        valid = bool(path) and path_error(maze, path) is None
        share = float(valid)
        return MazeScore(
            correct=valid,
            precision=share,
            recall=share,
            f1=share,
            false_positives=sum(not maze.is_open(cell) for cell in path),
            extraction_stage=extraction.stage,
            lossy=extraction.lossy,
            optimal=valid and len(path) - 1 == maze.shortest_path_length,
            strict_correct=valid and not trajectory.exit_status.forced,
        )


def draw(maze: Maze, layout: Layout) -> str:
    """Return the maze as text, in the standard layout or as in GraphWalk, Appendix D.1 and Figure 1.

    ```
    +-------+       +---+---+
    | S0  # |       | S | # |
    |  2 G3 |       +---+---+
    +-------+       | 2 | G |
                    +---+---+
    ```
    """
    if layout == "paper":
        return _draw_as_in_paper(maze)
    digits = len(str(maze.size**2 - 1))
    texts = [str(cell) for cell in range(maze.size**2)]
    texts[maze.start] = f"S{maze.start}"
    texts[maze.goal] = f"G{maze.goal}"
    for wall in maze.walls:
        texts[wall] = "#" * digits

    border = "+" + "-" * (maze.size * (digits + 2) + 1) + "+"
    lines = [border]
    for row in _rows(texts, maze.size):
        cells = " ".join(text.rjust(digits + 1) for text in row)
        lines.append(f"| {cells} |")
    lines.append(border)
    return "\n".join(lines)


def _draw_as_in_paper(maze: Maze) -> str:
    digits = len(str(maze.size**2 - 1))
    texts = [str(cell) for cell in range(maze.size**2)]
    texts[maze.start] = "S"
    texts[maze.goal] = "G"
    for wall in maze.walls:
        texts[wall] = "#"

    border = "+" + ("-" * (digits + 2) + "+") * maze.size
    lines = [border]
    for row in _rows(texts, maze.size):
        cells = " | ".join(text.rjust(digits) for text in row)
        lines.append(f"| {cells} |")
        lines.append(border)
    return "\n".join(lines)


def _rows(texts: Sequence[str], size: int) -> list[Sequence[str]]:
    return [texts[first : first + size] for first in range(0, size**2, size)]


def answer_text(path: Sequence[str]) -> str:
    return json.dumps({"path": list(path)})


def extract_path(reply: str) -> Extraction:
    """Extract the keys in `{"path": […]}`, else in a bare list; whole numbers count as keys."""
    return extract(reply, ReplyForm(_read_keys, member="path"))


def _read_keys(value: Any) -> Extraction | None:
    # ["0", "1", "11"] or [0, 1, 11]
    if isinstance(value, list) and all(type(key) in (str, int) for key in value):
        return Extraction([str(key).strip() for key in value])
    return None


def path_cells(maze: Maze, answer: Sequence[str] | None) -> list[int]:
    """Return the cell numbers of an answer, with -1 for keys that name no cell."""
    return [maze.cells.get(key, -1) for key in answer or ()]


def path_error(maze: Maze, path: Sequence[int]) -> PathError | None:
    """Return the first error of a path with at least one cell, or None for a valid path."""
    for number, cell in enumerate(path):
        if cell in maze.wall_set:
            return "through_wall"
        if not maze.is_open(cell):
            return "out_of_grid"
        if number == 0 and cell != maze.start:
            return "wrong_start"
        if number > 0 and not maze.adjacent(path[number - 1], cell):
            return "not_adjacent"
    if path[-1] != maze.goal:
        return "wrong_goal"
    return None


def called_cell(maze: Maze, result: ToolResult) -> int | None:
    """Return the cell that a call asked about; None without a cell of the grid, and for other tools."""
    if ALIASES.get(result.call.name, result.call.name) != NEXT_CELLS:
        return None
    return maze.cells.get(str(parse_object(result.call.arguments).get("node_id")))


def depth_first(start: str, goal: str, order: Callable[[Row], Any]) -> Policy:
    """Explore depth-first to the goal, then answer with the path that the tool returns.

    `order` is the sort key that decides which adjacent cell to try first. If the goal is unreachable or the turns end,
    answer with the path to the current cell.
    """
    trail = [start]
    untried: dict[str, list[str]] = {}
    """Each visited cell → its neighbours that have not been tried from there."""
    try:
        while trail and goal not in untried:
            here = trail[-1]
            if here not in untried:
                rows = yield from _visit(here)
                untried[here] = [str(row["key"]) for row in sorted(rows, key=order)]
            if here == goal:
                break
            unvisited = [key for key in untried[here] if key not in untried]
            untried[here] = unvisited[1:]
            if unvisited:
                trail.append(unvisited[0])
            else:
                trail.pop()
        if goal in untried:
            return (yield from _connected_path(trail))
    except AnswerNow:
        pass
    return answer_text([key for key in trail if key in untried])


def random_walk(task: MazeTask, setting: str, schema: Schema | None, random: Random) -> Policy:
    """Walk randomly to the goal or the end of the turns, and answer with the path without loops."""
    trail = [str(task.start)]
    try:
        while True:
            rows = yield from _visit(trail[-1])
            if trail[-1] == str(task.goal):
                return (yield from _connected_path(trail))
            if not rows:
                return answer_text(trail)
            step = str(random.choice(rows)["key"])
            if step in trail:
                # A loop is left out of the answer.
                del trail[trail.index(step) + 1 :]
            else:
                trail.append(step)
    except AnswerNow:
        return answer_text(trail)


def _visit(key: str) -> Generator[list[Ask], list[str], list[Row]]:
    """Return the adjacent open cells, or an empty list if the call was refused."""
    (text,) = yield [Ask(NEXT_CELLS, {"node_id": key})]
    rows = read_rows(text) or []
    return [{**row, "key": str(row["key"])} for row in rows if "key" in row]


def _connected_path(trail: Sequence[str]) -> Policy:
    """Answer with the tool's path from the first to the last visited cell, or with the trail."""
    (text,) = yield [Ask(CONNECTED_PATH, {})]
    try:
        return answer_text(json.loads(text) or trail)
    except ValueError:
        return answer_text(trail)


def expert(task: MazeTask, setting: str, schema: Schema | None, random: Random) -> Policy:
    """Explore depth-first, the cell nearest to the goal first."""
    return depth_first(str(task.start), str(task.goal), lambda row: (row["euclidean_distance"], int(row["key"])))


def lowest_first(task: MazeTask, setting: str, schema: Schema | None, random: Random) -> Policy:
    """Explore depth-first, the cell with the lowest number first."""
    return depth_first(str(task.start), str(task.goal), lambda row: int(row["key"]))


EXPERT = ScriptedAgent(expert, default=True)
SCRIPTED_AGENTS: Mapping[str, ScriptedAgent[MazeTask]] = {
    "expert": EXPERT,
    "depth_first": ScriptedAgent(lowest_first, default=True),
    "random": ScriptedAgent(random_walk, default=True),
    "flawed": EXPERT.changed(flawed),
}


class MazesSuite(Suite[MazesConfig, MazeTask]):
    """Path finding in mazes that a model cannot see (docs/method.md, Mazes)."""

    name = "mazes"
    settings = ("tools", "no_tools")
    config_type = MazesConfig
    task_type = MazeTask
    score_type = MazeScore
    tools = MAZE_TOOLS
    turn_limit = 60
    scripted_agents = SCRIPTED_AGENTS

    @classmethod
    def analysis_type(cls) -> "type[MazesAnalysis]":
        from graphwalk.suites.mazes.report import MazesAnalysis

        return MazesAnalysis

    def graphs(self, config: MazesConfig, seed: int) -> Iterator[GraphInstance]:
        for entry, spec in enumerate(config.mazes):
            for index in range(spec.count):
                maze = generate_maze(spec, seed, index)
                facts = {
                    "entry": entry,
                    "index": index,
                    "size": maze.size,
                    "wall_ratio": spec.walls,
                    "walls": len(maze.walls),
                    "min_path": spec.min_path,
                    "shortest_path_length": maze.shortest_path_length,
                }
                yield GraphInstance.of(maze_graph(maze), maze, facts)

    async def tasks(self, about: LoadedGraph, config: MazesConfig, seed: int, agent: AgentConfig) -> Tasks[MazeTask]:
        """Return one task. Raise OracleError if networkx contradicts the target."""
        maze: Maze = about.instance.source
        entry = about.instance.facts["entry"]
        start = str(maze.start)
        goal = str(maze.goal)
        path = [str(cell) for cell in maze.shortest_path()]
        check_path(about.graph, start, goal, path)
        task = MazeTask(
            task_id=f"{maze.digest[:12]}-maze-{entry}-{maze.index}",
            suite=self.name,
            template="maze",
            question=agent.render("maze_question.j2", start=maze.start, goal=maze.goal).strip(),
            parameters={"size": maze.size, "start": start, "goal": goal},
            target=path,
            target_size=len(path),
            graph_digest=about.instance.digest,
            layout=config.layout,
            **asdict(maze),
        )
        return Tasks([task])
