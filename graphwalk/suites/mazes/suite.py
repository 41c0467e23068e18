"""Suite of mazes, the paper's first experiment."""

from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Any, ClassVar

from graphwalk.config.agent import AgentConfig
from graphwalk.config.strict import SuiteConfig
from graphwalk.errors import OracleError
from graphwalk.evaluation.extraction import Extraction
from graphwalk.seeds import stdlib_random
from graphwalk.stores.base import GraphStore
from graphwalk.suites.mazes.config import MazesConfig
from graphwalk.suites.mazes.generate import Maze, check_path, generate_maze, maze_graph
from graphwalk.suites.mazes.pictures import draw_with_keys
from graphwalk.suites.mazes.report import MazePresentation
from graphwalk.suites.mazes.score import MazeVerification, extract_path, path_error, score_path
from graphwalk.suites.mazes.scripted import MazeAgents, agent_named
from graphwalk.suites.mazes.task import MazeScore, MazeTask
from graphwalk.suites.mazes.toolbox import MAZE_TOOLS, MazeToolbox
from graphwalk.suites.reference import ReferenceWalk, drive
from graphwalk.suites.suite import EpisodeSetup, GraphInstance, Presentation, ScriptedAgents, Suite, Verification
from graphwalk.tools.tool import Tool
from graphwalk.types.chat import Message
from graphwalk.types.episode import Score, Task, Trajectory
from graphwalk.types.schema import Schema


class MazesSuite(Suite[MazesConfig, MazeTask]):
    """Path finding in mazes that a model cannot see (docs/method.md, Mazes)."""

    name: ClassVar[str] = "mazes"
    settings: ClassVar[tuple[str, ...]] = ("tools", "no_tools")
    task_type: ClassVar[type[Task]] = MazeTask
    score_type: ClassVar[type[Score]] = MazeScore
    config_type: ClassVar[type[SuiteConfig]] = MazesConfig
    graphs_field: ClassVar[str] = "mazes"
    thing: ClassVar[str] = "maze"
    tools: ClassVar[tuple[str, ...]] = MAZE_TOOLS
    turn_limit: ClassVar[int] = 60
    agents: ClassVar[ScriptedAgents[Any]] = MazeAgents()
    presentation: ClassVar[Presentation[Any]] = MazePresentation()
    verification: ClassVar[Verification[Any, Any]] = MazeVerification()

    def graphs(self, config: MazesConfig, seed: int) -> Iterator[GraphInstance]:
        for entry, spec in enumerate(config.mazes):
            for index in range(spec.offset, spec.offset + spec.count):
                maze = generate_maze(spec, seed, index)
                facts = {
                    "entry": entry,
                    "index": index,
                    "size": maze.size,
                    "wall_ratio": spec.walls,
                    "walls": len(maze.walls),
                    "min_path": spec.min_path,
                    "generator": maze.generator,
                    "shortest_path_length": maze.shortest_path_length,
                }
                yield GraphInstance.of(maze_graph(maze), maze, facts)

    async def tasks(
        self,
        instance: GraphInstance,
        store: GraphStore | None,
        config: MazesConfig,
        seed: int,
        agent: AgentConfig = AgentConfig(),
    ) -> list[MazeTask]:
        """Return one task. Raise OracleError if networkx, or the expert on the stored maze, contradicts the target."""
        assert store is not None
        assert instance.graph is not None
        task = make_task(instance.source, instance.digest, config, entry=instance.facts["entry"], agent=agent)
        check_path(instance.graph, str(task.start), str(task.goal), task.gold)
        return [(await expert_walk(task, store)).added_to(task)]

    async def setup(
        self,
        task: MazeTask,
        setting: str,
        instance: GraphInstance,
        store: GraphStore | None,
        agent: AgentConfig,
        tools: Sequence[Tool] | None = None,
    ) -> EpisodeSetup:
        if setting == "no_tools":
            return EpisodeSetup(no_tools_prompt(task, agent))
        assert store is not None
        schema = await store.schema()
        toolbox = MazeToolbox(
            store, task.size, str(task.start), strict=task.strict, agent=agent, tools=tools, schema=schema
        )
        return EpisodeSetup(tools_prompt(task, schema, agent), toolbox)

    def extract(self, task: MazeTask, reply: str) -> Extraction:
        return extract_path(reply)

    def answer_format(self, task: MazeTask, agent: AgentConfig = AgentConfig()) -> str:
        return agent.render("maze_format.j2").strip()

    def score(self, task: MazeTask, setting: str, trajectory: Trajectory, extraction: Extraction) -> MazeScore:
        return score_path(task, setting, trajectory, extraction)


def make_task(
    maze: Maze,
    graph_digest: str,
    config: MazesConfig = MazesConfig(),
    *,
    entry: int = 0,
    agent: AgentConfig = AgentConfig(),
) -> MazeTask:
    """Return the task of a maze without its reference figures."""
    path = maze.shortest_path()
    return MazeTask(
        task_id=f"{maze.digest[:12]}-maze-{entry}-{maze.index}",
        suite="mazes",
        template="maze",
        question=agent.render("maze_question.j2", start=maze.start, goal=maze.goal).strip(),
        parameters={"size": maze.size, "start": str(maze.start), "goal": str(maze.goal)},
        gold=[str(cell) for cell in path],
        gold_size=len(path),
        graph_digest=graph_digest,
        strict=config.strict,
        layout=config.layout,
        **{field.name: getattr(maze, field.name) for field in fields(maze)},
    )


async def expert_walk(task: MazeTask, store: GraphStore) -> ReferenceWalk:
    """Return the expert's walk with the tools. Raise OracleError if its path is wrong."""
    start, goal = str(task.start), str(task.goal)
    toolbox = MazeToolbox(store, task.size, start, strict=task.strict)
    prompt = tools_prompt(task, await store.schema(), AgentConfig())
    played = await drive(agent_named("expert", start, goal, stdlib_random(0, "expert")), toolbox, prompt)
    path = [int(key) for key in extract_path(played.answer).answer or ()]
    if not path or path_error(task.maze, path):
        raise OracleError(
            f"the expert's path through {task.task_id} is wrong\n  target: {task.gold}\n  expert: {played.answer}"
        )
    return played


def tools_prompt(task: MazeTask, schema: Schema, agent: AgentConfig) -> tuple[Message, ...]:
    """Return the system prompt with the schema table (docs/method.md, Schema), and the question."""
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
    """Return the system prompt with the drawn maze, and the question."""
    drawing, ends = draw_with_keys(task.maze, task.layout), {"start": task.start, "goal": task.goal}
    system = agent.render("maze_no_tools.j2", drawing=drawing, size=task.size, clock=agent.clock, **ends)
    return Message("system", system), Message("user", task.question)
