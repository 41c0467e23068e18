"""Scripted agents for mazes, and their thoughts for training data."""

import json
import random
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, ClassVar

from graphwalk.encodings import read_rows
from graphwalk.errors import ConfigError
from graphwalk.evaluation.values import parse_json
from graphwalk.models.scripted import NO_ANSWER, AnswerNow, Ask, Policy
from graphwalk.seeds import stdlib_random
from graphwalk.suites.mazes.task import MazeTask
from graphwalk.suites.mazes.toolbox import CONNECTED_PATH, NEXT_CELLS
from graphwalk.suites.suite import ScriptedAgents
from graphwalk.suites.thoughts import Thoughts
from graphwalk.types.chat import ToolCall
from graphwalk.types.episode import ToolResult, Trajectory, Turn
from graphwalk.types.schema import Schema
from graphwalk.types.values import Row

Order = Callable[[Row], Any]
"""Sort key that decides which adjacent cell to try first."""
Visit = Generator[list[Ask], list[str], list[Row]]


def nearest_first(row: Row) -> tuple[float, int]:
    """Sort by straight-line distance to the goal."""
    return row["euclidean_distance"], int(row["key"])


def by_key(row: Row) -> int:
    """Sort by cell number."""
    return int(row["key"])


def depth_first(start: str, goal: str, order: Order) -> Policy:
    """Explore depth-first to the goal, then answer with the path that the tool returns.

    If the goal is unreachable or the turns end, answer with the path to the current cell.
    """
    trail = [start]
    untried: dict[str, list[str]] = {}
    try:
        while trail and goal not in untried:
            here = trail[-1]
            if here not in untried:
                rows = yield from visit(here)
                untried[here] = [str(row["key"]) for row in sorted(rows, key=order)]
            fresh = [key for key in untried[here] if key not in untried]
            untried[here] = fresh[1:]
            if here != goal:
                trail[-1:] = [here, fresh[0]] if fresh else []
        if goal in untried:
            path = yield from connected_path()
            return answer(path or trail)
    except AnswerNow:
        pass
    return answer([key for key in trail if key in untried])


def visit(key: str) -> Visit:
    """Return the adjacent open cells, or an empty list if the call was refused."""
    return (yield from try_cell(key)) or []


def try_cell(key: str) -> Generator[list[Ask], list[str], list[Row] | None]:
    """Return the adjacent open cells, or None if the call was refused."""
    (text,) = yield [Ask(NEXT_CELLS, {"node_id": key})]
    return read_cells(text)


def connected_path() -> Generator[list[Ask], list[str], list[str] | None]:
    """Return the tool's path from the first to the last visited cell, or None."""
    (text,) = yield [Ask(CONNECTED_PATH, {})]
    try:
        path: list[str] = json.loads(text)
    except ValueError:
        return None
    return path


def answer(path: Sequence[str]) -> str:
    return json.dumps({"path": list(path)})


def read_cells(text: str) -> list[Row] | None:
    """Return the rows of a result in any encoding, or None for a message."""
    rows = read_rows(text)
    if rows is None or not all("key" in row for row in rows):
        return None
    return [{**row, "key": str(row["key"])} for row in rows]


MISTAKES = 0.1
"""Share of visits preceded by a malformed call."""
_SWAY = 1.5
"""Largest random addition to a distance, in cells."""


def varied(start: str, goal: str, draw: random.Random) -> Policy:
    """Explore like the expert in a slightly random order, with mistakes that are corrected at once."""

    def nearly_nearest(row: Row) -> float:
        return float(row["euclidean_distance"]) + draw.uniform(0, _SWAY)

    walk = depth_first(start, goal, nearly_nearest)
    asks = next(walk)
    while True:
        assert not isinstance(asks, str)  # explorers call tools until they answer
        (ask,) = asks
        if ask.tool == NEXT_CELLS and not isinstance(ask.arguments, str) and draw.random() < MISTAKES:
            yield [Ask(NEXT_CELLS, {"node_id": f"cell {ask.arguments['node_id']}"})]
        results = yield asks
        try:
            asks = walk.send(results)
        except StopIteration as end:
            answer: str = end.value
            return answer


