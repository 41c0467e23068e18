"""The scene of an episode: what terminal and page show of it."""

import json
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from typing import Any, Literal, TypeVar

from graphwalk.analysis.report.suite_report import ResultRecord
from graphwalk.graphs.answers import parse_json
from graphwalk.graphs.values import Row
from graphwalk.models.chat import from_dict
from graphwalk.models.text_calls import find_calls
from graphwalk.models.trajectory import ToolResult, Trajectory, Turn
from graphwalk.tools.encodings import read_rows

Fate = Literal["", "asked", "way", "right", "wrong", "missed"]
"""State of an element: "" none; "asked" part of the question; "way" on the path to the answer; "right" answered and
in the target; "wrong" answered only; "missed" in the target only.
"""
MOST_USED = 40
"""Nodes of the evidence that the terminal shows."""
_MOST_COMPARED = 2_000


@dataclass(frozen=True)
class SceneCall:
    """A tool call with its result.

    `arguments` is parsed if it is JSON, else text. `rows` is the number of rows; None for notes and mistakes. `error`
    is the class of mistake. `thought` is the text next to the call, or the content of a note. `table` has the rows.
    """

    call: str
    arguments: Any
    rows: int | None
    error: str | None
    seconds: float
    result: str
    thought: str | None = None
    table: Sequence[Row] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return the call as JSON data, without its result."""
        fields = {name: value for name, value in vars(self).items() if name not in ("result", "table")}
        return fields | {"seconds": round(self.seconds, 6)}


@dataclass(frozen=True)
class SceneTurn:
    """A reply of the model. `thought`: its reasoning. `next`: the user message after it."""

    thought: str | None
    text: str | None
    calls: tuple[SceneCall, ...]
    usage: Mapping[str, Any]
    seconds: float
    finish: str
    forced: bool
    next: str | None


@dataclass(frozen=True, slots=True)
class SceneNode:
    """A node. `since`: the step (from 1) that shows it first, 0 from the start. `about`: its properties."""

    name: str
    kind: str = ""
    about: Mapping[str, Any] = field(default_factory=dict)
    since: int = 0
    fate: Fate = ""


@dataclass(frozen=True, slots=True)
class SceneLink:
    """`source` and `target` are places in the list of nodes."""

    source: int
    target: int
    name: str = ""
    about: Mapping[str, Any] = field(default_factory=dict)
    since: int = 0
    fate: Fate = ""
    directed: bool = True


@dataclass(frozen=True)
class StateTable:
    """Rows of cells, the first of each row a `Fate`."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    note: str = ""


@dataclass(frozen=True)
class SceneStep:
    """One position of the slider.

    `turn` counts the turns of the model from 1, `call` its tool calls; 0: none. `focus`: nodes of the call. `shown`:
    new nodes. `cell`, `sort`: cell and kind of a step in a grid.
    """

    caption: str
    turn: int = 0
    call: int = 0
    focus: tuple[int, ...] = ()
    shown: tuple[int, ...] = ()
    cell: int | None = None
    sort: str = ""


@dataclass(frozen=True)
class SceneGrid:
    """A square of `size` × `size` cells, numbered row by row. `path` is the answer; -1 is no cell."""

    size: int
    walls: tuple[int, ...]
    start: int
    goal: int
    path: tuple[int, ...] = ()


@dataclass(frozen=True)
class Scene:
    """An episode: what was said and called, turn by turn, and its picture, step by step.

    `answer` compares the answer with the target. The picture is a graph or a grid, or neither. `legend` explains each
    state or kind.
    """

    prompt: tuple[tuple[str, str], ...]
    """Role and text of each message."""
    turns: tuple[SceneTurn, ...]
    answer: StateTable
    error: str | None = None
    steps: tuple[SceneStep, ...] = ()
    nodes: tuple[SceneNode, ...] = ()
    links: tuple[SceneLink, ...] = ()
    layout: Literal["force", "circle"] = "force"
    grid: SceneGrid | None = None
    legend: Mapping[str, str] = field(default_factory=dict)

    @property
    def calls(self) -> list[SceneCall]:
        """Return all calls in order."""
        return [call for turn in self.turns for call in turn.calls]

    def evidence(self) -> tuple[dict[int, SceneNode], list[SceneLink], int]:
        """Return the first nodes of question, answer and the path between them by place, their links, and how many
        such nodes are left out.
        """
        used = {place: node for place, node in enumerate(self.nodes) if node.fate}
        nodes = dict(islice(used.items(), MOST_USED))
        links = [link for link in self.links if link.source in nodes and link.target in nodes]
        return nodes, links, len(used) - len(nodes)


