"""What an episode looks like when it is played step by step: plain data, which the page of a run draws.

A scene has a graph or a grid (or neither), steps that a slider walks through, and the answer beside the target. Places
of nodes are worked out where they are drawn.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Fate = Literal["", "asked", "way", "right", "wrong", "missed", "given"]
"""What became of a thing: "" nothing was made of it; "asked" the question is about it; "way" it joins these to the
answer; "right" answered and in the target; "wrong" answered only; "missed" in the target only; "given" told before."""


@dataclass(frozen=True, slots=True)
class SceneNode:
    """`since`: the step (from 1) that shows it first, 0 for what is there from the start. `about`: its properties."""

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
    """One place of the slider.

    `turn` counts the turns of the model from 1, `call` its tool calls; 0: none. `focus`: nodes that the step looks at,
    `shown`: nodes that it brought. `nodes`, `links`: what becomes of them here; `labels`: what is written at nodes.
    `cell`, `sort`: what a step in a grid does.
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
    """A square of `size` × `size` cells, numbered row by row; `path` is the answer, -1 for what is no cell."""

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
    """Fate or sort → what it means here."""