def random_walk(start: str, goal: str, draw: random.Random) -> Policy:
    """Walk randomly to the goal or the end of the turns, and answer with the path without loops."""
    trail = [start]
    try:
        while True:
            rows = yield from visit(trail[-1])
            if trail[-1] == goal:
                path = yield from connected_path()
                return answer(path or trail)
            if not rows:
                return answer(trail)
            step = str(draw.choice(rows)["key"])
            trail = trail[: trail.index(step) + 1] if step in trail else [*trail, step]
    except AnswerNow:
        return answer(trail)


Flaw = Callable[[str, str, random.Random], Policy]

_FEW_STEPS = 4


def flawed(start: str, goal: str, draw: random.Random) -> Policy:
    """Play a random one of the flaws."""
    return (yield from FLAWS[draw.choice(list(FLAWS))](start, goal, draw))


def jump(start: str, goal: str, draw: random.Random) -> Policy:
    """Visit only start and goal, and answer with them (not_adjacent)."""
    yield from visit(start)
    yield from visit(goal)
    return answer([start, goal])


def early_stop(start: str, goal: str, draw: random.Random) -> Policy:
    """Take a few steps towards the goal and answer with them (wrong_goal)."""
    way = [start]
    for _ in range(_FEW_STEPS):
        rows = yield from visit(way[-1])
        fresh = [row for row in rows if row["key"] not in (*way, goal)]
        if not fresh:
            break
        way.append(str(min(fresh, key=nearest_first)["key"]))
    return answer(way)


def other_start(start: str, goal: str, draw: random.Random) -> Policy:
    """Find the path and omit its first cell (wrong_start)."""
    text = yield from _expert(start, goal)
    return answer(json.loads(text)["path"][1:])


def invented_cell(start: str, goal: str, draw: random.Random) -> Policy:
    """Insert a cell that does not exist (out_of_grid)."""
    text = yield from _expert(start, goal)
    first, *others = json.loads(text)["path"]
    return answer([first, f"x{draw.randint(1, 9)}", *others])


def through_wall(start: str, goal: str, draw: random.Random) -> Policy:
    """Call cells near the start and answer with a refused one (through_wall or out_of_grid)."""
    yield from visit(start)
    here, refused = int(start), "-1"
    for key in (str(here + offset) for offset in range(-here, here + 2)):
        if (yield from try_cell(key)) is None:
            refused = key
            break
    return answer([start, refused, goal])


def wall(start: str, goal: str, draw: random.Random) -> Policy:
    """Call cells with lower numbers, including walls, then continue correctly (correct)."""
    yield from visit(start)
    for offset in range(1, _FEW_STEPS + 1):
        if (key := str(abs(int(start) - offset))) != goal:
            yield from visit(key)
    return (yield from _expert(start, goal))


def bad_id(start: str, goal: str, draw: random.Random) -> Policy:
    """Call the start with malformed keys, then continue correctly (correct)."""
    for node_id in (int(start), f"cell {start}", f"{start}.0", None):
        yield [Ask(NEXT_CELLS, {"node_id": node_id})]
    return (yield from _expert(start, goal))


def detour(start: str, goal: str, draw: random.Random) -> Policy:
    """Find the path and repeat its first step (correct, not optimal)."""
    text = yield from _expert(start, goal)
    path = json.loads(text)["path"]
    return answer([*path[:2], *path])


def prose(start: str, goal: str, draw: random.Random) -> Policy:
    """Wrap the answer in prose (correct)."""
    text = yield from _expert(start, goal)
    return f"I walked from {start} until I stood at {goal}. This is the way:\n\n{text}\n\nThank you for the maze!"


def empty(start: str, goal: str, draw: random.Random) -> Policy:
    """Explore and reply with an empty text (no_answer)."""
    yield from _expert(start, goal)
    return ""


def _expert(start: str, goal: str) -> Policy:
    return depth_first(start, goal, nearest_first)


FLAWS: dict[str, Flaw] = {
    f.__name__: f
    for f in (jump, early_stop, other_start, invented_cell, through_wall, wall, bad_id, detour, prose, empty)
}
SPOILING = frozenset({"jump", "early_stop", "other_start", "invented_cell", "through_wall", "empty"})


MakePolicy = Callable[[str, str, random.Random], Policy]
"""(key of the start, key of the goal, random) → a scripted agent for one episode."""


