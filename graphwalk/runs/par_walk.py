"""The expert's episodes played for real and written down call by call: what a model that walks as straight would read.

Nothing is sent: the agent's loop runs as in any episode, with the tools, limits and compaction of the experiment, and
a program in the place of the model.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from graphwalk.agent import Episode, run_episode
from graphwalk.errors import ModelError, StoreError
from graphwalk.models.base import Model
from graphwalk.models.scripted import ScriptedModel
from graphwalk.models.text_protocol import TextProtocol
from graphwalk.models.tokens import count_messages, count_tokens, message_text, tools_text
from graphwalk.runs.experiment import Experiment, can_play
from graphwalk.runs.plan import PlannedEpisode
from graphwalk.seeds import seed_for
from graphwalk.types.chat import CallOptions, Message, Reply, ToolSpec
from graphwalk.types.episode import ExitStatus, Task

EXPERTS = ("expert", "cypher")
"""Scripted agents that go straight to the answer, each in settings of its own."""
_REMEMBERED = 1024
"""Messages; prompts are the largest, and those of one graph follow each other."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a model: what was sent, and what came back."""

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]
    reply: Message


@dataclass(frozen=True, slots=True)
class CallTokens:
    """Tokens of one call. `repeated` is the beginning that it shares with the call before, which providers may hold
    ready (prompt caching); `new` is the rest of the input.
    """

    new: int
    repeated: int
    output: int


@dataclass(frozen=True)
class ParWalk:
    """An episode at par. `assumed`: no expert plays this, and replies with the target alone stand in for one."""

    calls: tuple[Call, ...]
    tool_calls: int
    assumed: bool

    @cached_property
    def characters(self) -> int:
        """All that is sent, over all calls: contents, calls and tool specifications."""
        return sum(
            len(tools_text(call.tools)) + sum(len(message_text(message)) for message in call.messages)
            for call in self.calls
        )

    def tokens(self, size: Callable[[Message | str], int]) -> list[CallTokens]:
        """Tokens of each call; `size` counts a message, or the text of the tool specifications."""
        counted: list[CallTokens] = []
        before: Sequence[Message] = ()
        for call in self.calls:
            sizes = [size(message) for message in call.messages]
            specs = size(tools_text(call.tools))
            repeated = sum(sizes[: _shared(before, call.messages)]) + (specs if before else 0)
            counted.append(CallTokens(sum(sizes) + specs - repeated, repeated, size(call.reply)))
            before = call.messages
        return counted


def sizes_for(model: str | None) -> Callable[[Message | str], int]:
    """Counts as `count_tokens` does for a model, and what many episodes share only once."""

    @lru_cache(maxsize=_REMEMBERED)
    def size(part: Message | str) -> int:
        return count_tokens(part, model)[0] if isinstance(part, str) else count_messages((part,), model)

    return size


class ParWalks:
    """Plays the episodes of an experiment at par, each task and setting once; by the first expert that can."""

    def __init__(self, experiment: Experiment, experts: Sequence[str] = EXPERTS) -> None:
        self._experiment, self._experts = experiment, experts
        protocol = experiment.agent.tool_protocol
        self._text = None if protocol == "native" else TextProtocol(protocol, experiment.agent.texts)
        self._walks: dict[tuple[str, str], ParWalk] = {}

    async def of(self, planned: PlannedEpisode) -> ParWalk:
        """The walk of an episode, whoever its model is. StoreError where the graph or a tool fails."""
        key = planned.key.task_id, planned.key.setting
        if key not in self._walks:
            self._walks[key] = await self._play(planned)
        return self._walks[key]

    async def _play(self, planned: PlannedEpisode) -> ParWalk:
        experiment = self._experiment
        setting, task = planned.key.setting, planned.task
        suite = experiment.suite
        able = (e for e in self._experts if e in suite.agents.names and can_play(suite, f"scripted/{e}", setting, task))
        expert = next(able, None)
        limit = experiment.agent.turn_limit or experiment.suite.turn_limit
        player = await self._expert(expert, planned) if expert else _Target(task, limit)
        listener = _Listener(player, self._text)
        walk = Episode(await planned.setup(experiment), listener, experiment.agent, experiment.options)
        try:
            trajectory = await run_episode(walk)
        finally:
            await player.close()
        if trajectory.exit_status is ExitStatus.STORE_ERROR:
            raise StoreError(f"the expert cannot walk {task.task_id}: {trajectory.error}")
        return ParWalk(tuple(listener.calls), len(trajectory.results), assumed=expert is None)

    async def _expert(self, name: str, planned: PlannedEpisode) -> Model:
        store, suite = planned.graph.store, self._experiment.suite
        schema = None if store is None else await store.schema()
        seed = seed_for(self._experiment.config.seed, "player", planned.key.text)
        return ScriptedModel(
            f"scripted/{name}", suite.agents.policy(name, planned.task, planned.key.setting, schema, seed)
        )


class _Listener:
    """Writes down what a model is sent, in the form in which it is sent, and what it says."""

    def __init__(self, inner: Model, text: TextProtocol | None) -> None:
        self.name = inner.name
        self.calls: list[Call] = []
        self._inner, self._text = inner, text

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        reply = await self._inner.complete(messages, tools, options)
        sent, specs = messages, tools
        if self._text is not None:
            sent, specs, _ = self._text.outgoing(messages, tools, options)
        self.calls.append(Call(tuple(sent), tuple(specs), reply.message))
        return reply

    async def close(self) -> None: ...


class _Target:
    """Answers every request with the target and nothing else, for at most so many turns."""

    def __init__(self, task: Task, turns: int) -> None:
        self.name = "target"
        self._answer = json.dumps(task.gold, ensure_ascii=False, default=str)
        self._left = turns

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        if self._left == 0:
            raise ModelError("the dialogue is longer than the turn limit")
        self._left -= 1
        return Reply(Message("assistant", self._answer))

    async def close(self) -> None: ...


def _shared(before: Sequence[Message], now: Sequence[Message]) -> int:
    """How many messages both begin with."""
    pairs = zip(before, now, strict=False)
    return next((number for number, (one, other) in enumerate(pairs) if one != other), min(len(before), len(now)))