def trajectory_of(record: ResultRecord) -> Trajectory:
    return from_dict(Trajectory, record["trajectory"])


def scene_of(
    record: ResultRecord, trajectory: Trajectory | None = None, answer: StateTable | None = None, **picture: Any
) -> Scene:
    """Return the scene of a logged episode. `picture`: the fields of its picture.

    `answer`: by default answer and target are compared item by item if both are lists, else as they are.
    """
    trajectory = trajectory or trajectory_of(record)
    return Scene(
        prompt=tuple((message.role, message.content or "") for message in trajectory.prompt),
        turns=tuple(map(_turn_of, trajectory.turns)),
        answer=answer or _plain_comparison(record["answer"], record["task"].get("gold")),
        error=trajectory.error,
        **picture,
    )


def _turn_of(turn: Turn) -> SceneTurn:
    message = turn.message
    return SceneTurn(
        thought=message.reasoning,
        text=message.content,
        calls=tuple(_calls(turn)),
        usage={name: value for name, value in asdict(turn.usage).items() if value},
        seconds=turn.seconds,
        finish=turn.finish_reason,
        forced=turn.forced,
        next=turn.next_user,
    )


def _calls(turn: Turn) -> Iterator[SceneCall]:
    """Yield the calls with their results, then those without one. The text of the message belongs to the first call."""
    for number, result in enumerate(turn.results):
        yield call_of(result, turn.message.content if number == 0 else None)
    with_result = {result.call.id for result in turn.results}
    for call in turn.message.tool_calls:
        if call.id not in with_result:
            yield SceneCall(call.name, _arguments(call.arguments), None, None, 0.0, "")


def call_of(result: ToolResult, text: str | None = None) -> SceneCall:
    """Return the call of a tool result; `text` is the text of the message with the call."""
    arguments = _arguments(result.call.arguments)
    beside = find_calls(text, [result.call.name]).rest.strip() if text else ""
    thought = beside or (result.content if result.is_note else None)
    rows = [] if result.error is not None or result.is_note else read_rows(result.content) or []
    return SceneCall(
        result.call.name, arguments, result.rows, result.error, result.seconds, result.content, thought, rows
    )


def _arguments(text: str) -> Any:
    """Return the arguments of a call as JSON, or the text if it is none."""
    arguments = parse_json(text)
    return text if arguments is None else arguments


def _plain_comparison(answer: Any, target: Any) -> StateTable:
    if not isinstance(target, list):
        return StateTable(("answer", "target"), (("", answer, target),) if (answer, target) != (None, None) else ())
    items = answer if isinstance(answer, list) else [] if answer is None else [answer]
    return StateTable(("item",), tuple(islice(marked_items(items, target, _text), _MOST_COMPARED)))


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)


T = TypeVar("T")


def marked_items(
    items: Iterable[T], target: Iterable[T], form: Callable[[T], Hashable | None]
) -> Iterator[tuple[Fate, T]]:
    """Yield the distinct items of an answer, then the missing ones of the target. Without a form an item is wrong."""
    target_forms = {form(item) for item in target}
    forms = set()
    for item in items:
        own = form(item)
        if own is None or own not in forms:
            yield ("wrong" if own is None or own not in target_forms else "right"), item
        forms.add(own)
    yield from (("missed", item) for item in target if form(item) not in forms)