def always_empty() -> Policy:
    """Answer with nothing at once."""
    yield from ()
    return NO_ANSWER


AGENTS: dict[str, MakePolicy] = {
    "expert": lambda start, goal, draw: depth_first(start, goal, nearest_first),
    "depth_first": lambda start, goal, draw: depth_first(start, goal, by_key),
    "varied": varied,
    "random": random_walk,
    "flawed": flawed,
    "empty": lambda start, goal, draw: always_empty(),
    **{f"flawed:{name}": flaw for name, flaw in FLAWS.items()},
}


def agent_named(name: str, start: str, goal: str, draw: random.Random) -> Policy:
    """Return the scripted agent of this name for one episode. Raise ConfigError for an unknown name."""
    if name not in AGENTS:
        raise ConfigError(f"unknown scripted agent {name!r}", hint=f"known agents: {', '.join(AGENTS)}")
    return AGENTS[name](start, goal, draw)


def walk_in_words(trajectory: Trajectory, draw: random.Random) -> list[str]:
    """Return a thought before every turn, based on earlier calls and results."""
    thoughts, seen = Thoughts("mazes", draw), _Seen()
    texts = []
    for number, turn in enumerate(trajectory.turns):
        before = trajectory.turns[number - 1].results if number else ()
        for result in before:
            seen.learn(result)
        texts.append(_thought(thoughts, seen, turn, before[-1] if before else None))
    return texts


class _Seen:
    """Cells observed so far."""

    def __init__(self) -> None:
        self.neighbours: dict[str, dict[str, float]] = {}
        """Visited cell → adjacent open cells with their distances to the goal."""
        self.here = ""

    def learn(self, result: ToolResult) -> None:
        cell = _cell(result.call)
        if cell is not None and result.error is None:
            rows = read_rows(result.content) or []
            self.neighbours[cell] = {str(row["key"]): float(row["euclidean_distance"]) for row in rows}
            self.here = cell

    def fresh(self) -> Mapping[str, float]:
        """Return the unvisited neighbours of the current cell with their distances."""
        around = self.neighbours.get(self.here, {})
        return {key: distance for key, distance in around.items() if key not in self.neighbours}


def _thought(thoughts: Thoughts, seen: _Seen, turn: Turn, last: ToolResult | None) -> str:
    if not turn.message.tool_calls:
        return thoughts.say("answer")
    cell = _cell(turn.message.tool_calls[0])
    if cell is None:
        return thoughts.say("join", visited=len(seen.neighbours)) if seen.neighbours else ""
    if last is not None and last.error is not None:
        return thoughts.say("refused", error=last.error.replace("_", " "), next=cell)
    return thoughts.say(_move(seen, cell), here=seen.here, next=cell, fresh=list(seen.fresh()))


def _move(seen: _Seen, cell: str) -> str:
    fresh = seen.fresh()
    if not seen.neighbours:
        return "start"
    if cell not in fresh:
        return "back" if not fresh else "onward"
    if len(fresh) == 1:
        return "only"
    return "nearest" if fresh[cell] == min(fresh.values()) else "onward"


def _cell(call: ToolCall) -> str | None:
    """Return the cell in the arguments of a call, or None for other calls."""
    arguments: Any = parse_json(call.arguments) if call.name == NEXT_CELLS else None
    return str(arguments["node_id"]) if isinstance(arguments, dict) and "node_id" in arguments else None


class MazeAgents(ScriptedAgents[MazeTask]):
    names: ClassVar[tuple[str, ...]] = tuple(AGENTS)
    default_names: ClassVar[tuple[str, ...]] = ("expert", "depth_first", "random", "flawed")

    def can_play(self, name: str, setting: str, task: MazeTask | None = None) -> bool:
        """Return False without tools, through which agents see a maze; `empty` needs none."""
        return setting == "tools" or name == "empty"

    def policy(self, name: str, task: MazeTask, setting: str, schema: Schema | None, seed: int) -> Policy:
        return agent_named(name, str(task.start), str(task.goal), stdlib_random(seed, "policy", task.task_id))

    def thoughts(self, task: MazeTask, setting: str, trajectory: Trajectory, seed: int) -> Sequence[str]:
        return walk_in_words(trajectory, stdlib_random(seed, "thoughts", task.task_id))
