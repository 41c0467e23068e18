"""Scenes: an episode shown step by step.

A scene is a graph or a grid (or neither), the steps of a slider, and the answer with the target.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Fate = Literal["", "asked", "way", "right", "wrong", "missed", "given"]
"""State of an element: "" none; "asked" part of the question; "way" on the path to the answer; "right" answered and
in the target; "wrong" answered only; "missed" in the target only; "given" known before.
"""


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
    new nodes. `nodes`, `links`: states that change. `labels`: captions of nodes. `cell`, `sort`: cell and kind of a
    step in a grid.
    """

    caption: str
    turn: int = 0
    call: int = 0
    focus: tuple[int, ...] = ()
    shown: tuple[int, ...] = ()
    nodes: Mapping[int, Fate] = field(default_factory=dict)
    links: Mapping[int, Fate] = field(default_factory=dict)
    labels: Mapping[int, str] = field(default_factory=dict)
    table: StateTable | None = None
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
    """`comparison`: the answer beside the target; None: the page compares them as they are logged."""

    steps: tuple[SceneStep, ...] = ()
    nodes: tuple[SceneNode, ...] = ()
    links: tuple[SceneLink, ...] = ()
    layout: Literal["force", "circle"] = "force"
    grid: SceneGrid | None = None
    comparison: StateTable | None = None
    legend: Mapping[str, str] = field(default_factory=dict)
    """Explanation of each state or kind."""
