"""The seam to a kind of experiment: a suite makes tasks and scores trajectories; it knows no model."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from graphwalk.config.experiment import AgentConfig, ExperimentConfig
from graphwalk.models.policy import Policy
from graphwalk.stores.store import GraphStore
from graphwalk.toolbox.toolbox import Toolbox
from graphwalk.types.chat import Message
from graphwalk.types.episode import Score, Task, Trajectory, Turn
from graphwalk.types.graph import PropertyGraph
from graphwalk.types.schema import Schema

T = TypeVar("T", bound=Task)


@dataclass(frozen=True)
class World:
    """What tasks are about: a graph to be loaded (None for suites that need no store) and what it was made from."""

    digest: str
    graph: PropertyGraph | None
    source: Any = None
    """The suite's own object: a Maze, an algorithm trace, …"""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What the run records about it: nodes, relationships, size, seed, preset, …"""


def no_next_turn(turns: Sequence[Turn]) -> str | None:
    """Most dialogues end with the first reply that calls no tool."""
    return None


@dataclass(frozen=True)
class Episode:
    """What the agent needs to start: the conversation so far, the tools of this episode, and how it goes on.

    `next_user` is asked after every reply without tool calls; None ends the dialogue.
    """

    prompt: tuple[Message, ...]
    toolbox: Toolbox | None = None
    next_user: Callable[[Sequence[Turn]], str | None] = no_next_turn


@dataclass(frozen=True, slots=True)
class Extraction:
    """An answer read from a reply. `stage` names how ("strict", "fenced", …); `answer` is None where it failed."""

    answer: Any = None
    stage: str | None = None


class Suite(Protocol, Generic[T]):
    """All of it is deterministic: tasks, prompts and scores depend on their arguments alone."""

    name: ClassVar[str]
    settings: ClassVar[tuple[str, ...]]
    """Ways of asking: "tools" and "no_tools", or the strategies of MAGMA."""
    task_type: ClassVar[type[Task]]
    score_type: ClassVar[type[Score]]
    policies: ClassVar[tuple[str, ...]]
    """Names of the scripted models: `scripted/expert`, …"""

    default_models: ClassVar[tuple[str, ...]]
    """What runs when the user names no model."""

    def worlds(self, config: ExperimentConfig) -> Iterator[World]:
        """The graphs, mazes or traces of an experiment, in order."""
        ...

    async def tasks(self, world: World, store: GraphStore | None, config: ExperimentConfig) -> list[T]:
        """The tasks about one world, each with its proven target. OracleError where two oracles differ."""
        ...

    def applies(self, task: T, setting: str) -> bool:
        """False where a way of asking has no use for a task."""
        ...

    def can_play(self, policy: str, setting: str) -> bool:
        """False where a scripted model could not even try, so that it is left out of the plan."""
        ...

    async def episode(
        self, task: T, setting: str, world: World, store: GraphStore | None, agent: AgentConfig
    ) -> Episode:
        """A fresh episode: prompt and tools."""
        ...

    def extract(self, task: T, reply: str) -> Extraction:
        """Read an answer, without a model (stage 1)."""
        ...

    def answer_format(self, task: T) -> str:
        """The answer format in words, for the extractor model (stage 2)."""
        ...

    def score(self, task: T, setting: str, trajectory: Trajectory, extraction: Extraction) -> Score:
        """Compare an answer with the target. Called only where the episode did not fail for reasons of its own."""
        ...

    def policy(self, name: str, task: T, setting: str, schema: Schema | None, seed: int) -> Policy:
        """A scripted player for one episode; `seed` differs between tasks and repeats."""
        ...
