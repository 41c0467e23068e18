"""The scene of an episode: what terminal and page show of it.

Where an episode walked, nodes and relationships appear with the first result that shows them.
"""

import json
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from typing import Any, Literal, TypeVar

from graphwalk.analysis.observed import ObservedGraph
from graphwalk.errors import counted
from graphwalk.graphs.answers import parse_answer_json, parse_object
from graphwalk.graphs.graph import KEY
from graphwalk.graphs.names import name_of
from graphwalk.graphs.values import Row
from graphwalk.models.chat import from_dict
from graphwalk.models.text_calls import find_calls
from graphwalk.models.trajectory import ToolResult, Trajectory, Turn
from graphwalk.runs.record import ResultRecord
from graphwalk.sanitise import one_line
from graphwalk.tools.encodings import decode_notes, read_rows

Fate = Literal["", "asked", "way", "right", "wrong", "missed"]
"""State of an element: "" none; "asked" part of the question; "way" on the path to the answer; "right" answered and
in the target; "wrong" answered only; "missed" in the target only.
"""
_LEGEND: Mapping[Fate, str] = {
    "asked": "in the question",
    "way": "on the path",
    "right": "correct answer",
    "wrong": "wrong answer",
    "missed": "observed but missing from the answer",
    "": "not used",
}
"""Fate → the meaning of its colour in a walk through a graph."""
_OF_THE_ANSWER: Collection[Fate] = ("right", "wrong", "missed")
"""The fates of elements of answer and target."""
MOST_USED = 40
"""Nodes of the evidence that the terminal shows."""
_MOST_COMPARED = 2_000
_LONGEST_PATH = 6
_MOST_STARTS = 60
"""Nodes of an answer from which paths to the question's nodes are searched."""
_LONGEST_ARGUMENTS = 60


@dataclass(frozen=True)
class SceneCall:
    """A tool call with its result.

    `arguments` is parsed if it is JSON, else text. `rows` is the number of rows; None for notes and mistakes. `error`
    is the class of mistake. `thought` is the text next to the call, or the content of a note. `result` is the text of
    the result, `notes` and `table` its notes and rows.
    """

    call: str
    arguments: Any
    rows: int | None
    error: str | None
    seconds: float
    result: str
    thought: str | None = None
    notes: Sequence[str] = ()
    table: Sequence[Row] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return the call as JSON data, without its result."""
        fields = {name: value for name, value in vars(self).items() if name not in ("result", "notes", "table")}
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

    `turn` counts the turns of the model from 1, `call` its tool calls; 0: none. `cell`, `sort`: cell and kind of a step
    in a grid.
    """

    caption: str
    turn: int = 0
    call: int = 0
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
        turns=tuple(_turn_of(turn) for turn in trajectory.turns),
        answer=answer or _plain_comparison(record["answer"], record["task"].get("gold")),
        error=trajectory.error,
        **picture,
    )


def _turn_of(turn: Turn) -> SceneTurn:
    message = turn.message
    calls = []
    for number, result in enumerate(turn.results):
        # The text of the message belongs to the first call.
        text = message.content if number == 0 else None
        calls.append(call_of(result, text))

    # A limit or an interruption leaves calls without results.
    with_result = {result.call.id for result in turn.results}
    for call in message.tool_calls:
        if call.id not in with_result:
            calls.append(SceneCall(call.name, _arguments(call.arguments), None, None, 0.0, ""))
    return SceneTurn(
        thought=message.reasoning,
        text=message.content,
        calls=tuple(calls),
        usage={name: value for name, value in asdict(turn.usage).items() if value},
        seconds=turn.seconds,
        finish=turn.finish_reason,
        forced=turn.forced,
        next=turn.next_user,
    )


def call_of(result: ToolResult, text: str | None = None) -> SceneCall:
    """Return the call of a tool result; `text` is the text of the message with the call."""
    thought = None
    if text:
        # Of "I look for Ida. <tool_call>…</tool_call>", the words before the call.
        thought = find_calls(text, [result.call.name]).before or None
    if thought is None and result.is_note:
        thought = result.content

    rows: list[Row] = []
    if result.error is None and not result.is_note:
        rows = read_rows(result.content) or []
    return SceneCall(
        call=result.call.name,
        arguments=_arguments(result.call.arguments),
        rows=result.rows,
        error=result.error,
        seconds=result.seconds,
        result=result.content,
        thought=thought,
        notes=decode_notes(result.content) if rows else [],
        table=rows,
    )


def _arguments(text: str) -> Any:
    """Return the arguments of a call as JSON, or the text if it is none."""
    arguments = parse_answer_json(text)
    return text if arguments is None else arguments


def _plain_comparison(answer: Any, target: Any) -> StateTable:
    if not isinstance(target, list):
        rows: tuple[tuple[Any, ...], ...] = ()
        if answer is not None or target is not None:
            rows = (("", answer, target),)
        return StateTable(("answer", "target"), rows)

    items = answer
    if not isinstance(answer, list):
        items = [] if answer is None else [answer]
    marked = islice(marked_items(items, target, _text), _MOST_COMPARED)
    return StateTable(("item",), tuple(marked))


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
        own_form = form(item)
        if own_form is None:
            yield "wrong", item
        elif own_form not in forms:
            yield ("right" if own_form in target_forms else "wrong"), item
        forms.add(own_form)
    for item in target:
        if form(item) not in forms:
            yield "missed", item


