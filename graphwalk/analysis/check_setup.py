"""Check a setup (`--check-setup`): the scripted expert plays every task like a model, within the limits of the run."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

from graphwalk.agent import CUT_OFF, Episode, run_episode
from graphwalk.analysis.estimate import expert_of
from graphwalk.errors import ModelError, StoreError
from graphwalk.models.base import Model
from graphwalk.models.protocols import protocol_of
from graphwalk.models.text_protocol import TextProtocol
from graphwalk.models.tokens import count_messages, count_tokens, tools_text
from graphwalk.models.wrappers import Wrapper
from graphwalk.runs.episodes.episode import judge
from graphwalk.runs.episodes.graph_sources import GraphSources
from graphwalk.runs.episodes.plan import PlannedEpisode, make_plan
from graphwalk.runs.episodes.resolve import Experiment
from graphwalk.stores.registry import queries_in_place
from graphwalk.types.chat import CallOptions, Message, Reply, ToolSpec
from graphwalk.types.episode import ExitStatus


class _Bounded(Wrapper):
    """A model with a context window and a limit of its replies, in tokens by our rule."""

    def __init__(self, inner: Model, protocol: TextProtocol | None, window: int | None) -> None:
        super().__init__(inner)
        self._protocol, self._window = protocol, window

    async def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: CallOptions) -> Reply:
        """Raise ModelError for an overflow of the window, by the request alone or with the reply."""
        reply = await self.inner.complete(messages, tools, options)
        if self._protocol is not None:
            messages, tools, _ = self._protocol.outgoing(messages, tools, options)
        written = count_messages([reply.message])
        sent = count_messages(messages) + count_tokens(tools_text(tools))
        if self._window is not None and sent + written > self._window:
            raise ModelError(f"{sent + written} tokens exceed the context window", context_overflow=True)
        if options.max_output_tokens is not None and written > options.max_output_tokens:
            text = (reply.message.content or "")[: options.max_output_tokens]
            return replace(reply, message=replace(reply.message, content=text), finish_reason=CUT_OFF[0])
        return reply


async def check_setup(
    experiment: Experiment, done: Callable[[], object] = lambda: None
) -> dict[str, tuple[int, int] | None]:
    """Return for each setting how many tasks the expert solves, and of how many; None if it cannot play them.

    `done` is called after each episode. Nothing is loaded into a server. Raise StoreError if a tool fails.
    """
    variables = experiment.variables if queries_in_place(experiment.config.store) else None
    async with GraphSources(variables=variables) as sources:
        plan = await make_plan(experiment, sources, lambda tasks: None)
        episodes = {(planned.key.setting, planned.key.task_id): planned for planned in plan.episodes}
        solved: dict[str, list[bool | None]] = {}
        for (setting, _), planned in episodes.items():
            solved.setdefault(setting, []).append(await _solved(planned, experiment))
            done()
            await asyncio.sleep(0)
    return {
        setting: None if None in shares else (sum(map(bool, shares)), len(shares)) for setting, shares in solved.items()
    }


async def _solved(planned: PlannedEpisode, experiment: Experiment) -> bool | None:
    """Return whether the expert's episode is correct; None without an expert."""
    expert = expert_of(planned, experiment)
    if expert is None:
        return None
    experiment = experiment.of(planned.key.setting)
    agent, limits = experiment.agent, experiment.config.limits
    model = await planned.scripted(expert, experiment)
    bounded = _Bounded(model, protocol_of(agent), limits.context_tokens)
    prompt = await planned.prompt(experiment)
    trajectory = await run_episode(Episode(prompt, bounded, agent, experiment.options, tokens=limits.episode_tokens))
    if trajectory.exit_status is ExitStatus.STORE_ERROR:
        raise StoreError(f"the expert cannot play {planned.task.task_id}: {trajectory.error}")
    _, score = judge(planned.task, planned.key.setting, trajectory, None, experiment.config.scoring)
    return bool(score and score["correct"])