def walked_scene(
    record: ResultRecord,
    trajectory: Trajectory,
    question_values: Collection[str],
    answered: Mapping[str, Fate],
    answer: StateTable | None = None,
) -> Scene:
    """Return a scene with one step per tool call and one for the answer.

    `question_values` contains keys and values of the question, `answered` those of answer and target.
    """
    seen = ObservedGraph()
    since: dict[str, list[int]] = {"nodes": [], "links": []}
    steps = list(_steps(trajectory, seen, since))
    fates = _fates(seen, question_values, answered)
    used_fates = set(fates.values())
    if steps:
        is_highlighted = not used_fates.isdisjoint(_OF_THE_ANSWER)
        caption = "evidence of the answer" if is_highlighted else "the answer"
        steps.append(SceneStep(caption, len(trajectory.turns)))
    return scene_of(
        record,
        trajectory,
        answer,
        steps=tuple(steps),
        nodes=tuple(_nodes(seen, since["nodes"], fates)),
        links=tuple(_links(seen, since["links"], fates, answered)),
        legend={fate: text for fate, text in _LEGEND.items() if fate in used_fates},
    )


def _steps(trajectory: Trajectory, seen: ObservedGraph, since: Mapping[str, list[int]]) -> Iterator[SceneStep]:
    """Yield a step per call in order, record its result in `seen`, and in `since` the step of each new element."""
    step = 0
    for turn_number, turn in enumerate(trajectory.turns, 1):
        for result in turn.results:
            step += 1
            seen.add(result)
            # Of 3 nodes after step 1 and 5 after step 2, two are new: [1, 1, 1, 2, 2].
            new_nodes = len(seen.nodes) - len(since["nodes"])
            since["nodes"].extend([step] * new_nodes)
            new_links = len(seen.relationships) - len(since["links"])
            since["links"].extend([step] * new_links)
            yield SceneStep(_caption_of(result), turn_number, step)


def _caption_of(result: ToolResult) -> str:
    """Return `get_all_nearest_neighbors(Film, key, f1) → 3 rows`."""
    arguments = [str(value) for value in parse_object(result.call.arguments).values()]
    text = one_line(", ".join(arguments), _LONGEST_ARGUMENTS)
    outcome = result.error
    if not outcome:
        outcome = "a note" if result.rows is None else counted(result.rows, "row")
    return f"{result.call.name}({text}) → {outcome}"


def _fates(seen: ObservedGraph, question_values: Collection[str], answered: Mapping[str, Fate]) -> dict[str, Fate]:
    """Return the role of each node. A value that several nodes share, for example a name, marks all of them."""
    fates: dict[str, Fate] = {}
    for key, node in seen.nodes.items():
        texts = {value for value in node.properties.values() if isinstance(value, str)}
        # The key identifies the node, and decides where a name has another fate.
        values = [key, *sorted(texts)]
        fate = _first_fate(values, answered)
        if not fate and not set(values).isdisjoint(question_values):
            fate = "asked"
        fates[key] = fate

    goals = {key for key, fate in fates.items() if fate == "asked"}
    starts = [key for key, fate in fates.items() if fate in _OF_THE_ANSWER]
    for path in paths_to_nearest(seen, starts[:_MOST_STARTS], goals, _LONGEST_PATH):
        for key in path:
            fates[key] = fates[key] or "way"
    return fates


def _first_fate(values: Iterable[str], answered: Mapping[str, Fate]) -> Fate:
    """Return the fate of the first value that has one, "" if none has."""
    for value in values:
        if value in answered:
            return answered[value]
    return ""


def paths_to_nearest(
    seen: ObservedGraph, starts: Sequence[str], goals: Collection[str], longest: int
) -> Iterator[tuple[str, ...]]:
    """Yield a shortest observed path from each start to its nearest goal, in any direction.

    Starts without a goal within `longest` relationships are skipped.
    """
    import networkx as nx

    graph: nx.Graph[str] = nx.Graph((link.source, link.target) for link in seen.relationships)
    graph.add_nodes_from(starts)
    if not goals:
        return
    for start in starts:
        # From the nearest to the farthest node.
        paths = nx.single_source_shortest_path(graph, start, longest)
        nearest = next((key for key in paths if key in goals), None)
        if nearest is not None:
            yield tuple(paths[nearest])


def _nodes(seen: ObservedGraph, steps: Sequence[int], fates: Mapping[str, Fate]) -> Iterator[SceneNode]:
    names = Counter(name_of(node) for node in seen.nodes.values())
    for (key, node), step in zip(seen.nodes.items(), steps, strict=True):
        name = name_of(node)
        # Two nodes with the name Pia Vik are told apart by their keys.
        if names[name] > 1:
            name = key
        yield SceneNode(name, ":".join(node.labels), {KEY: key, **node.properties}, step, fates[key])


def _links(
    seen: ObservedGraph, steps: Sequence[int], fates: Mapping[str, Fate], answered: Mapping[str, Fate]
) -> Iterator[SceneLink]:
    """Yield the relationships; one is used if both its nodes are, or if the answer has one of its values."""
    positions = {key: position for position, key in enumerate(seen.nodes)}
    for link, step in zip(seen.relationships, steps, strict=True):
        fate = _first_fate([str(value) for value in link.properties.values()], answered)
        if not fate and fates[link.source] and fates[link.target]:
            fate = "way"
        yield SceneLink(positions[link.source], positions[link.target], link.type, link.properties, step, fate)
